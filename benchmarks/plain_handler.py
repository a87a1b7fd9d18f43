"""The plain way, to measure against: one function for both platforms that imports all it may need and answers in place.

Its settings and tokens stand in the environment, so it reads no secret; it keeps nothing but could read a history.
"""

import asyncio
import base64
import json
import os
from typing import Any

import anthropic
import boto3
from slack_bolt import App
from slack_bolt.adapter.aws_lambda import SlackRequestHandler
from slack_sdk import WebClient
from telegram import Bot

dynamodb = boto3.client("dynamodb")
claude = anthropic.Anthropic(api_key=os.environ["ANTHROPIC_API_KEY"], base_url=os.environ["ANTHROPIC_BASE_URL"])
server = os.environ["TELEGRAM_API_BASE_URL"]
telegram = Bot(os.environ["TELEGRAM_BOT_TOKEN"], base_url=f"{server}/bot", base_file_url=f"{server}/file/bot")
slack = App(
    client=WebClient(os.environ["SLACK_BOT_TOKEN"], base_url=os.environ["SLACK_API_BASE_URL"]),
    signing_secret=os.environ["SLACK_SIGNING_SECRET"],
    process_before_response=True,
    token_verification_enabled=False,
)


def answer(chat: str, text: str) -> str:
    found = dynamodb.get_item(TableName=os.environ["TABLE"], Key={"pk": {"S": chat}, "sk": {"S": "history"}})
    history = json.loads(found["Item"]["messages"]["S"]) if "Item" in found else []
    messages = [*history, {"role": "user", "content": text}]
    reply = claude.messages.create(model=os.environ["MODEL"], max_tokens=1024, messages=messages)
    return "".join(block.text for block in reply.content if block.type == "text")


@slack.event("message")
def said_in_slack(event: dict[str, Any], say: Any) -> None:
    if "bot_id" not in event and "subtype" not in event:
        say(answer(event["channel"], event["text"]))


async def said_in_telegram(message: dict[str, Any]) -> None:
    async with telegram:
        chat = message["chat"]["id"]
        await telegram.send_message(chat, answer(str(chat), message["text"]))


def handler(event: dict[str, Any], context: Any) -> Any:
    if event["rawPath"].startswith("/slack"):
        return SlackRequestHandler(slack).handle(event, context)  # type: ignore[no-untyped-call]
    body = base64.b64decode(event["body"]) if event["isBase64Encoded"] else event["body"]
    asyncio.run(said_in_telegram(json.loads(body)["message"]))
    return {"statusCode": 200}
