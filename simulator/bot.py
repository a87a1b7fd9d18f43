"""The bot of ``make run`` with the demo model: as ``kabar serve``, with a web made up here as well: nothing leaves this
machine.
"""

import argparse
import asyncio
import os

from bot import logs
from bot.adapters.file_reader import FileReader
from bot.cli.serve import serve_webhooks
from handlers.settings import read_settings
from simulator.web import demo_web


async def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m simulator.bot")
    parser.add_argument("--port", type=int, required=True)
    options = parser.parse_args()
    settings = read_settings(os.environ)
    logs.set_up(settings.kabar_log_level, content=settings.kabar_log_content == "on")
    async with demo_web() as web:
        await serve_webhooks({"": settings}, "127.0.0.1", options.port, web.tools(FileReader(None)))


if __name__ == "__main__":
    asyncio.run(main())
