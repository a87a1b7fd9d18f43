"""What is in the packages, and what is not."""

import struct
from pathlib import Path

import pytest

from scripts.build import FUNCTIONS, MACHINES, build, own_files
from tests.packages.conftest import Packages
from tests.packages.libraries import this_target

pytestmark = pytest.mark.packages

ELF_MACHINES = {"x86_64": 0x3E, "arm64": 0xB7}
"""e_machine in an ELF header (EM_X86_64, EM_AARCH64)."""

UNCHECKED_HASH = 0b01
"""The flags word of a .pyc that is used without a look at its source (PEP 552)."""

every_package = pytest.mark.parametrize(("function", "arch"), [(f, arch) for f in FUNCTIONS for arch in MACHINES])


def files(folder: Path, pattern: str) -> list[Path]:
    return sorted(path for path in folder.rglob(pattern) if path.is_file())


def relative_bytes(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in files(folder, "*")}


@pytest.mark.parametrize("arch", MACHINES)
def test_the_webhook_carries_no_library_that_only_a_turn_needs(packages: Packages, arch: str) -> None:
    inside = {path.name for path in packages("webhook", arch).path.iterdir()}

    assert inside.isdisjoint({"anthropic", "telegram", "aiohttp", "pydantic", "httpx", "httpx2", "mcp", "a2a"})
    assert {"bot", "handlers", "boto3", "starlette", "mangum"} <= inside


@pytest.mark.parametrize("arch", MACHINES)
def test_the_sandbox_carries_nothing_that_speaks_to_anybody(packages: Packages, arch: str) -> None:
    package = packages("sandbox", arch).path

    assert {path.name for path in package.iterdir()}.isdisjoint(
        {"boto3", "botocore", "anthropic", "telegram", "slack_sdk"}
    )
    assert {path.relative_to(package).parts[1] for path in files(package / "bot", "*.py")} == {"__init__.py", "sandbox"}
    assert {path.name for path in files(package / "handlers", "*.py")} == {"__init__.py", "loop.py", "sandbox.py"}


@every_package
def test_a_package_holds_its_own_modules_and_no_other_of_ours(packages: Packages, function: str, arch: str) -> None:
    package = packages(function, arch).path

    ours = [path.relative_to(package) for top in ("bot", "handlers") for path in files(package / top, "*.py")]
    other = "handlers/worker.py" if function == "webhook" else "handlers/webhook.py"
    assert f"handlers/{function}.py" in map(str, ours)
    assert other not in map(str, ours)
    assert [path for path in own_files(function) if "cli" in path.parts or "simulator" in path.parts] == []
    assert [name for name in ("simulator", "tests", "scripts") if (package / name).exists()] == []


@every_package
def test_every_compiled_library_is_for_the_function_s_processor(packages: Packages, function: str, arch: str) -> None:
    libraries = files(packages(function, arch).path, "*.so")

    machines = {path.name: struct.unpack_from("<H", path.read_bytes(), 18)[0] for path in libraries}
    assert set(machines.values()) == {ELF_MACHINES[arch]}, machines


@every_package
def test_every_module_is_compiled_so_that_lambda_takes_it_unseen(packages: Packages, function: str, arch: str) -> None:
    package = packages(function, arch).path

    compiled = files(package, "*.pyc")
    flags = {path.name: struct.unpack_from("<I", path.read_bytes(), 4)[0] for path in compiled}
    sources = {path.relative_to(package) for path in files(package, "*.py")}
    sources = {path for path in sources if path.parts[0] != "agent"}  # a skill's scripts are files to be sent
    covered = {path.relative_to(package).parent.parent / f"{path.name.partition('.')[0]}.py" for path in compiled}
    assert sources - covered == set()
    assert set(flags.values()) == {UNCHECKED_HASH}


@pytest.mark.parametrize(
    ("function", "most"),
    [
        ("webhook", 25_000_000),
        ("worker", 155_000_000),
        ("deadletter", 155_000_000),
        ("sandbox", 190_000_000),
        ("a2a", 80_000_000),
        ("registrar", 25_000_000),
    ],
)
@pytest.mark.parametrize("arch", MACHINES)
def test_a_package_stays_small(packages: Packages, function: str, arch: str, most: int) -> None:
    """Lambda's own limit is 262,144,000 bytes; long before it, unpacking and loading show in the start."""
    assert 0 < packages(function, arch).bytes < most


@every_package
def test_every_library_s_version_and_licence_travel_with_it(packages: Packages, function: str, arch: str) -> None:
    notes = files(packages(function, arch).path, "*.dist-info/*")

    versions = {path.parent.name for path in notes if path.name == "METADATA"}
    some = {"sandbox": {"numpy", "pandas", "matplotlib"}, "a2a": {"boto3", "a2a_sdk", "starlette"}}
    assert {name.partition("-")[0] for name in versions} >= {"msgspec", *some.get(function, {"boto3", "slack_sdk"})}
    assert len({path.parent for path in notes}) == len(versions)


def test_the_same_source_makes_the_same_bytes(packages: Packages, tmp_path: Path) -> None:
    target = this_target()

    again = build("webhook", target, tmp_path / "again").path

    first = packages("webhook", target.arch).path
    assert relative_bytes(again) == relative_bytes(first)
    assert {path.stat().st_mtime for path in (again, *again.rglob("*"))} == {315_532_800}


def test_a_folder_with_something_in_it_is_never_built_over(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep")

    with pytest.raises(FileExistsError, match="not empty"):
        build("webhook", this_target(), tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
