"""Answers as models write them, from one word to sixty thousand characters: every construct, on both platforms.

The short ones are the files here; the long ones are made, so that nobody has to scroll past them.
"""

from pathlib import Path


def answers() -> dict[str, str]:
    """All of them by name, in order."""
    files = {file.stem: file.read_text().removesuffix("\n") for file in sorted(Path(__file__).parent.glob("*.md"))}
    return {**files, **_long()}


def _long() -> dict[str, str]:
    sentence = (
        "The harbour was quiet, and **nobody** on the `pier` had seen the [ferry](https://example.org/f?x=1&y=2). "
    )
    code = "\n".join(f"    value_{number} = compute({number})  # step {number}" for number in range(400))
    rows = "\n".join(f"| {number} | item {number} | {number * 37 % 1000} |" for number in range(1, 301))
    chapters = "\n\n".join(_chapter(number, sentence) for number in range(1, 41))
    return {
        "36-long-paragraph": sentence * 60,
        "37-long-code": f"The generated module:\n\n```python\ndef build():\n{code}\n```\n\nIt has 400 lines.",
        "38-long-table": f"All of them:\n\n| No. | Name | Stock |\n|--:|---|--:|\n{rows}\n\nThat was all.",
        "39-many-links": "\n".join(
            f"- [result {number}](https://example.org/{number}?q=a&r=b)" for number in range(300)
        ),
        "40-book": f"# Sixty thousand characters\n\n{chapters}\n\nThe end.",
    }


def _chapter(number: int, sentence: str) -> str:
    table = f"\n\n| Chapter | Harbour |\n|--:|---|\n| {number} | quiet |" if number % 8 == 0 else ""
    return (
        f"## Chapter {number}\n\n{sentence * 12}\n\n- point {number}.1\n  - *deeper* still\n- point {number}.2\n\n"
        f"> {sentence}\n\n```python\nchapter = {number}\n```{table}"
    )
