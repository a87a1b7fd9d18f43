"""What AWS hands to a function, as it is on the wire."""

import base64
import json
from typing import Any


def http_event(path: str, body: bytes, headers: dict[str, str], *, method: str = "POST") -> dict[str, Any]:
    """A function URL's event (payload format 2.0): header names in lower case, the body of a form as base64."""
    lowered = {name.lower(): value for name, value in headers.items()}
    text = lowered.get("content-type", "").startswith(("application/json", "text/")) and _is_text(body)
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {"host": "id.lambda-url.eu-central-1.on.aws", "x-forwarded-proto": "https", **lowered},
        "requestContext": {
            "accountId": "anonymous",
            "apiId": "id",
            "domainName": "id.lambda-url.eu-central-1.on.aws",
            "http": {
                "method": method,
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": "127.0.0.1",
                "userAgent": "test",
            },
            "requestId": "1",
            "routeKey": "$default",
            "stage": "$default",
            "time": "30/Nov/2026:12:00:00 +0000",
            "timeEpoch": 1796040000000,
        },
        "body": body.decode() if text else base64.b64encode(body).decode(),
        "isBase64Encoded": not text,
    }


def _is_text(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def sqs_event(message: dict[str, Any]) -> dict[str, Any]:
    """The event source mapping's event for one message as ``receive_message`` returned it (AttributeNames: All)."""
    return {
        "Records": [
            {
                "messageId": message["MessageId"],
                "receiptHandle": message["ReceiptHandle"],
                "body": message["Body"],
                "attributes": message["Attributes"],
                "messageAttributes": {},
                "md5OfBody": message["MD5OfBody"],
                "eventSource": "aws:sqs",
                "eventSourceARN": "arn:aws:sqs:eu-central-1:000000000000:wakes.fifo",
                "awsRegion": "eu-central-1",
            }
        ]
    }


def telegram_update(number: int, text: str, user: int = 42) -> bytes:
    """A private message from a user, as Telegram's webhook sends it."""
    person = {"id": user, "is_bot": False, "first_name": "Ayu", "language_code": "id"}
    chat = {"id": user, "type": "private", "first_name": "Ayu"}
    message = {"message_id": number, "from": person, "chat": chat, "date": 1796040000 + number, "text": text}
    return json.dumps({"update_id": 1000 + number, "message": message}).encode()
