"""Work on what strangers sent, done in a process that holds nothing of ours: bytes in, bytes out.

It gets no environment but where the modules are. Its end, by whatever was in the bytes, is not ours.
"""

import asyncio
import os
import sys
from collections.abc import Sequence


async def apart(module: str, data: bytes, seconds: float) -> bytes:
    """What a module, run as a program, writes to its output. Raises OSError where no process could be started,
    TimeoutError where it took longer, and ValueError where it ended without success."""
    answer, returncode = await ended(module, data, seconds)
    if returncode:
        raise ValueError(f"{module} ended with {returncode}")
    return answer


async def ended(module: str, data: bytes, seconds: float) -> tuple[bytes, int | None]:
    """The same, however it ended, and how it did."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", module),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment(sys.path),
    )
    try:
        async with asyncio.timeout(seconds):
            answer, _ = await process.communicate(data)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()
    return answer, process.returncode


def environment(path: Sequence[str]) -> dict[str, str]:
    """Where our modules and Python's own library are (Lambda's Python finds the latter by this alone); no secrets."""
    return {"PYTHONPATH": os.pathsep.join(filter(None, path)), "LD_LIBRARY_PATH": f"{sys.base_exec_prefix}/lib"}
