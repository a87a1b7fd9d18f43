"""`python -m simulator`: the processes, the ports and what the bot is told."""

import asyncio
import itertools
import os
import signal
import socket
import sys
from pathlib import Path

import aiohttp
import pytest

from simulator.__main__ import bot_environment, run
from simulator.app import Simulator, serve
from simulator.deliver import QUICK
from simulator.supervise import keep_running
from simulator.world import World
from tests.simulator.recorder import Recorder

HOLD_OPEN = "import sys, time; out = open(sys.argv[1], 'w'); out.write('started\\n'); out.flush(); time.sleep(60)"


async def test_a_bot_that_dies_is_started_again_and_people_are_told() -> None:
    world, stop = World(), asyncio.Event()
    watcher = world.watch()
    statuses = itertools.count(3)

    def command() -> list[str]:
        return [sys.executable, "-c", "import sys; sys.exit(int(sys.argv[1]))", str(next(statuses))]

    running = asyncio.create_task(keep_running(world, stop, command, os.environ, delays=(0.01,)))
    seen: list[str] = []
    async with asyncio.timeout(20):
        while seen.count("notice") < 2:
            event = await anext(watcher)
            seen.append(event.data["status"] if event.type == "bot" else event.type)
    stop.set()
    await running
    assert seen[:5] == ["hello", "restarting", "notice", "waiting", "restarting"]
    assert "exit status 4" in world.bot.detail  # how it is started is asked each time: its last port may be taken


async def test_the_bot_ends_with_the_simulator(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    stop = asyncio.Event()
    command = [sys.executable, "-c", HOLD_OPEN, str(pipe)]
    running = asyncio.create_task(keep_running(World(), stop, lambda: command, os.environ))
    with await asyncio.to_thread(pipe.open) as output:
        assert await asyncio.to_thread(output.readline) == "started\n"
        stop.set()
        await asyncio.wait_for(running, 10)
        # The pipe's end is only seen when the process that held it open is gone.
        assert await asyncio.wait_for(asyncio.to_thread(output.read), 5) == ""


def test_the_bot_is_told_where_its_platforms_are_and_keeps_its_own_model() -> None:
    demo = bot_environment({"PATH": "/bin"}, "http://127.0.0.1:1", demo=True)
    assert demo["TELEGRAM_API_BASE_URL"] == "http://127.0.0.1:1/telegram"
    assert demo["SLACK_API_BASE_URL"] == "http://127.0.0.1:1/slack/api/"
    assert (demo["ANTHROPIC_BASE_URL"], demo["PATH"]) == ("http://127.0.0.1:1/model", "/bin")
    assert demo["KABAR_OWNER"] == f"telegram:{World().people[0].telegram_id}"  # who sees /doctor and is asked
    keyed = bot_environment({"ANTHROPIC_API_KEY": "k"}, "http://127.0.0.1:1", demo=False)
    assert (keyed["ANTHROPIC_API_KEY"], "ANTHROPIC_BASE_URL" in keyed) == ("k", False)


def listening(port: int = 0) -> socket.socket:
    return socket.create_server(("127.0.0.1", port))


async def test_it_takes_the_next_port_where_the_first_is_taken_and_ends_on_a_signal(tmp_path: Path) -> None:
    with listening() as taken:
        port = taken.getsockname()[1]
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "simulator",
            cwd=tmp_path,
            env={**os.environ, "KABAR_SIMULATOR_PORT": str(port), "ANTHROPIC_API_KEY": ""},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        assert process.stdout is not None
        try:
            line = (await asyncio.wait_for(process.stdout.readline(), 30)).decode()
            url = line.split()[1].rstrip(":")
            async with aiohttp.ClientSession() as session, session.get(f"{url}/sim/state") as response:
                state = await response.json()
        finally:
            process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), 20) == 0
    assert url != f"http://127.0.0.1:{port}"
    assert state["model"] == {"demo": True, "name": "demo"}
    assert "demo model" in line


async def test_it_says_so_where_no_port_is_free() -> None:
    last = 65535
    taken = listening(last)
    try:
        with pytest.raises(OSError, match="KABAR_SIMULATOR_PORT"):
            await run({"KABAR_SIMULATOR_PORT": str(last)})
    finally:
        taken.close()


async def test_what_is_written_before_the_bot_listens_waits_and_comes_once_it_does() -> None:
    simulator, bot = Simulator(pace=QUICK), Recorder()
    async with serve(simulator):
        simulator.hold()
        await simulator.telegram.say("1001", "ann", "early")
        await simulator.slack.say("D0ANN", "ann", "early too")
        async with bot.served() as url:
            simulator.connect(url)
            async with asyncio.timeout(20):
                while {each.path for each in bot.received} != {"/telegram", "/slack/events"}:
                    await asyncio.sleep(0.01)
    assert len(bot.received) == 2
