"""``python -m examples.discord``: Kabar in Discord, and in whatever else is set up, as ``kabar serve`` does it.

Wants DISCORD_BOT_TOKEN and KABAR_OWNER=discord:<your id>; its Interactions Endpoint is <public address>/discord.
"""

import asyncio
import sys
import time
from collections.abc import Mapping
from functools import partial

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from bot import logs
from bot.cli.environment import environment
from bot.cli.serve import OneDoor
from bot.cli.wiring import Local, local
from bot.commands import menu
from bot.errors import ConfigError, SendError
from bot.intake import accept
from bot.messages import Json
from examples.discord.parse import ASK, FILE, STRING, parse, response
from examples.discord.receive import proved
from examples.discord.send import API, DiscordChannel
from handlers.settings import read_settings
from handlers.webhook import MAX_BODY, application
from simulator.serving import serve

TEXT: Json = {"type": STRING, "name": "text", "description": "What you want to say"}
COMMANDS: list[Json] = [
    {"name": ASK, "description": "Ask the bot", "options": [TEXT, {**TEXT, "type": FILE, "name": "file"}]},
    *({"name": name, "description": about[:100], "options": [TEXT]} for name, about in menu("en")),
]


async def main(values: Mapping[str, str], port: int) -> None:
    token = values.get("DISCORD_BOT_TOKEN", "")
    if not token:
        raise ConfigError("Set DISCORD_BOT_TOKEN, from the page Bot of your application at discord.com/developers.")
    settings = read_settings(values)
    logs.set_up(settings.kabar_log_level)
    channel = DiscordChannel(token, values.get("DISCORD_API_BASE_URL", API))
    async with local(settings, {"discord": channel}) as bot:
        app = application(OneDoor(bot.door))
        app.add_route("/discord", partial(answered, await channel.offer(COMMANDS), bot), methods=["POST"])
        async with serve(app, port=port) as address:
            print(f"Listening on {address}/discord", flush=True)
            await asyncio.Event().wait()  # what is cut when the process ends goes on at its next start


async def answered(public_key: str, bot: Local, request: Request) -> Response:
    if not 0 < int(request.headers.get("content-length", 0)) <= MAX_BODY:
        return Response(status_code=413)
    body = await request.body()
    if not proved(public_key, body, request.headers, time.time()):
        return Response(status_code=401)
    interaction = msgspec.json.decode(body, type=Json)
    inbound = parse(interaction)
    if inbound:  # where that fails Discord hears 503, and tells whoever asked
        await accept(inbound, bot.store, bot.wake, bot.clock)
    return JSONResponse(response(interaction, inbound))


if __name__ == "__main__":
    try:
        asyncio.run(main(environment(), int(sys.argv[1]) if sys.argv[1:] else 8421))
    except (ConfigError, SendError, OSError) as error:
        sys.exit(f"discord: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
