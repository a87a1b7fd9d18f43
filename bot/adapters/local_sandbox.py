"""Scripts in a process of their own on this machine, held by what its system has: bot/sandbox says how."""

import asyncio
import hashlib
import importlib.metadata
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from bot.sandbox.box import Box
from bot.sandbox.port import CanNotRun, Door, Job, Ran
from bot.sandbox.script import dependencies, name_of

SECONDS = 60.0
"""For one script: as long as somebody waits for an answer without asking what is going on."""
MEMORY = 1024 * 1024 * 1024
"""Bytes: pandas with a table of some million cells, and a laptop goes on working."""
LARGEST = 20 * 1024 * 1024
"""Bytes: what the platforms hand over and take."""
AT_ONCE = 2
INSTALL_SECONDS = 120.0
WORTH_NAMING = ("matplotlib", "numpy", "openpyxl", "pandas", "pillow", "scipy")


class LocalSandbox:
    """Port ``Sandbox``. ``installs`` is the folder for libraries that scripts ask for, None to install none."""

    def __init__(
        self,
        installs: Path | None = None,
        *,
        seconds: float = SECONDS,
        python: str = sys.executable,
        libraries: Sequence[Path] = (),
    ) -> None:
        """``python`` is the interpreter for scripts, ``libraries`` are folders of modules for them."""
        self.seconds = seconds
        self.largest = LARGEST
        self.installs = installs is not None
        self._search = [*map(str, libraries), *(sys.path if python == sys.executable else ())]
        self.libraries = tuple(name for name in WORTH_NAMING if self._has(name))
        self._folder = installs.resolve() if installs else None
        self._python = python
        self._box = Box(seconds=seconds, memory=MEMORY, largest=LARGEST, python=python, libraries=libraries)
        self._places = asyncio.Semaphore(AT_ONCE)
        self._installing = asyncio.Lock()

    async def run(self, conversation: str, job: Job) -> Ran:
        """Each run has a folder of its own, so it does not matter whose it is."""
        missing = [each for each in dependencies(job.code) if not self._has(name_of(each))]
        async with self._places:
            return await self._box.run(job, [await self._installed(missing)] if missing else [])

    async def doors(self) -> tuple[Door, ...]:
        """What this machine can not shut off. Raises CanNotRun where it runs no script at all."""
        return await self._box.doors()

    def _has(self, name: str) -> bool:
        return any(True for _ in importlib.metadata.distributions(name=name, path=self._search))

    async def _installed(self, requirements: Sequence[str]) -> Path:
        """The folder that holds these libraries, filled once. Raises CanNotRun."""
        if self._folder is None:
            here = f" There are: {', '.join(self.libraries)}." if self.libraries else ""
            raise CanNotRun(f"{', '.join(requirements)} can not be installed here: that is switched off.{here}")
        text = "\0".join([self._python, *sorted(requirements)])
        folder = self._folder / hashlib.sha256(text.encode()).hexdigest()[:16]
        async with self._installing:
            if not folder.is_dir():
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                with tempfile.TemporaryDirectory(dir=self._folder, prefix="making-") as workshop:
                    made = Path(workshop, "libraries")
                    await self._install(requirements, made)
                    made.rename(folder)  # noqa: ASYNC240 - one call of the system
        return folder

    async def _install(self, requirements: Sequence[str], folder: Path) -> None:
        """With the owner's own settings for pip or uv. Only what is built already is taken: building runs the code of
        whoever wrote it, and this is not done in the sandbox."""
        options = ["--target", str(folder), "--only-binary", ":all:", "--quiet", "--", *requirements]
        if uv := shutil.which("uv"):
            command = [uv, "pip", "install", "--python", self._python, *options]
        else:
            command = [self._python, "-m", "pip", "--disable-pip-version-check", "install", "--no-input", *options]
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(INSTALL_SECONDS):
                _, told = await process.communicate()
        except TimeoutError:
            raise CanNotRun(f"Installing took longer than {INSTALL_SECONDS:.0f} seconds.") from None
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if process.returncode:
            last = (told.decode("utf-8", "replace").strip().splitlines() or ["no reason given"])[-1]
            raise CanNotRun(f"The libraries could not be installed: {last[:300]}")
