"""People who use every tool once, in one chat of each platform: in English in Telegram, in Indonesian in Slack.

A tour takes an open page and ends where nothing is left to show. ``look`` is called wherever there is something to see.
"""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from playwright.async_api import Locator, Page, expect

from bot.texts import may, say
from tests.simulator.pane import Pane, become, slack_of, telegram_of
from tests.simulator.plays import ANSWER, PICTURES, opened

Look = Callable[[], Awaitable[None]]
Tour = Callable[[Page, Look], Awaitable[None]]

IN_A_HURRY = {"KABAR_MESSAGES_PER_MINUTE": "0"}
"""What `make run` must be told: nobody else asks for so much within a minute."""


class Wish(NamedTuple):
    """What people say so that a tool is used. ``{}`` is what they see on the page and say again."""

    tool: str
    english: str
    indonesian: str


WISHES = tuple(
    Wish(*wish)
    for wish in (
        ("calculator", "what is 12*7+3?", "berapa 12*7+3?"),
        ("current_time", "what time is it?", "jam berapa sekarang?"),
        ("set_time_zone", "my time zone is Asia/Jakarta", "zona waktu saya Asia/Jakarta"),
        ("remember", "remember that I like tea", "ingat bahwa saya suka teh"),
        ("forget_fact", "forget that I like tea", "lupakan saya suka teh"),
        ("remind", "remind me in 2 hours to stretch", "ingatkan saya 2 jam lagi untuk minum"),
        ("list_reminders", "list reminders", "daftar pengingat"),
        ("cancel_reminder", "cancel reminder {}", "batalkan pengingat {}"),
        ("write_file", "make a file", "buat file"),
        ("list_files", "list files", "daftar file"),
        ("read_file", "read packing.csv", "baca packing.csv"),
        ("search_files", "find jacket in my files", "cari jacket di file"),
        ("send_file", "send me packing.csv", "kirim packing.csv"),
        ("reopen", "look at it again", "lihat lagi"),
        ("web_search", "search for night trains", "cari harga beras di internet"),
        ("web_fetch", "open {}", "buka {}"),
        ("skill", "summarise this thread", "rangkum utas ini"),
        ("delegate", "research night trains", "telusuri harga beras"),
        ("run_python", "draw a chart", "buat grafik"),
    )
)


class Visitor:
    """A person in one chat, who speaks one language."""

    def __init__(self, pane: Pane, language: str) -> None:
        self.pane = pane
        self.language = language

    async def wants(self, tool: str, seen: str = "") -> None:
        wish = next(wish for wish in WISHES if wish.tool == tool)
        await self.says((wish.english if self.language == "en" else wish.indonesian).format(seen))

    async def says(self, words: str) -> None:
        before = await self.pane.messages.count()
        await self.pane.say(words)
        await expect(self.pane.messages).not_to_have_count(before)

    async def sees(self, words: str) -> None:
        """In the newest message."""
        await expect(self.pane.newest).to_contain_text(words, timeout=ANSWER)

    async def asks(self, tool: str, answer: str, seen: str = "") -> None:
        await self.wants(tool, seen)
        await self.sees(answer)

    async def is_asked(self, tool: str) -> None:
        await self.sees(may(tool, self.language))

    async def sees_approved(self, tool: str) -> None:
        verdict = say("was_approved", self.language, person="Ann" if self.language == "en" else "Budi")
        question = self.pane.message(may(tool, self.language)).last
        await expect(question).to_contain_text(verdict, timeout=ANSWER)

    async def taps(self, word: str) -> None:
        await self.pane.button(say(word, self.language)).click()

    def files(self, name: str) -> Locator:
        return self.pane.root.get_by_role("link", name=name)

    def pictures(self, name: str) -> Locator:
        return self.pane.root.get_by_role("img", name=name)


async def in_telegram(page: Page, look: Look) -> None:
    ann = Visitor(await opened(page, telegram_of(page), "Kabar"), "en")
    await small_things(ann, look)
    await reminders(ann, look)
    await files(ann, look)
    await the_web(ann, look, "Night trains are back on Java", "The whole timetable as PDF")
    await approvals(ann, look)
    await somebody(page, "telegram", "-2001", "budi", "The jeep leaves at nine.")
    group = Visitor(await opened(page, ann.pane, "Trip to Bromo"), "en")
    await group.pane.use(group.pane.message("The jeep leaves"), "Reply")
    await group.pane.say("@kabar_simulator_bot remind me in 1 hour to buy rice")
    await words_of_others(group, look, "buy rice")


async def in_slack(page: Page, look: Look) -> None:
    await become(page, "Budi")
    budi = Visitor(await opened(page, slack_of(page), "Kabar"), "id")
    await small_things(budi, look)
    await reminders(budi, look)
    await files(budi, look)
    await the_web(budi, look, "Harga beras naik lima persen", "14.000 rupiah")
    await approvals(budi, look)
    await somebody(page, "slack", "C0GENERAL", "ann", "Jip berangkat jam sembilan.")
    channel = Visitor(await opened(page, budi.pane, "#general"), "id")
    await channel.pane.use(channel.pane.message("Jip berangkat"), "Reply in thread")
    await channel.pane.say("@Kabar ingatkan saya 1 jam lagi untuk beli beras")
    await words_of_others(channel, look, "beli beras")


TOURS: dict[str, Tour] = {"telegram": in_telegram, "slack": in_slack}


async def small_things(person: Visitor, look: Look) -> None:
    await person.asks("calculator", "12*7+3 = 87")
    await person.asks("current_time", "UTC+0")
    await person.asks("set_time_zone", "Kept. There it is")
    await person.asks("remember", "Kept as number 1.")
    await look()
    await person.asks("forget_fact", "Deleted.")
    await person.asks("skill", "Summarise a thread")


async def reminders(person: Visitor, look: Look) -> None:
    """Cancelled by words, and by a button."""
    await person.asks("remind", "Asia/Jakarta (UTC+0700)")
    await person.asks("list_reminders", "told on")
    listed = await person.pane.newest.locator("blockquote").inner_text()
    await person.asks("cancel_reminder", "Cancelled.", listed.partition(":")[0].strip())
    await person.asks("remind", "Set.")
    await person.says("/remind" if person.pane.title == "Telegram" else "/kabar remind")
    await person.sees("Asia/Jakarta")
    await look()
    await person.pane.button(say("reminder_cancel", person.language, number="1")).click()
    await person.sees(say("reminder_cancelled", person.language, text=""))
    await person.sees(say("reminders_none", person.language))


async def files(person: Visitor, look: Look) -> None:
    await person.wants("write_file")
    await expect(person.files("packing.csv")).to_be_visible(timeout=ANSWER)
    await person.asks("list_files", "packing.csv (text/csv")
    await person.asks("read_file", "warm jacket,1")
    await person.asks("search_files", "packing.csv, character")
    await look()
    await person.wants("send_file")
    await expect(person.files("packing.csv")).to_have_count(2, timeout=ANSWER)
    await person.pane.files.set_input_files(PICTURES[:1])
    await person.says("what is this?" if person.language == "en" else "apa ini?")
    await person.sees("640 x 480")
    await person.asks("reopen", "640 x 480 pixels")
    await look()


async def the_web(person: Visitor, look: Look, title: str, fact: str) -> None:
    await person.asks("web_search", title)
    address = await person.pane.newest.get_by_role("link", name=title).get_attribute("href")
    await person.asks("web_fetch", fact, address or "")
    await person.asks("delegate", title)
    await look()


async def approvals(person: Visitor, look: Look) -> None:
    """A no, a message instead of a tap, and a yes for an hour: then nothing is asked."""
    await person.wants("run_python")
    await person.is_asked("run_python")
    await look()
    await person.taps("deny")
    await expect(person.pane.log).to_contain_text(say("was_denied", person.language), timeout=ANSWER)
    await person.wants("run_python")
    await person.is_asked("run_python")
    await person.asks("calculator", "12*7+3 = 87")
    await expect(person.pictures("costs.png")).to_have_count(0)
    await person.wants("run_python")
    await person.is_asked("run_python")
    await person.taps("approve_hour")
    await expect(person.pictures("costs.png")).to_have_count(1, timeout=ANSWER)
    await person.sees_approved("run_python")
    await person.wants("run_python")
    await expect(person.pictures("costs.png")).to_have_count(2, timeout=ANSWER)
    await expect(person.pictures("costs.png").last).to_have_js_property("naturalWidth", 640)
    await expect(person.pane.root.get_by_label("Go to the newest message")).to_be_hidden()
    await look()


async def words_of_others(person: Visitor, look: Look, what: str) -> None:
    """What goes on after the chat is asked for, once somebody else's words were read."""
    await person.is_asked("remind")
    await look()
    await person.taps("approve")
    await person.sees_approved("remind")
    await person.sees("Asia/Jakarta (UTC+0700)")
    await person.sees(what)
    await look()


async def somebody(page: Page, platform: str, chat: str, user: str, words: str) -> None:
    """Says something, at a page of their own."""
    said = {"platform": platform, "chat": chat, "user": user, "text": words}
    assert (await page.request.post("/sim/say", data=said)).ok
