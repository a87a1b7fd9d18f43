"""``/instructions``: what an admin wrote for one chat, shown to everybody in it and followed there.

It is told to the model in a message, like memory, where it was not told before: the prompt's stable part stays.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from bot.commands import slash
from bot.history import last_told
from bot.messages import Entry, Inbound, Place, Profile, Rules
from bot.people import People
from bot.ports import Clock, Store
from bot.profiles import change, chat_key
from bot.texts import say
from bot.usage import number
from bot.web.words import harmless

LONGEST = 2_000
"""Characters."""
NONE = "(None any more: what was written here before does not hold.)"
CLEAR = ("clear", "hapus", "kosongkan")


class ChatRules:
    """One for a whole group or channel, whatever topic or thread is talked in."""

    def __init__(self, store: Store, people: People, clock: Clock) -> None:
        self._store = store
        self._people = people
        self._clock = clock

    async def of(self, place: Place) -> Rules | None:
        return (await self._store.profile(chat_key(place.conversation))).rules

    async def page(self, asked: Inbound) -> str:
        """Without words what holds here and who wrote it; with words it is replaced, with ``clear`` taken away, by
        those who may."""
        language, text = asked.sender.language, asked.text.strip()
        if not text:
            return _page("", await self.of(asked.place), asked)
        if not await self._people.administers(asked):
            return _page(say("rules_denied", language), await self.of(asked.place), asked)
        if len(text) > LONGEST:
            sizes = {"chars": number(len(text)), "most": number(LONGEST)}
            return _page(say("rules_long", language, **sizes), await self.of(asked.place), asked)
        rules = None
        if text.lower() not in CLEAR:
            rules = Rules(text, asked.sender.id, asked.sender.name, int(self._clock.now()))

        def with_rules(known: Profile) -> Profile:
            return replace(known, rules=rules)

        await change(self._store, chat_key(asked.conversation), with_rules)
        return _page(say("rules_set" if rules else "rules_cleared", language), rules, asked)


def told(rules: Rules | None, window: Sequence[Entry]) -> str:
    """The rules as the model is told them; "" where it was told just that already, or there are none to tell."""
    shown = last_told(window, lambda asked: asked.rules)
    words = f"<rules>\n{harmless(rules.text) if rules else NONE}\n</rules>"
    return "" if words == shown or not (rules or shown) else words


def _page(done: str, rules: Rules | None, asked: Inbound) -> str:
    language, parts = asked.sender.language, [done]
    if rules:
        quoted = "\n".join(f"> {line}" for line in rules.text.splitlines())
        parts += [say("rules_here", language, who=rules.name or rules.by), quoted]
    elif not done:
        parts.append(say("rules_none", language))
    return "\n\n".join(filter(None, (*parts, say("rules_how", language, slash=slash(asked.place)))))
