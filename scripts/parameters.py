"""Write the parameters of infra/template.yaml into the table of docs/deploy.md.

python -m scripts.parameters
"""

from pathlib import Path

from scripts.imports import ROOT
from tests.packages.template import read_template

PAGE = ROOT / "docs/deploy.md"
BEGIN, END = "<!-- python -m scripts.parameters -->\n", "<!-- end -->"


def table() -> str:
    template = read_template()
    lines = []
    for group in template["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]:
        lines += ["", f"**{group['Label']['default']}**", "", "| parameter | default | what it says |", "|---|---|---|"]
        for name in group["Parameters"]:
            parameter = template["Parameters"][name]
            default = f"`{parameter['Default']}`" if parameter["Default"] != "" else ""
            lines.append(f"| `{name}` | {default} | {parameter['Description']} |")
    return "\n".join([*lines, "", ""])


def page(text: str) -> str:
    """The page with its table as it should be. Raises ValueError where its marks are missing."""
    before, _, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"{PAGE} lacks its marks")
    return f"{before}{BEGIN}{table()}{END}{after}"


if __name__ == "__main__":
    Path(PAGE).write_text(page(PAGE.read_text()))
