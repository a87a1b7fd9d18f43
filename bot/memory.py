"""What is remembered of a person, and of a group or channel: kept apart, and each shown only where it belongs.

In a private chat that is the person's own, in every private chat they have with the bot; in a group or channel it is
the chat's, and nobody's own. Facts ride in messages, never in the stable part of the prompt.
"""

from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from bot import profiles
from bot.commands import slash
from bot.history import last_told
from bot.messages import Entry, Inbound, Person, Place
from bot.ports import Store
from bot.texts import say
from bot.web.words import harmless

MOST = 50
LONGEST = 300
"""Characters of a fact."""

Change = Callable[[tuple[str, ...]], tuple[str, ...]]


class Full(Exception):
    """Not an error of ours: no more facts fit."""


def owner_of(place: Place, person: Person) -> str:
    """Whose facts are told and changed here."""
    return profiles.chat_key(place.conversation) if place.group else person.payer


class Memory:
    """Without a store, as outside of a conversation, nothing is remembered."""

    def __init__(self, store: Store | None = None) -> None:
        self._store = store

    async def facts(self, place: Place, person: Person) -> tuple[str, ...]:
        return (await self._store.profile(owner_of(place, person))).facts if self._store else ()

    async def add(self, place: Place, person: Person, fact: str) -> int:
        """Remember a fact; returns its number, from 1. Once it is known it stays where it is. Raises Full."""
        line = " ".join(fact.split())[:LONGEST]

        def with_fact(facts: tuple[str, ...]) -> tuple[str, ...]:
            if line not in facts and len(facts) >= MOST:
                raise Full
            return facts if line in facts or not line else (*facts, line)

        facts = await self._change(owner_of(place, person), with_fact)
        return facts.index(line) + 1 if line in facts else 0

    async def correct(self, place: Place, person: Person, number: str, fact: str) -> bool:
        """Put a fact in the place of that of this number, from 1; False where there is none."""
        line = " ".join(fact.split())[:LONGEST]
        was: list[str] = []

        def with_another(facts: tuple[str, ...]) -> tuple[str, ...]:
            was[:] = [each for at, each in enumerate(facts, 1) if number == str(at)]
            return tuple(dict.fromkeys(line if each in was else each for each in facts))

        await self._change(owner_of(place, person), with_another)
        return bool(was)

    async def delete(self, place: Place, person: Person, fact: str) -> bool:
        """Forget a fact, named by its number or its words; False where there is none."""
        gone: list[str] = []

        def without(facts: tuple[str, ...]) -> tuple[str, ...]:
            gone[:] = [each for number, each in enumerate(facts, 1) if fact.strip() in (str(number), each)][:1]
            return tuple(each for each in facts if each not in gone)

        await self._change(owner_of(place, person), without)
        return bool(gone)

    async def clear(self, place: Place, person: Person) -> None:
        await self._change(owner_of(place, person), lambda facts: ())

    async def _change(self, owner: str, change: Change) -> tuple[str, ...]:
        if self._store is None:
            return change(())
        changed = await profiles.change(self._store, owner, lambda known: replace(known, facts=change(known.facts)))
        return changed.facts


def told(facts: Sequence[str], window: Sequence[Entry]) -> str:
    """The facts as the model is told them; "" where it was told just that already, or there are none to tell."""
    shown = last_told(window, lambda asked: asked.memory)
    memory = f"<memory>\n{_lines(map(harmless, facts)) or '(nothing)'}\n</memory>"
    return "" if memory == shown or not (facts or shown) else memory


async def page(asked: Inbound, memory: Memory) -> str:
    """``/memory``, with ``add …``, ``change 2 …``, ``delete 2`` or ``clear``: what was done, and what is remembered."""
    language, place, person = asked.sender.language, asked.place, asked.sender
    word, _, rest = asked.text.strip().partition(" ")
    done = ""
    match word.lower():
        case "add" | "tambah" if rest.strip():
            try:
                await memory.add(place, person, rest)
            except Full:
                done = say("memory_full", language, most=str(MOST))
        case "change" | "correct" | "ubah" if (parts := rest.split(maxsplit=1))[1:]:
            done = "" if await memory.correct(place, person, *parts) else say("memory_none", language)
        case "delete" | "remove" | "hapus" if rest.strip():
            done = "" if await memory.delete(place, person, rest) else say("memory_none", language)
        case "clear" | "kosongkan":
            await memory.clear(place, person)
    facts = await memory.facts(place, person)
    whose = say("memory_chat" if place.group else "memory_person", language)
    how = say("memory_how", language, slash=slash(place))
    shown = (done, whose if facts else say("memory_empty", language), _lines(facts), how)
    return "\n\n".join(filter(None, shown))


def _lines(facts: Iterable[str]) -> str:
    return "\n".join(f"{number}. {fact}" for number, fact in enumerate(facts, 1))
