"""Events over Socket Mode, for a laptop or a small server. An envelope is acknowledged only once it is stored.

Source: docs.slack.dev/apis/events-api/using-socket-mode; slack-sdk 3.48.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web.async_client import AsyncWebClient

from bot.channels.slack.parse import Departed, departed, parse
from bot.errors import ConfigError, StoreUnavailable
from bot.messages import Inbound, Json

LOOK_EVERY = 30.0
"""Seconds between two looks whether the socket is open."""

logger = logging.getLogger(__name__)

Accept = Callable[[Inbound], Awaitable[Json | None]]
"""May return what the envelope is answered with."""
Leave = Callable[[Departed], Awaitable[Any]]


async def listen(app_token: str, base_url: str, accept: Accept, leave: Leave) -> None:
    """Hold the socket for ever; the SDK reconnects by itself. Raises ConfigError where Slack refuses the token at the
    start, or is not there. ``leave`` is told where the app is no longer installed."""

    async def take(client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        inbound = parse(request.payload, now=int(time.time()))
        reply = None
        try:
            if inbound is not None:
                reply = await accept(inbound)
            if (gone := departed(request.payload)) is not None:
                await leave(gone)
        except StoreUnavailable as error:
            logger.warning("error=<%s> | not acknowledged, Slack will send it again", type(error).__name__)
            return
        await client.send_socket_mode_response(SocketModeResponse(request.envelope_id, reply))

    client = SocketModeClient(app_token, web_client=AsyncWebClient(base_url=base_url))
    client.socket_mode_request_listeners.append(take)
    try:
        client.wss_uri = await client.issue_new_wss_url()  # connect() would ask for ever, whatever Slack says
        await client.connect()
        await _keep_open(client)
    except aiohttp.ClientError as error:
        raise ConfigError(f"Slack can not be reached: {type(error).__name__}") from error
    except SlackApiError as error:
        raise ConfigError(
            f"Slack refuses SLACK_APP_TOKEN ({error.response['error']}). It begins with xapp- and needs the scope "
            "connections:write, with Socket Mode switched on for the app."
        ) from error
    finally:
        await client.close()


async def _keep_open(client: SocketModeClient) -> None:
    """Never returns. The SDK tries one address until it opens, but Slack's are good for a short time only: where that
    takes long, it is made to ask for a new one."""
    while True:
        await asyncio.sleep(LOOK_EVERY)
        if not await client.is_connected():
            logger.warning("the socket is closed, trying another address")
            client.wss_uri = None
