"""A bot with a script for a mind, for tests of the page: it talks to both platforms through their real SDKs."""

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import parse_qs

import aiohttp
import telegram
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from simulator.slack import BOT_TOKEN
from simulator.telegram import TOKEN

Json = dict[str, Any]

REPORT = """\
Costs so far

Train 190,000 and jeep 650,000, see https://example.org/costs

total = 190_000 + 650_000

Prices checked this morning."""
"""What it answers to "report" on Telegram, styled by ``REPORT_ENTITIES``."""

REPORT_MARKDOWN = """\
## Costs so far

Train **190,000**, _jeep_ `650,000`, see [the list](https://example.org/costs).

| What | Cost |
|---|---:|
| Train | 190,000 |

1. Book
   - the train

```python
total = 190_000 + 650_000
```"""
"""What it answers to "report" on Slack."""


def _entity(kind: str, part: str, language: str | None = None) -> telegram.MessageEntity:
    return telegram.MessageEntity(kind, REPORT.index(part), len(part), language=language)


REPORT_ENTITIES = (
    _entity("bold", "Costs so far"),
    _entity("italic", "jeep"),
    _entity("url", "https://example.org/costs"),
    _entity("pre", "total = 190_000 + 650_000", language="python"),
    _entity("blockquote", "Prices checked this morning."),
)


class PageBot:
    """Answers every message in two steps, a typing sign first: "You said", then "You said: <the text>".

    "ask" is answered with two buttons and "report" with a styled text. While ``held``, each step waits for ``go()``.
    Slack's home gets a page, its messages get suggestions; ``asked`` keeps slash commands and shortcuts.
    ``status`` is the HTTP status for every delivery; above 299 the delivery is only refused.
    """

    def __init__(self) -> None:
        self.status = 200
        self.held = False
        self.taps: list[str] = []
        self.asked: list[str] = []
        self._steps = asyncio.Semaphore(0)
        self._answers: set[asyncio.Task[None]] = set()
        routes = [
            Route("/telegram", self._telegram_update, methods=["POST"]),
            Route("/slack/events", self._slack_event, methods=["POST"]),
        ]
        self.app = Starlette(routes=routes)

    @asynccontextmanager
    async def connected(self, telegram_url: str, slack_url: str) -> AsyncIterator[None]:
        """Open its clients to the platforms' APIs for as long as the block runs."""
        base = f"{telegram_url}/bot"
        async with telegram.Bot(TOKEN, base_url=base) as self.telegram, aiohttp.ClientSession() as session:
            self.slack = AsyncWebClient(token=BOT_TOKEN, base_url=slack_url, session=session)
            try:
                yield
            finally:
                for answer in tuple(self._answers):
                    answer.cancel()
                await asyncio.gather(*self._answers, return_exceptions=True)

    def go(self) -> None:
        """Let one step of a held answer happen."""
        self._steps.release()

    async def _step(self) -> None:
        if self.held:
            await self._steps.acquire()

    def _start(self, answer: Coroutine[Any, Any, None]) -> Response:
        """Answer after the platform has its 200."""
        task = asyncio.create_task(_until_refused(answer))
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)
        return Response()

    async def _telegram_update(self, request: Request) -> Response:
        if self.status > 299:
            return Response(status_code=self.status)
        update = telegram.Update.de_json(await request.json(), self.telegram)
        if update.callback_query:
            return self._start(self._answer_tap(update.callback_query))
        if update.message is None:
            return Response()
        return self._start(self._answer_telegram(update.message))

    async def _answer_tap(self, query: telegram.CallbackQuery) -> None:
        self.taps.append(query.data or "")
        await query.answer("Noted.")
        await query.edit_message_text(f"You chose {query.data}.")

    async def _answer_telegram(self, message: telegram.Message) -> None:
        where: Json = {"chat_id": message.chat_id, "message_thread_id": message.message_thread_id}
        await self.telegram.send_chat_action(action="typing", **where)
        await self._step()
        reply = telegram.ReplyParameters(message.message_id)
        sent = await self.telegram.send_message(text="You said", reply_parameters=reply, **where)
        await self._step()
        text = message.text or ""
        if text == "report":
            await sent.edit_text(REPORT, entities=REPORT_ENTITIES)
        elif text == "ask":
            choices = [telegram.InlineKeyboardButton(word, callback_data=word.lower()) for word in ("Yes", "No")]
            await sent.edit_text("Shall I?", reply_markup=telegram.InlineKeyboardMarkup([choices]))
        else:
            await sent.edit_text(f"You said: {text}")

    async def _slack_event(self, request: Request) -> Response:
        if self.status > 299:
            return Response(status_code=self.status)
        body = await request.body()
        if request.headers["content-type"].startswith("application/x-www-form-urlencoded"):
            return self._slack_form(parse_qs(body.decode()))
        event = json.loads(body)["event"]
        if event["type"] == "app_home_opened":
            return self._start(self._greet(event))
        for_us = event["type"] == "app_mention" or event.get("channel_type") == "im"
        if not for_us or event.get("bot_id") or event.get("subtype"):
            return Response()
        return self._start(self._answer_slack(event))

    def _slack_form(self, form: dict[str, list[str]]) -> Response:
        if "command" in form:
            self.asked.append(" ".join((form["command"][0], *form.get("text", []))))
            return self._start(self._answer_command(form["channel_id"][0], form["user_id"][0]))
        payload = json.loads(form["payload"][0])
        if payload["type"] == "message_action":
            self.asked.append(payload["message"]["text"])
            return self._start(self._answer_command(payload["channel"]["id"], payload["user"]["id"]))
        return self._start(self._answer_click(payload))

    async def _answer_command(self, channel: str, user: str) -> None:
        await self.slack.chat_postEphemeral(channel=channel, user=user, text="Only you see this.")

    async def _greet(self, event: Json) -> None:
        if event["tab"] == "home":
            await self._show_home(event["user"], "*Welcome* to Kabar")
        else:
            prompts = [{"title": "Plan a trip", "message": "Plan a trip to Bromo"}]
            await self.slack.assistant_threads_setSuggestedPrompts(
                channel_id=event["channel"], thread_ts="", title="To begin with", prompts=prompts
            )

    async def _show_home(self, user: str, words: str) -> None:
        section = {"type": "section", "text": {"type": "mrkdwn", "text": words}}
        choice = {"type": "button", "text": {"type": "plain_text", "text": "Quietly"}, "value": "quiet"}
        title = {"type": "context", "elements": [{"type": "mrkdwn", "text": "How it answers"}]}
        more = {**choice, "text": {"type": "plain_text", "text": "English"}, "value": "english"}
        rows = [{"type": "actions", "elements": [each]} for each in (more, choice)]
        blocks = [section, rows[0], title, rows[1]]
        await self.slack.views_publish(user_id=user, view={"type": "home", "blocks": blocks})

    async def _answer_click(self, payload: Json) -> None:
        value = payload["actions"][0]["value"]
        self.taps.append(value)
        if payload["container"]["type"] == "view":
            await self._show_home(payload["user"]["id"], f"You chose {value}.")
            return
        await self.slack.chat_update(
            channel=payload["channel"]["id"], ts=payload["message"]["ts"], text=f"You chose {value}.", blocks=[]
        )

    async def _answer_slack(self, event: Json) -> None:
        channel, thread = event["channel"], event.get("thread_ts") or event["ts"]
        await self.slack.assistant_threads_setStatus(channel_id=channel, thread_ts=thread, status="is thinking…")
        await self._step()
        sent = await self.slack.chat_postMessage(channel=channel, thread_ts=thread, markdown_text="You said")
        await self._step()
        here: Json = {"channel": channel, "ts": sent["ts"]}
        if "report" in event["text"]:
            await self.slack.chat_update(markdown_text=REPORT_MARKDOWN, **here)
        elif "ask" in event["text"]:
            await self.slack.chat_update(text="Shall I?", blocks=_choices("Yes", "No"), **here)
        else:
            await self.slack.chat_update(markdown_text=f"You said: {event['text']}", **here)


async def _until_refused(answer: Coroutine[Any, Any, None]) -> None:
    """A call that a platform refuses ends the answer; nothing is repeated."""
    with suppress(telegram.error.TelegramError, SlackApiError):
        await answer


def _choices(*words: str) -> list[Json]:
    buttons = [
        {"type": "button", "action_id": word, "value": word.lower(), "text": {"type": "plain_text", "text": word}}
        for word in words
    ]
    question = {"type": "section", "text": {"type": "mrkdwn", "text": "*Shall I?*"}}
    return [question, {"type": "actions", "elements": buttons}]
