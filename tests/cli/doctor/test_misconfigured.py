"""Each way a set-up can be wrong is named by the doctor, with its colour and the right next step."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from bot.adapters.sqlite_store import SQLiteStore
from bot.cli.doctor.command import Wanted
from bot.clock import SystemClock
from bot.examining import Check, State, examined, green
from simulator import serving
from simulator.model_reply import Refusal
from simulator.script import overloaded
from simulator.slack import SCOPES
from simulator.telegram import ANN_CHAT
from simulator.world import Fault
from tests.cli.doctor.stage import Stage, english_in, point_at, polling, webhooks
from tests.clock import FakeClock

Break = Callable[[Stage], object]


class Case(NamedTuple):
    id: str
    do: Break
    check: str
    state: State
    next: str


def setting(**values: str) -> Break:
    return lambda stage: stage.values.update({name.upper(): value for name, value in values.items()})


def refuses(method: str, error: str) -> Break:
    return lambda stage: stage.simulator.world.add_fault(Fault("slack", method, "error", status=200, error=error))


def answers(refusal: Refusal) -> Break:
    return lambda stage: setattr(stage, "answer", refusal)


def written(name: str, data: str, kabar_data: str = "") -> Break:
    """``kabar_data`` is what KABAR_DATA then names."""

    def write(stage: Stage) -> None:
        (stage.folder / name).write_text(data)
        if kabar_data:
            stage.values["KABAR_DATA"] = str(stage.folder / kabar_data)

    return write


def readable(stage: Stage) -> None:
    (stage.folder / ".env").touch()
    (stage.folder / ".env").chmod(0o644)


def readable_data(stage: Stage) -> None:
    SQLiteStore(stage.values["KABAR_DATA"], SystemClock()).close()
    Path(stage.values["KABAR_DATA"]).chmod(0o644)


def of_another_app(stage: Stage) -> None:
    stage.values["SLACK_APP_TOKEN"] = stage.simulator.slack.app_token = "xapp-1-A0OTHER-1-simulator"


def off(seconds: float) -> Break:
    return lambda stage: setattr(stage, "clock", FakeClock(time.time() + seconds))


def failed(words: str, ago: float = 60, waiting: bool = True) -> Break:
    def note(stage: Stage) -> None:
        webhook = stage.simulator.webhook
        webhook.last_error, webhook.last_error_at = words, time.time() - ago
        if waiting:
            webhook.set("", "")  # so that it stays pending
            stage.simulator.telegram.push("message", {"message_id": 1, "chat": {"id": 1}}, ANN_CHAT)
            webhook.url = f"{stage.wanted.url}/telegram"

    return note


ANYWHERE = (
    Case("no key", setting(anthropic_api_key=""), "model", "red", "Set ANTHROPIC_API_KEY"),
    Case("wrong key", setting(anthropic_api_key="x"), "model claude-sonnet-5-5", "red", "Set ANTHROPIC_API_KEY"),
    Case("odd key", setting(anthropic_api_key="a b"), "model", "red", "without spaces"),
    Case("unknown model", setting(kabar_model="claude-none"), "model claude-none", "red", "Correct the name"),
    Case("unknown choice", setting(kabar_models="gone"), "model gone", "red", "KABAR_MODELS"),
    Case("no credit", answers(Refusal(400, "invalid_request_error", "Your credit balance is too low")),
         "model claude-sonnet-5-5", "red", "Add credit"),
    Case("no access", answers(Refusal(403, "permission_error", "no")), "model claude-sonnet-5-5", "red", "access"),
    Case("busy", answers(overloaded()), "model claude-sonnet-5-5", "yellow", "again in a minute"),
    Case("model away", setting(anthropic_base_url="http://127.0.0.1:9"), "model claude-sonnet-5-5", "red",
         "ANTHROPIC_BASE_URL"),
    Case("admin key", setting(anthropic_api_key="sk-ant-admin01-x"), "model", "red", "ANTHROPIC_API_KEY to a key"),
    Case("slack's token for telegram's", setting(telegram_bot_token="xoxb-simulator"), "telegram token", "red",
         "@BotFather"),
    Case("a person's token", setting(slack_bot_token="xoxp-1-2"), "slack token", "red", "Bot User OAuth Token"),
    Case("not a token", setting(telegram_bot_token="abc"), "telegram token", "red", "@BotFather"),
    Case("unknown token", setting(telegram_bot_token="1000001:" + "x" * 35), "telegram token", "red", "@BotFather"),
    Case("telegram away", setting(telegram_api_base_url="http://127.0.0.1:9"), "telegram token", "red",
         "TELEGRAM_API_BASE_URL"),
    Case("asked too often", lambda stage: stage.simulator.world.add_fault(
        Fault("telegram", "getMe", "error", status=429, retry_after=3)), "telegram token", "yellow", "in a minute"),
    Case("another name", setting(telegram_bot_username="other_bot"), "telegram token", "red",
         "Set TELEGRAM_BOT_USERNAME to kabar_simulator_bot"),
    Case("no groups", lambda stage: setattr(stage.simulator.telegram, "can_join_groups", False), "telegram groups",
         "yellow", "/setjoingroups"),
    Case("no slack token", setting(slack_bot_token=""), "slack token", "red", "xoxb-"),
    Case("kinds swapped", setting(slack_bot_token="xapp-simulator"), "slack token", "red", "xoxb-"),
    Case("unknown slack token", setting(slack_bot_token="xoxb-other"), "slack token", "red", "SLACK_BOT_TOKEN"),
    Case("removed app", refuses("auth.test", "account_inactive"), "slack token", "red", "Install the app again"),
    Case("slack away", setting(slack_api_base_url="http://127.0.0.1:9/"), "slack token", "red", "SLACK_API_BASE_URL"),
    Case("scopes", lambda stage: setattr(stage.simulator.slack, "scopes", SCOPES - {"im:history", "files:read"}),
         "slack scopes", "red", "Add files:read, im:history under OAuth & Permissions"),
    Case("events kept back", lambda stage: stage.simulator.slack.manifest["settings"].pop("event_subscriptions"),
         "slack app", "red", "Add agent_session_stopped, app_home_opened, app_mention"),
    Case("dead buttons", lambda stage: stage.simulator.slack.manifest["settings"].pop("interactivity"), "slack app",
         "red", "Switch Interactivity on"),
    Case("old configuration token", setting(slack_config_token="xoxe.xoxp-old"), "slack app", "yellow", "Make another"),
    Case("half an installation page", setting(slack_client_id="1.2", slack_bot_token="", slack_state_secret="s" * 32),
         "slack installs", "red", "Set SLACK_CLIENT_SECRET"),
    Case("an open installation page", setting(slack_client_id="1.2", slack_client_secret="c", slack_bot_token="",
         slack_state_secret="s" * 32, kabar_allowed_users="*"), "slack installs", "yellow", "Take * out"),
    Case("no platform", setting(telegram_bot_token="", slack_bot_token="", slack_app_token="", slack_signing_secret=""),
         "platforms", "red", "TELEGRAM_BOT_TOKEN"),
    Case("nobody", setting(kabar_owner=""), "people", "red", "set KABAR_OWNER"),
    Case("a name for an id", setting(kabar_owner="@ann"), "people", "red", "telegram:42"),
    Case("a bare id is Telegram's", setting(kabar_owner="42"), "people", "green", ""),
    Case("no owner", setting(kabar_owner="", kabar_allowed_users="telegram:7"), "people", "yellow", "KABAR_OWNER"),
    Case("everybody", setting(kabar_allowed_users="*"), "people", "yellow", "KABAR_ALLOWED_USERS"),
    Case("no limit", setting(kabar_budget_day="0", kabar_budget_month="0"), "money", "yellow", "KABAR_BUDGET_DAY"),
    Case("folder's fault", written("agent/agent.txt", "x"), "agent folder", "yellow", "kabar check"),
    Case("no folder", setting(kabar_agent_dir="nowhere"), "agent folder", "yellow", "KABAR_AGENT_DIR"),
    Case("broken file", written("broken", "not SQLite at all" * 100, "broken"), "data", "red", "bring back a copy"),
    Case("file in a file", written("file", "x", "file/x"), "data", "red", "Set KABAR_DATA"),
    Case("open data", readable_data, "data", "yellow", "chmod 600 "),
    Case("open secrets", readable, "secrets file", "yellow", "chmod 600 .env"),
    Case("clock an hour slow", off(-3600), "clock", "red", "NTP"),
    Case("clock a minute fast", off(60), "clock", "yellow", "NTP"),
)  # fmt: skip

POLLING = (
    Case("a secret but no webhook", setting(telegram_webhook_secret="s"), "telegram webhook", "red",
         "For kabar run leave TELEGRAM_WEBHOOK_SECRET out"),
    Case("no Socket Mode", lambda stage: stage.simulator.slack.manifest["settings"].pop("socket_mode_enabled"),
         "slack app", "red", "Switch Socket Mode on"),
    Case("webhook left", lambda stage: stage.simulator.webhook.set("http://127.0.0.1:9/telegram", ""),
         "telegram webhook", "red", "kabar run --take-over"),
    Case("no app token", setting(slack_app_token=""), "slack signing secret", "red", "Signing Secret"),
    Case("app token is a bot token", setting(slack_app_token="xoxb-simulator"), "slack socket mode", "red",
         "connections:write"),
    Case("unknown app token", setting(slack_app_token="xapp-other"), "slack socket mode", "red", "Socket Mode"),
    Case("tokens of two apps", of_another_app, "slack apps", "red", "under Basic Information of A0KABAR"),
    Case("no connections:write", refuses("apps.connections.open", "missing_scope"), "slack socket mode", "red",
         "connections:write"),
)  # fmt: skip

WEBHOOKS = (
    Case("Socket Mode", lambda stage: stage.simulator.slack.manifest["settings"].update(socket_mode_enabled=True),
         "slack app", "red", "Switch Socket Mode off"),
    Case("another address", lambda stage: point_at(stage, "https://example.com/slack/events"), "slack app", "red",
         "for interactivity and for the slash command"),
    Case("no secret", setting(telegram_webhook_secret=""), "telegram secret", "red", "kabar setup --url http://127.0.0.1:"),
    Case("odd secret", setting(telegram_webhook_secret="a b"), "telegram secret", "red", "1 to 256"),
    Case("another secret", setting(telegram_webhook_secret="other"), "telegram through the address", "red",
         "Give the bot the same TELEGRAM_WEBHOOK_SECRET"),
    Case("another signing secret", setting(slack_signing_secret="other"), "slack through the address", "red",
         "Give the bot the same SLACK_SIGNING_SECRET"),
    Case("a token for a secret", setting(slack_signing_secret="xoxb-simulator"), "slack signing secret", "red",
         "Signing Secret"),
    Case("no signing secret", setting(slack_signing_secret=""), "slack signing secret", "red", "Signing Secret"),
    Case("no webhook", lambda stage: stage.simulator.webhook.set("", ""), "telegram webhook", "red",
         "kabar setup --url http://127.0.0.1:"),
    Case("somebody else's webhook", lambda stage: stage.simulator.webhook.set("http://127.0.0.1:9/telegram", ""),
         "telegram webhook", "red", "kabar setup --url"),
    Case("updates kept back", lambda stage: stage.simulator.telegram.choose_updates(["message"]), "telegram updates",
         "red", "Tell Telegram where to deliver: kabar setup --url http://127.0.0.1:"),
    Case("refused deliveries", failed("Wrong response from the webhook: 401 Unauthorized"), "telegram delivery", "red",
         "Tell Telegram where to deliver: kabar setup --url http://127.0.0.1:"),
    Case("delivered to nothing", failed("Wrong response from the webhook: 404 Not Found"), "telegram delivery", "red",
         "Tell Telegram where to deliver: kabar setup --url http://127.0.0.1:"),
    Case("bot fails", failed("Wrong response from the webhook: 503 Service Unavailable"), "telegram delivery", "red",
         "function's log"),
    Case("no certificate", failed("SSL error {certificate verify failed}"), "telegram delivery", "red", "certificate"),
    Case("unreachable", failed("Connection timed out"), "telegram delivery", "red", "kabar doctor --url"),
    Case("failed, and recovered", failed("Connection timed out", waiting=False), "telegram delivery", "yellow",
         "--url"),
    Case("nobody there", lambda stage: setattr(stage, "wanted", Wanted(url="http://127.0.0.1:9")), "address", "red",
         "start the bot there"),
    Case("no address", lambda stage: setattr(stage, "wanted", Wanted(url="kabar")), "address", "red", "https://"),
    Case("a path too many", lambda stage: setattr(stage, "wanted", replace(stage.wanted, url=f"{stage.wanted.url}/x")),
         "address", "red", "without a path"),
    Case("a clock that is slow signs in the past", off(-900), "slack through the address", "red",
         "Give the bot the same SLACK_SIGNING_SECRET"),
)  # fmt: skip


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def ids(case: Case) -> str:
    return case.id


@pytest.mark.parametrize("case", [*ANYWHERE, *POLLING], ids=ids)
async def test_a_polling_bot_s_fault_is_named_with_what_to_do(case: Case, tmp_path: Path) -> None:
    async with polling(tmp_path) as stage:
        await is_named(case, stage)


@pytest.mark.parametrize("case", WEBHOOKS, ids=ids)
async def test_a_fault_of_webhooks_is_named_with_what_to_do(case: Case, tmp_path: Path) -> None:
    async with webhooks(tmp_path) as stage:
        await is_named(case, stage)


async def is_named(case: Case, stage: Stage) -> None:
    case.do(stage)
    found = await stage.check(case.check)
    assert (found.state, case.next in found.next) == (case.state, True), found
    assert english_in(found) == [], found


async def test_what_says_another_name_than_kabar_at_the_address_is_told_from_it(tmp_path: Path) -> None:
    async with polling(tmp_path) as stage, other_server() as url:
        stage.wanted = Wanted(url=url)
        found = await stage.check("address")
        assert (found.state, "HTTP 200" in found.says) == ("red", True)


@asynccontextmanager
async def other_server() -> AsyncIterator[str]:
    app = Starlette(routes=[Route("/healthz", lambda request: PlainTextResponse("fine"))])
    async with serving.serve(app) as url:
        yield url


async def test_an_examination_that_fails_or_hangs_hides_none_of_the_others() -> None:
    async def fails() -> list[Check]:
        raise ZeroDivisionError

    async def hangs() -> list[Check]:
        await asyncio.Event().wait()
        return []

    async def goes_well() -> list[Check]:
        return [green("c", "It is well.")]

    found = await examined({"a": fails(), "b": hangs(), "c": goes_well()}, seconds=0.05)
    assert [(check.name, check.state) for check in found] == [("a", "red"), ("b", "red"), ("c", "green")]
    assert ["ZeroDivisionError" in found[0].says, "no answer" in found[1].says] == [True, True]
