"""``python -m simulator``: the local platforms with their page, and the bot beside them. Ctrl-C ends both.

KABAR_SIMULATOR_PORT is where the page is (8420). Where none of MODEL_NAMES is set, in the environment or in ``.env``,
the demo model answers.
"""

import asyncio
import os
import signal
import sys
import time
import webbrowser
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from dotenv import dotenv_values

from handlers.settings import Settings
from simulator import slack, telegram
from simulator.app import Simulator, serve, slack_base_url, telegram_base_url
from simulator.deliver import Pace
from simulator.inspector import Inspector
from simulator.serving import free_port, is_free
from simulator.supervise import keep_running
from simulator.telegram_limits import Flood
from simulator.world import PEOPLE

PORT = 8420
PORTS_TRIED = 20
PACE = Pace(telegram_delays=(1, 1, 1, 2, 5, 15, 60), slack_delays=(2, 4, 8))
"""The platforms' own repeats come after up to minutes; a person at the page should not wait that long for a bot that
starts."""
LOOK_EVERY = 0.1
"""Seconds between two looks whether the bot listens."""
_FIRST_MESSAGE_AT = 1_700_000_000
"""Message ids count from this moment, one a second, so that they ascend from one run to the next. The bot remembers
which messages it has answered."""
GUESTS = ",".join(f"telegram:{each.telegram_id},slack:{each.slack_id}" for each in PEOPLE[:2])
"""Who may talk to the bot: the last of the people is there to show what a stranger hears."""
OWNER = f"telegram:{PEOPLE[0].telegram_id}"
"""Ann, who is asked about strangers and may look at /doctor."""
DATA = ".data/simulator.sqlite3"
"""Where the bot keeps its conversations, and the page looks into its turns."""
MODEL_NAMES = ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "KABAR_PROVIDER")


def main() -> int:
    try:
        return asyncio.run(run(os.environ))
    except OSError as fault:
        sys.stderr.write(f"{fault.strerror or fault}\n")
        return 1


async def run(environment: Mapping[str, str]) -> int:
    """Serve until a signal asks to stop. Raises OSError where no port is free."""
    stop = _stop_on_signals()
    demo = not _names_set(environment).intersection(MODEL_NAMES)
    simulator = _simulator(demo)
    simulator.world.set_model(demo=demo, name="demo" if demo else _model_name(environment))
    async with _serve_nearby(simulator, int(environment.get("KABAR_SIMULATOR_PORT") or PORT)) as url:
        simulator.hold()
        _tell(url, simulator)
        bot = ["simulator.bot"] if demo else ["bot.cli.main", "serve"]

        connecting: list[asyncio.Task[None]] = []

        def command() -> list[str]:
            """With a port of its own: between two starts somebody else may have taken the last one."""
            port = free_port()
            for each in connecting:
                each.cancel()
            connecting.append(asyncio.create_task(_connect_when_up(simulator, port)))
            return [sys.executable, "-m", *bot, "--port", str(port)]

        try:
            await keep_running(simulator.world, stop, command, bot_environment(environment, url, demo=demo))
        finally:
            for each in connecting:
                each.cancel()
            await asyncio.gather(*connecting, return_exceptions=True)
    return 0


async def _connect_when_up(simulator: Simulator, port: int) -> None:
    """What people write while the bot starts waits, and comes at once when it listens. A platform's repeats would come
    up to a minute later."""
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(LOOK_EVERY)
        else:
            writer.close()
            simulator.connect(f"http://127.0.0.1:{port}")
            return


def bot_environment(environment: Mapping[str, str], url: str, *, demo: bool) -> dict[str, str]:
    """What the bot's process is told: everything we were, and that its platforms are here."""
    ours = {
        "TELEGRAM_API_BASE_URL": telegram_base_url(url),
        "TELEGRAM_BOT_TOKEN": telegram.TOKEN,
        "TELEGRAM_WEBHOOK_SECRET": telegram.SECRET,
        "SLACK_API_BASE_URL": slack_base_url(url),
        "SLACK_BOT_TOKEN": slack.BOT_TOKEN,
        "SLACK_SIGNING_SECRET": slack.SIGNING_SECRET,
        "KABAR_OWNER": OWNER,
        "KABAR_ALLOWED_USERS": GUESTS,
        "KABAR_DATA": DATA,
        "KABAR_FILES": ".data/simulator-files",
    }
    return {**environment, **ours, **(_demo_model(url) if demo else {})}


def _demo_model(url: str) -> dict[str, str]:
    from simulator.model import DEMO_FEATURES, DEMO_MODEL

    reached = {"ANTHROPIC_BASE_URL": f"{url}/model", "ANTHROPIC_API_KEY": "demo"}
    return {**reached, "KABAR_MODEL": DEMO_MODEL, "KABAR_MODEL_FEATURES": DEMO_FEATURES}


def _stop_on_signals() -> asyncio.Event:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


def _names_set(environment: Mapping[str, str]) -> set[str]:
    """Names with a value, in the environment or in the file ``.env`` that the bot reads."""
    return {name for name, value in {**dotenv_values(".env"), **environment}.items() if value}


def _model_name(environment: Mapping[str, str]) -> str:
    return environment.get("KABAR_MODEL") or Settings().kabar_model


def _simulator(demo: bool) -> Simulator:
    first_message = int(time.time()) - _FIRST_MESSAGE_AT
    model = None
    if demo:
        from simulator.model import demo_app

        model = demo_app()
    simulator = Simulator(pace=PACE, first_message=first_message, model=model, inspector=Inspector(Path(DATA)))
    simulator.telegram.limit(Flood())
    return simulator


@asynccontextmanager
async def _serve_nearby(simulator: Simulator, wanted: int) -> AsyncIterator[str]:
    """Serve on the wanted port, or the next one that is free."""
    ports = range(wanted, min(wanted + PORTS_TRIED, 65536))
    port = next((port for port in ports if is_free(port)), None)
    if port is None:
        raise OSError(f"No port from {wanted} to {ports[-1]} is free. Set KABAR_SIMULATOR_PORT to another one.")
    async with serve(simulator, port=port) as url:
        yield url


def _tell(url: str, simulator: Simulator) -> None:
    model = simulator.world.model
    who = "the demo model, a small script (set ANTHROPIC_API_KEY for Claude)" if model.demo else model.name
    sys.stdout.write(f"Open {url}: Telegram and Slack in one page, answered by {who}. Ctrl-C ends it.\n")
    sys.stdout.flush()
    if sys.stdout.isatty() and _has_display():
        asyncio.get_running_loop().run_in_executor(None, webbrowser.open, url)


def _has_display() -> bool:
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


if __name__ == "__main__":
    sys.exit(main())
