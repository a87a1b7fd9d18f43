"""The SAM CLI, in an account of the emulator's: nothing of this machine's own AWS settings is seen by it."""

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path

from scripts.imports import ROOT
from tests.packages.stack import BOOTSTRAP, for_the_emulator
from tests.packages.template import read_template

PROGRAM = ROOT / ".venv/sam/bin/sam"
TEMPLATE = ROOT / "infra/template.yaml"
STACK = "kabar"
TAIL = 3000
"""Characters of the output that a failure shows."""


class SamFailed(Exception):
    """The message is the command and the end of what it printed."""


class Sam:
    """``folder`` is where everything is built; ``account`` is what boto3 reads of the environment."""

    def __init__(self, folder: Path, account: Mapping[str, str], arch: str, python: str) -> None:
        self._folder = folder
        self._built = folder / "built"
        self._arch = arch
        own = {"HOME": str(folder), "SAM_CLI_TELEMETRY": "0", "ARCH": arch, "LAMBDA_RUNTIME": python}
        self._environment = {"PATH": os.environ["PATH"], **account, **own}

    async def build(self) -> None:
        """As ``sam build`` does it, for this machine; then what the emulator needs beside it."""
        await self._run("build", "--template", str(TEMPLATE), "--build-dir", str(self._built), cwd=ROOT)
        built = self._built / "template.yaml"
        template = for_the_emulator(read_template(built))
        built.write_text(json.dumps(template))
        for function in filter(Path.is_dir, self._built.iterdir()):
            bootstrap = function / "bootstrap"
            bootstrap.write_text(BOOTSTRAP)
            bootstrap.chmod(0o755)

    async def deploy(self, parameters: Mapping[str, str]) -> None:
        """Make the stack, or update it in place."""
        overrides = [f'{name}="{value}"' for name, value in {**parameters, "Arch": self._arch}.items()]
        options = ["--stack-name", STACK, "--resolve-s3", "--capabilities", "CAPABILITY_IAM"]
        quietly = ["--no-confirm-changeset", "--no-progressbar", "--no-fail-on-empty-changeset"]
        template = ["--template-file", str(self._built / "template.yaml")]
        await self._run("deploy", *template, *options, *quietly, "--parameter-overrides", *overrides)

    async def delete(self) -> None:
        await self._run("delete", "--stack-name", STACK, "--no-prompts")

    async def _run(self, *arguments: str, cwd: Path | None = None) -> None:
        process = await asyncio.create_subprocess_exec(
            PROGRAM,
            *arguments,
            cwd=cwd or self._folder,  # where no samconfig.toml of the owner's is
            env=self._environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            printed, _ = await process.communicate()
        except asyncio.CancelledError:
            process.kill()
            await process.wait()
            raise
        if process.returncode:
            raise SamFailed(f"sam {arguments[0]} failed:\n{printed.decode(errors='replace')[-TAIL:]}")
