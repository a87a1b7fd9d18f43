"""What `make run` starts: the simulator with the real bot, with no key, no account and no network."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from handlers.settings import SECRETS

ROOT = Path(__file__).parents[2]
AGENT = str(ROOT / "agent")
START_WAIT = 30.0


@asynccontextmanager
async def running(folder: Path, **settings: str) -> AsyncIterator[str]:
    """`python -m simulator` with nothing set but ``settings``, its data in an empty folder; yields the address it
    prints. The owner's folder is the one that is there in `make run`."""
    environment = {name: value for name, value in os.environ.items() if name not in SECRETS and name != "DISPLAY"}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "simulator",
        cwd=folder,
        env={
            **environment,
            "PYTHONPATH": str(ROOT),
            "KABAR_SIMULATOR_PORT": "8520",
            "KABAR_AGENT_DIR": AGENT,
            **settings,
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdout
    draining, is_wrong = None, True
    try:
        async with asyncio.timeout(START_WAIT):
            while not (found := re.search(rb"http://127\.0\.0\.1:\d+", await process.stdout.readline())):
                assert process.returncode is None
        draining = asyncio.create_task(process.stdout.read())
        yield found[0].decode()
        is_wrong = False
    finally:
        # Asked, not killed: the bot lives in a session of its own and is ended by the simulator alone.
        process.send_signal(signal.SIGINT)
        async with asyncio.timeout(START_WAIT):
            status = await process.wait()
            said = await (draining or process.stdout.read())
        if is_wrong:
            sys.stdout.write(said.decode(errors="replace"))  # shown beside the failure: why the bot did not answer
    assert status == 0
