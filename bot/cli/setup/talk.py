"""One person at one terminal in one language, and where the answers are kept: the questions every step is made of."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol, TypeVar

from bot.cli.setup.keeper import Keeper
from bot.cli.setup.terminal import Terminal
from bot.cli.setup.texts import say
from bot.cli.setup.wrong import Unfit, Wrong
from handlers.settings import Settings, read_settings

NO = frozenset({"n", "no", "t", "tidak"})
YES = frozenset({"y", "yes", "ya"})


class Titled(Protocol):
    @property
    def title(self) -> str:
        """What was found, for people."""
        ...


Found = TypeVar("Found", bound=Titled)


class Talk:
    def __init__(self, terminal: Terminal, language: str, keeper: Keeper) -> None:
        self.terminal = terminal
        self.language = language
        self.keeper = keeper

    def text(self, name: str, /, **values: str) -> str:
        return say(name, self.language, **values)

    def say(self, name: str, /, **values: str) -> None:
        self.terminal.say(self.text(name, **values))

    def pause(self) -> None:
        """An empty line between two steps."""
        self.terminal.show("")

    def good(self, title: str) -> None:
        self.terminal.good(title)

    def wrong(self, wrong: Wrong) -> None:
        self.terminal.bad(self.text(wrong.text, **wrong.values))

    def value(self, name: str) -> str:
        return self.keeper.values.get(name, "").strip()

    def settings(self, **changes: str) -> Settings:
        """Of what is known, with these values in the place of others, by their names in capitals; "" forgets what is
        kept, and what wins over it is then known."""
        counted = {name: value for name, value in changes.items() if value or not self.keeper.shadowed(name)}
        return read_settings({**self.keeper.values, **counted})

    async def keep(self, values: Mapping[str, str]) -> None:
        await self.keeper.put(values)
        for name in values:
            if self.keeper.shadowed(name):
                self.say("shadowed", name=name, where=self.keeper.where)

    async def confirm(self, question: str, *, default: bool) -> bool:
        """``question`` is said already; Enter is the default."""
        choices = self.text("yes_or_no" if default else "no_or_yes")
        while True:
            answer = (await self.terminal.ask(f"{question} {choices}")).lower()
            if not answer or answer in YES | NO:
                return answer in YES if answer else default
            self.say("say_yes_or_no")

    async def choose(self, question: str, options: Sequence[str], default: int = 0) -> int:
        """Which of the options, all said already; Enter is the default."""
        self.terminal.say(question)
        for number, option in enumerate(options, 1):
            self.terminal.show(f"  {number}  {option}")
        while True:
            answer = await self.terminal.ask(f"{self.text('number')} [{default + 1}]")
            if not answer:
                return default
            if answer.isdecimal() and 1 <= int(answer) <= len(options):
                return int(answer) - 1
            self.say("say_number", last=str(len(options)))

    async def keeps(self, found: Titled) -> bool:
        return await self.confirm(self.text("keep", what=found.title), default=True)

    async def settled(
        self, name: str, question: str, check: Callable[[str], Awaitable[Found]], explain: Callable[[], None]
    ) -> Found:
        """What is known under this name, where it is good and shall stay; else it is explained and asked for until it
        is good, and kept. ``question`` names a text."""
        last = self.value(name)
        if last:
            try:
                found = await check(last)
            except Wrong as wrong:
                self.wrong(wrong)
                last = "" if isinstance(wrong, Unfit) else last
            else:
                if await self.keeps(found):
                    return found
                last = ""
        explain()
        if last:
            self.say("again")
        while True:
            last = await self.terminal.ask_unseen(self.text(question)) or last
            if not last:
                continue
            try:
                found = await check(last)
            except Wrong as wrong:
                self.wrong(wrong)
                last = "" if isinstance(wrong, Unfit) else last
                if last:
                    self.say("again")
                continue
            await self.keep({name: last})
            self.good(found.title)
            return found
