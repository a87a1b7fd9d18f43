"""The registrar function: two custom resources of the stack.

    Custom::Registration   tells the platforms where the bot is, and the owner what is left to do (registration.py)
    Custom::Digest         a digest of its properties: what a published version is made anew by (docs/decisions/0021)

CloudFormation waits an hour for an answer that does not come, so there always is one: this module loads only what an
answer takes, whatever goes wrong behind it becomes the answer's reason, and what takes too long is not waited for.

Any other event, such as ``aws lambda invoke`` sends, registers again: after a token was stored or changed.
"""

import hashlib
import json
import logging
import queue
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol
from urllib.request import Request, urlopen

log = logging.getLogger(__name__)

SPARE = 15.0
"""Seconds of the invocation that are kept for the answer."""
ANSWER_TIMEOUT = 4.0
ANSWER_PAUSES = (0.5, 1.0)
NOT_DATA = ("ServiceToken", "ServiceTimeout")
TOLD = ("Telegram", "Slack", "SlackManifest")
"""What the template reads of a registration: CloudFormation refuses an answer that lacks one."""


class Answer(NamedTuple):
    """``data`` is what a template may read of the resource; ``fault`` is why it could not be made, or ""."""

    data: dict[str, str]
    fault: str = ""


class Invocation(Protocol):
    """Of Lambda's context, what is used here."""

    def get_remaining_time_in_millis(self) -> int: ...


def handler(event: Any, context: Invocation) -> Any:
    """Lambda's entry point."""
    if "ResponseURL" not in event:
        from handlers.registration import register_again

        return register_again()
    make = _digested if event["ResourceType"] == "Custom::Digest" else _registered
    answer = within(context.get_remaining_time_in_millis() / 1000 - SPARE, lambda: make(event))
    send(event["ResponseURL"], response(event, answer))
    return None


def within(seconds: float, make: Callable[[], Answer]) -> Answer:
    """What ``make`` gives, or why it gave nothing."""
    answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()

    def work() -> None:
        try:
            answers.put(make())
        except Exception as error:  # an answer begins here
            log.exception("the registrar failed")
            answers.put(Answer({}, f"The registrar failed ({type(error).__name__}): its log says where."))

    threading.Thread(target=work, daemon=True).start()
    try:
        return answers.get(timeout=max(seconds, 0.0))
    except queue.Empty:
        return Answer({}, f"The registrar was not ready within {seconds:.0f} seconds: its log says what it waited for.")


def response(event: dict[str, Any], answer: Answer) -> dict[str, Any]:
    """What CloudFormation is told.

    An update that fails is rolled back through this same function, and a rollback that fails leaves a stack that can be
    neither updated nor rolled back. So only the first deployment fails; an update says what is wrong, and goes on. A
    resource that can not be deleted would keep the whole stack.
    """
    fails = bool(answer.fault) and event["RequestType"] == "Create"
    data = answer.data or dict.fromkeys(TOLD, answer.fault)
    if answer.fault:
        log.error("%s", answer.fault)
    return {
        "Status": "FAILED" if fails else "SUCCESS",
        "Reason": answer.fault or "Done.",
        "PhysicalResourceId": event.get("PhysicalResourceId") or _id(event),
        "StackId": event["StackId"],
        "RequestId": event["RequestId"],
        "LogicalResourceId": event["LogicalResourceId"],
        "Data": data,
    }


def send(url: str, answer: dict[str, Any]) -> None:
    """To an address that proves itself: it is logged nowhere. Raises OSError, and Lambda repeats the event."""
    # S3's signature is over an empty content type.
    request = Request(url, json.dumps(answer).encode(), {"Content-Type": ""}, method="PUT")  # noqa: S310
    for pause in (*ANSWER_PAUSES, None):
        try:
            with urlopen(request, timeout=ANSWER_TIMEOUT):  # noqa: S310  # CloudFormation's own
                return
        except OSError as error:
            log.warning("error=<%s> | the answer did not arrive", type(error).__name__)
            if pause is None:
                raise
            time.sleep(pause)


def _id(event: dict[str, Any]) -> str:
    """The same for as long as the stack lives: another one would have CloudFormation delete what was just made."""
    return f"{event['LogicalResourceId']}-{event['StackId'].rpartition('/')[2]}"


def _registered(event: dict[str, Any]) -> Answer:
    from handlers.registration import register, unregister

    properties = event["ResourceProperties"]
    if event["RequestType"] == "Delete":
        return unregister(properties)
    return register(properties, event.get("OldResourceProperties", {}))


def _digested(event: dict[str, Any]) -> Answer:
    said = {name: value for name, value in event["ResourceProperties"].items() if name not in NOT_DATA}
    return Answer({"Digest": hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:12]})
