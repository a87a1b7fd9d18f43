"""What a script says about itself (PEP 723)."""

import pytest

from bot.sandbox.port import CanNotRun
from bot.sandbox.script import dependencies, name_of


def script(*lines: str, kind: str = "script") -> str:
    return "\n".join((f"# /// {kind}", *(f"# {line}".rstrip() for line in lines), "# ///", "print(1)"))


def test_a_script_without_metadata_asks_for_nothing() -> None:
    assert dependencies("import rich\n# dependencies = ['rich']\n") == ()
    assert dependencies(script('dependencies = ["rich"]', kind="other")) == ()
    assert dependencies(script('requires-python = ">=3.11"')) == ()


def test_it_asks_for_libraries_by_name_and_version() -> None:
    code = script("dependencies = [", '  "rich >=13, <15",', '  "uvicorn[standard]==0.30.*",', '  "Pillow",', "]")

    assert dependencies(code) == ("rich >=13, <15", "uvicorn[standard]==0.30.*", "Pillow")
    assert [name_of(each) for each in dependencies(code)] == ["rich", "uvicorn", "pillow"]


@pytest.mark.parametrize(
    "wanted",
    [
        "rich @ https://evil.example/rich.whl",
        "git+https://evil.example/rich",
        "--index-url=https://evil.example",
        "-r /etc/passwd",
        "./rich",
        "/tmp/rich",
        "rich; python_version > '3'",
        "rich --hash=sha256:0",
        "rich\n--index-url x",
        "",
    ],
)
def test_no_address_no_path_and_no_option_goes_to_an_installer(wanted: str) -> None:
    with pytest.raises(CanNotRun, match=r"can not be asked for|no TOML"):
        dependencies(script(f"dependencies = [{wanted!r}]".replace("\\n", "\\n")))


@pytest.mark.parametrize(
    "code",
    [
        script("dependencies = ["),
        script("dependencies = 'rich'"),
        script(f"dependencies = {['a'] * 21}"),
        script("dependencies = [1]"),
        script("dependencies = []") + "\n" + script("dependencies = []"),
    ],
)
def test_metadata_that_is_none_is_refused_with_a_sentence(code: str) -> None:
    with pytest.raises(CanNotRun):
        dependencies(code)
