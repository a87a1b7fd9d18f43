"""The sandbox function from the worker's side: real boto3, functions on the emulator that answer as it might.

The function itself, deployed and under its role: tests/packages/test_stack.py.
"""

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from bot.adapters.lambda_sandbox import LambdaSandbox, tenant
from bot.sandbox import wire
from bot.sandbox.port import CanNotRun, Item, Job, Ran
from tests.emulator import Account

RAN = Ran(0, out="hi\n", files=(Item("a.txt", b"x"),), open=("network",))
Sandboxes = Callable[[str], LambdaSandbox]


@pytest.fixture
def requests() -> list[Any]:
    """What boto3 sends, as it goes out."""
    return []


@pytest.fixture
def answering(aws: Account, requests: list[Any]) -> Sandboxes:
    """A sandbox whose function is this body of ``handler(event, context)``."""
    client = aws.client("lambda")
    client.meta.events.register("before-send.lambda.Invoke", lambda request, **_: requests.append(request))

    def sandbox(body: str) -> LambdaSandbox:
        package = io.BytesIO()
        with zipfile.ZipFile(package, "w") as archive:
            archive.writestr("function.py", f"def handler(event, context):\n    {body}\n")
        client.create_function(
            FunctionName="sandbox",
            Runtime="python3.13",
            Role="arn:aws:iam::000000000000:role/none",
            Handler="function.handler",
            Code={"ZipFile": package.getvalue()},
            Timeout=10,
        )
        return LambdaSandbox(lambda: client, "sandbox")

    return sandbox


async def test_what_the_function_answers_is_what_became_of_the_script(
    answering: Sandboxes, requests: list[Any]
) -> None:
    sandbox = answering(f"return {wire.response(RAN)!r}")

    assert await sandbox.run("telegram:-100200:55", Job("print('hi')")) == RAN

    [request] = requests
    assert request.headers["X-Amz-Tenant-Id"].decode() == tenant("telegram:-100200:55")
    assert wire.unpack(json.loads(request.body)["job"], Job) == Job("print('hi')")


def test_no_two_conversations_share_an_environment_and_its_name_says_nothing_of_them() -> None:
    names = {tenant(each) for each in ("telegram:1", "telegram:1:2", "slack:T1:C1", "slack:T1:C1:1.2", "terminal:ü")}

    assert len(names) == 5
    assert all(len(name) == 64 and name.isalnum() for name in names)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("return {}", "no answer that can be read"),
        ("return 'x'", "no answer that can be read"),
        ("return {'ran': 'eJw='}", "no answer that can be read"),
        ("raise MemoryError('a secret of the function')", "ended before the script did"),
    ],
)
async def test_an_answer_that_is_none_is_told_in_a_sentence(answering: Sandboxes, body: str, told: str) -> None:
    with pytest.raises(CanNotRun, match=told) as caught:
        await answering(body).run("telegram:1", Job("print(1)"))

    assert "secret" not in str(caught.value)


async def test_a_function_that_is_not_there_is_told_in_a_sentence(aws: Account) -> None:
    with pytest.raises(CanNotRun, match="can not be reached at the moment"):
        await LambdaSandbox(lambda: aws.client("lambda"), "none").run("telegram:1", Job("print(1)"))


async def test_files_that_can_not_travel_are_refused_before_anything_is_sent(requests: list[Any]) -> None:
    import random

    job = Job("", files=(Item("x.bin", random.Random(1).randbytes(5_000_000)),))

    with pytest.raises(CanNotRun, match="too large"):
        await LambdaSandbox(lambda: None, "sandbox").run("telegram:1", job)
