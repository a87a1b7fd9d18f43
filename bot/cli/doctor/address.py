"""The public address, tried as the platforms would: what they sign, over the way they come. Nothing is stored: neither
request carries anything for the bot."""

import asyncio
import hashlib
import hmac
import json
import ssl
from collections.abc import Mapping, Sequence

import aiohttp
from msgspec import Struct

from bot.channels.telegram.receive import SECRET_HEADER
from bot.examining import Check, green, red, yellow
from handlers.doctor.situation import Situation
from handlers.settings import Settings

TIMEOUT = aiohttp.ClientTimeout(total=12, connect=5)
"""Seconds: a function that starts anew takes some."""
CHALLENGE = "kabar-doctor"
IGNORED = {"update_id": 1, "poll_answer": {"poll_id": "1", "option_ids": []}}
"""An update of a kind that nobody here reads."""
LONG = 4096
"""Bytes of an answer that are read."""


class Answer(Struct, frozen=True):
    status: int
    body: str = ""


async def examine(settings: Settings, situation: Situation) -> Sequence[Check]:
    if not situation.url:
        return []
    async with aiohttp.ClientSession(timeout=TIMEOUT) as http:
        reached = await _reached(http, situation.url)
        if reached.state == "red":
            return [reached]
        tries = []
        if settings.telegram_bot_token and settings.telegram_webhook_secret:
            tries.append(_telegram(http, situation.url, settings.telegram_webhook_secret))
        if settings.slack_signing_secret:
            tries.append(_slack(http, situation.url, settings.slack_signing_secret, int(situation.now)))
        return [reached, *await asyncio.gather(*tries)]


async def _reached(http: aiohttp.ClientSession, url: str) -> Check:
    if not url.startswith(("https://", "http://")):
        return red("address", f"{url} is no address.", "Give one that begins with https://.")
    try:
        async with http.get(f"{url}/healthz") as response:
            answer = Answer(response.status, (await response.content.read(LONG)).decode(errors="replace"))
    except (aiohttp.ClientConnectorCertificateError, ssl.SSLError):
        says = f"{url} has no certificate that can be trusted."
        return red("address", says, "Give the address a certificate that browsers accept, the whole chain included.")
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
        says = f"{url} can not be reached ({type(error).__name__})."
        return red("address", says, "Correct the address, start the bot there, or open the way to it.")
    if answer != Answer(200, "ok"):
        says = f"{url} is answered by something else (HTTP {answer.status} for /healthz)."
        return red("address", says, "Give the address under which Kabar's webhook is, without a path.")
    if url.startswith("http://") and not url.startswith(("http://127.", "http://localhost")):
        return yellow("address", "It is reached without TLS.", "Use https://: Telegram delivers to nothing else.")
    return green("address", "Kabar answers there.")


async def _telegram(http: aiohttp.ClientSession, url: str, secret: str) -> Check:
    headers = {"content-type": "application/json", SECRET_HEADER: secret}
    answer = await _posted(http, f"{url}/telegram", json.dumps(IGNORED).encode(), headers)
    if answer.status == 200:
        return green("telegram through the address", "An update with our secret is taken.")
    return _refused("telegram through the address", answer, "TELEGRAM_WEBHOOK_SECRET")


async def _slack(http: aiohttp.ClientSession, url: str, secret: str, now: int) -> Check:
    body = json.dumps({"type": "url_verification", "challenge": CHALLENGE, "token": ""}).encode()
    signed = hmac.new(secret.encode(), f"v0:{now}:".encode() + body, hashlib.sha256).hexdigest()
    headers = {
        "content-type": "application/json",
        "x-slack-request-timestamp": str(now),
        "x-slack-signature": f"v0={signed}",
    }
    answer = await _posted(http, f"{url}/slack/events", body, headers)
    if answer.status == 200 and CHALLENGE in answer.body:
        return green("slack through the address", "A request with our signature is taken.")
    return _refused("slack through the address", answer, "SLACK_SIGNING_SECRET")


async def _posted(http: aiohttp.ClientSession, url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
    """Status 0 where no answer came."""
    try:
        async with http.post(url, data=body, headers=headers) as response:
            return Answer(response.status, (await response.content.read(LONG)).decode(errors="replace"))
    except (aiohttp.ClientError, TimeoutError, OSError):
        return Answer(0)


def _refused(name: str, answer: Answer, secret: str) -> Check:
    match answer.status:
        case 401:
            says = (
                f"What we sign with {secret} is refused there: the bot has another one, or none, or its clock is off."
            )
            return red(name, says, f"Give the bot the same {secret} and start it again.")
        case 503:
            return red(
                name, "It is proved but can not be served.", "Look into the bot's log: its secrets or store fail."
            )
        case 0:
            return red(name, "There was no answer.", "Look into the bot's log.")
    return red(
        name, f"It is answered with HTTP {answer.status}.", "Look for what stands between the address and the bot."
    )
