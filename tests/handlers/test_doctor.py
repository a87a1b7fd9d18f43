"""``/doctor``: the owner hears in a chat what is set up well and what is not, in their language; nobody else does."""

import ast
import asyncio
import inspect
import re
import textwrap
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from pathlib import Path
from types import ModuleType

import pytest
from msgspec.structs import replace

from bot import examining
from bot.access import Access
from bot.adapters import anthropic_model
from bot.agentdir import folder
from bot.cli import doctor as from_outside
from bot.cli import main
from bot.cli.doctor import indonesian as terminal
from bot.cli.wiring import local
from bot.doctor_page import page
from bot.examining import Check, found, green, red, yellow
from bot.messages import Person, Place
from bot.turn import Outcome
from handlers import aws, bots, doctor, door
from handlers.doctor import cloud
from handlers.doctor.indonesian import NAMES, SENTENCES
from handlers.doctor.kinds import TITLES
from handlers.settings import read_settings
from simulator import telegram
from simulator.script import overloaded
from tests.bots import bot_on
from tests.cli.doctor.stage import SECRETS, Stage, polling
from tests.recorder import WAIT, RecordingChannel
from tests.say import ANN, GROUP, HERE, inbound

OWNER = Person("telegram:1001", "Ann", "en")
MEMBER = Person("telegram:2", "Budi", "id")
UNLIMITED = {"KABAR_BUDGET_DAY": "0", "KABAR_BUDGET_MONTH": "0"}
HOME = Place("telegram:1001", "1001")


class Chat:
    def __init__(self, stage: Stage, channel: RecordingChannel) -> None:
        self.stage = stage
        self.channel = channel
        self._number = 0

    async def asks(self, sender: Person = OWNER, place: Place = HOME) -> str:
        """What is shown in the end of ``/doctor``."""
        settings = read_settings({**self.stage.values, "KABAR_ALLOWED_USERS": MEMBER.id})
        self._number += 1
        async with local(settings, {"telegram": self.channel}, grace=5) as bot, asyncio.timeout(WAIT):
            await bot.store.receive(inbound("", self._number, sender=sender, place=place, command="doctor"))
            await bot.wake.wake(place.conversation, "1")
            while await bot.store.overdue(2**40):
                await asyncio.sleep(0.02)
        return self.channel.shown[-1]


@pytest.fixture
async def chat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Chat]:
    monkeypatch.chdir(tmp_path)
    async with polling(tmp_path) as stage:
        yield Chat(stage, RecordingChannel(longest=4_000))


async def test_the_owner_is_told_in_one_message_what_is_well(chat: Chat) -> None:
    shown = await chat.asks()
    assert shown.startswith("**Examined**: 0 red, 0 yellow, ")
    assert "🔴" not in shown and "🟡" not in shown
    assert {"telegram token", "slack scopes", "people", "versions"} <= set(re.split("🟢 |, |\\n", shown))
    assert len(chat.channel.messages) == 1


@pytest.mark.parametrize(("path", "red"), [("/lola/telegram", False), ("/telegram", True)])
async def test_one_of_several_bots_has_a_webhook_of_its_own(
    chat: Chat, monkeypatch: pytest.MonkeyPatch, path: str, red: bool
) -> None:
    monkeypatch.setenv("KABAR_BOTS", "lola")
    chat.stage.values |= {"KABAR_BOT": "lola", "TELEGRAM_WEBHOOK_SECRET": "secret"}
    chat.stage.simulator.webhook.set(f"http://127.0.0.1:9{path}", "secret")
    assert ("whose path is not /lola/telegram" in await chat.asks()) is red


async def test_what_is_wrong_comes_first_with_what_to_do_and_no_secret(chat: Chat) -> None:
    chat.stage.values |= {
        "TELEGRAM_BOT_TOKEN": f"{telegram.TOKEN}x",
        "KABAR_BUDGET_DAY": "0",
        "KABAR_BUDGET_MONTH": "0",
    }
    shown = await chat.asks()
    lines = shown.split("\n\n")
    assert lines[0].startswith("**Examined**: 1 red, 1 yellow, ")
    assert lines[1].startswith("🔴 **telegram token**: ") and "\n→ Copy the token from @BotFather" in lines[1]
    assert lines[2].startswith("🟡 **money**: ")
    assert lines[3].startswith("🟢 ")
    assert not any(secret in str(chat.channel.calls) for secret in SECRETS)


async def test_who_reads_indonesian_is_told_in_indonesian(chat: Chat) -> None:
    chat.stage.values |= UNLIMITED
    chat.stage.answer = overloaded()
    shown = await chat.asks(replace(OWNER, language="id"))
    assert shown.startswith("**Hasil pemeriksaan**: 0 merah, 2 kuning, ")
    assert "→ Tunggu semenit, lalu kirim /doctor lagi." in shown
    assert "🟡 **uang**: Tidak ada batas untuk pengeluaran semua orang bersama.\n→ Isi KABAR" in shown
    assert "token Telegram" in shown


async def test_nobody_else_is_told_anything_and_a_group_neither(chat: Chat) -> None:
    assert await chat.asks(MEMBER, Place(MEMBER.id, "2")) == "Hanya pemilik saya yang bisa melakukannya."
    assert await chat.asks(OWNER, GROUP) == "Please write that to me in private."
    assert [call.method for call in chat.stage.simulator.world.calls] == []


async def test_what_is_found_is_shown_in_one_message_while_the_rest_is_looked_at(tmp_path: Path) -> None:
    channel = RecordingChannel(longest=4_000)

    async def examine(language: str) -> AsyncGenerator[Sequence[Check], None]:
        yield [green("clock", "It is right.")]
        await channel.until(lambda channel: any("🟢 clock" in text for text in channel.shown))
        yield [red("model", "It has no key.", "Set it.")]

    owned = Access(owner=ANN.id)
    async with bot_on(tmp_path / "kabar.sqlite3", channel=channel, examine=examine, access=owned) as bot:
        await bot.hears(inbound("", command="doctor"))
        await bot.wakes()
    assert channel.shown == [
        "**Examined**: 1 red, 0 yellow, 1 green\n\n🔴 **model**: It has no key.\n→ Set it.\n\n🟢 clock"
    ]


async def test_a_process_that_dies_while_it_looks_leaves_another_one_to_look_again(tmp_path: Path) -> None:
    async def never(language: str) -> AsyncGenerator[Sequence[Check], None]:
        await asyncio.Event().wait()
        yield ()

    async def well(language: str) -> AsyncGenerator[Sequence[Check], None]:
        yield [green("clock", "It is right.")]

    owned, path = Access(owner=ANN.id), tmp_path / "kabar.sqlite3"
    async with bot_on(path, examine=never, access=owned) as bot:
        await bot.hears(inbound("", command="doctor"))
        assert await bot.wakes(seconds=0.2) == Outcome()
        assert bot.wake.woken == [HERE.conversation]
    async with bot_on(path, examine=well, access=owned) as bot:
        await bot.wakes()
        assert bot.channel.shown[-1] == "**Examined**: 0 red, 0 yellow, 1 green\n\n🟢 clock"


# The page


def test_the_page_shows_addresses_and_names_as_they_are() -> None:
    next = "Call setWebhook with secret_token=<TELEGRAM_WEBHOOK_SECRET> and [this]."
    shown = page([red("x", "It is *so*.", next)], "en")
    assert r"secret_token=\<TELEGRAM_WEBHOOK_SECRET> and [this]" in shown and r"\*so\*" in shown


def test_the_worst_comes_first_and_of_what_is_well_only_the_names() -> None:
    checks = [green("a", "Fine."), yellow("b", "Hm.", "Look."), red("c", "No.", "Act."), green("d", "Fine.")]
    assert page(checks, "en") == (
        "**Examined**: 1 red, 1 yellow, 2 green\n\n🔴 **c**: No.\n→ Act.\n\n🟡 **b**: Hm.\n→ Look.\n\n🟢 a, d"
    )


# Side by side


async def test_one_that_hangs_is_told_as_such_after_the_others() -> None:
    async def well() -> Sequence[Check]:
        return [green("well", "Fine.")]

    async def hangs() -> Sequence[Check]:
        await asyncio.Event().wait()
        return []

    names = [check.name async for checks in found({"hangs": hangs(), "well": well()}, 0.01) for check in checks]
    assert names == ["well", "hangs"]


async def test_whoever_no_longer_wants_to_know_leaves_nothing_running() -> None:
    ended = asyncio.Event()

    async def hangs() -> Sequence[Check]:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return []

    looking = found({"hangs": hangs()}, 60)
    asked = asyncio.ensure_future(anext(looking))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    asked.cancel()
    await asyncio.gather(asked, return_exceptions=True)
    await looking.aclose()
    assert ended.is_set()


# In Indonesian


def templates(*parts: ast.AST) -> set[str]:
    """Every text in them, ``{}`` where a value stands."""
    return {words for part in parts for words in _templates(part)}


def files(room: ModuleType, *others: str) -> list[ast.AST]:
    """A room's files but for these ``others``, which say nothing of their own."""
    folder = Path(str(room.__file__)).parent
    return [ast.parse(file.read_text()) for file in folder.glob("*.py") if file.name not in ("indonesian.py", *others)]


def sources(*parts: object) -> list[ast.AST]:
    return [ast.parse(textwrap.dedent(inspect.getsource(part))) for part in parts]  # type: ignore[arg-type]


def _templates(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # a docstring
    if isinstance(node, ast.Constant | ast.JoinedStr):
        yield _template(node).removeprefix(" ")
    for child in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.JoinedStr) and isinstance(child, ast.Constant)):
            yield from _templates(child)


def _template(node: ast.Constant | ast.JoinedStr) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)


INSIDE = templates(*files(doctor, "inside.py"), *sources(examining, door.install_faults), ast.Constant(door.NO_SEAL))
"""What /doctor says."""
FROM_OUTSIDE = templates(
    *files(from_outside),
    *sources(read_settings, bots.bot_names, bots.environment_of, aws._translated, folder.read_folder, main._setup),
)
"""What ``kabar doctor`` says beside that."""
ELSEWHERE = templates(*sources(anthropic_model))
"""What examinations pass on."""


@pytest.mark.parametrize(
    ("said", "known"),
    [(INSIDE, SENTENCES), (FROM_OUTSIDE, {**SENTENCES, **terminal.SENTENCES})],
    ids=["/doctor", "kabar doctor"],
)
def test_every_sentence_is_there_in_indonesian_with_as_many_values(said: set[str], known: dict[str, str]) -> None:
    begun = {words for words in said if re.match("[A-Z{].*[a-z]", words) and words[-1] != " "}
    sentences = {words for words in begun if len(words.split()) >= 3}

    assert sorted(sentences - known.keys()) == []
    assert sorted(TITLES.values() - known.keys()) == []
    for english, indonesian in known.items():
        assert english.count("{}") == indonesian.count("{}"), english


def test_nothing_is_translated_that_nobody_says_any_more() -> None:
    assert sorted(SENTENCES.keys() - INSIDE - ELSEWHERE) == []
    assert sorted(terminal.SENTENCES.keys() - FROM_OUTSIDE) == []


def test_no_sentence_is_taken_for_another_one() -> None:
    for english, indonesian in {**SENTENCES, **terminal.SENTENCES}.items():
        count = english.count("{}")
        values = [f"x{number}" for number in range(count)]
        assert terminal.INDONESIAN.words(english.format(*values)) == indonesian.format(*values)


def test_every_check_s_name_is_known_or_a_name_in_both_languages() -> None:
    calls = (node for part in (*files(doctor), *files(from_outside)) for node in ast.walk(part))
    called = {
        node.args[0].value
        for node in calls
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("green", "yellow", "red")
        if isinstance(node.args[0], ast.Constant)
    }
    assert called - NAMES.keys() - terminal.NAMES.keys() == {"bucket", "data", "model", "worker"}


@pytest.mark.parametrize(
    ("english", "indonesian"),
    [
        ("It is 300 seconds fast: signatures are refused.", "Jam ini 300 detik terlalu cepat: tanda tangan ditolak."),
        (
            "SLACK_BOT_TOKEN is Slack's app-level token (xapp-): the bot can not answer.",
            "SLACK_BOT_TOKEN ternyata token tingkat aplikasi Slack (xapp-): bot tidak bisa menjawab.",
        ),
        (
            f"Turn it on for kabar-Table. {cloud.DEPLOY}",
            f"Nyalakan untuk kabar-Table. {SENTENCES[cloud.DEPLOY]}",
        ),
        ("The provider knows no model fast.", "Penyedia tidak mengenal model fast."),
        ("3 wakes were given up, and nobody was told.", "3 panggilan gagal, dan tidak ada yang diberi tahu."),
        (
            "Tell Telegram where to deliver: kabar setup --url https://x",
            "Beri tahu Telegram ke mana harus mengantar: kabar setup --url https://x",
        ),
        (
            "Copy the Signing Secret from the app's Basic Information. For kabar run it is SLACK_APP_TOKEN that is "
            "missing: run kabar setup.",
            "Salin Signing Secret dari Basic Information aplikasinya. Untuk kabar run, SLACK_APP_TOKEN yang belum ada: "
            "jalankan kabar setup.",
        ),
        (
            "KABAR_A must be on or off, not 'x'. KABAR_B must be a whole number above 0, not '-1'.",
            "KABAR_A harus on atau off, bukan 'x'. KABAR_B harus bilangan bulat di atas 0, bukan '-1'.",
        ),
        (
            "The secrets under /kabar can not be read: AccessDeniedException. What lies there is not tried.",
            "Rahasia di /kabar tidak bisa dibaca: AccessDeniedException. Yang tersimpan di sana tidak dicoba.",
        ),
        ("Nobody ever wrote this sentence", "Nobody ever wrote this sentence"),
    ],
)
def test_values_stand_in_the_translation_where_they_belong(english: str, indonesian: str) -> None:
    assert terminal.INDONESIAN.words(english) == indonesian
