"""Answers of ours that are made of what only the store knows: usage, memory, status, an export."""

import json
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from bot import memory as memories
from bot import reminding
from bot.budget import Budget
from bot.commands import Told, slash
from bot.doorstep import Doorstep
from bot.files import Files
from bot.history import hidden_turns
from bot.memory import Memory
from bot.messages import Asked, Entry, Head, Inbound
from bot.people import People
from bot.ports import Blobs, Clock, Store
from bot.reminding import Reminders
from bot.rules import ChatRules
from bot.texts import say
from bot.usage import number, page, rows


class Pages:
    """``about`` says what runs here, such as the version and the usual model."""

    def __init__(
        self,
        store: Store,
        blobs: Blobs,
        doorstep: Doorstep,
        reminders: Reminders,
        budget: Budget,
        clock: Clock,
        people: People,
        about: str = "Kabar",
    ) -> None:
        self._store = store
        self.reminders = reminders
        self.doorstep = doorstep
        self._budget = budget
        self._clock = clock
        self._about = about
        self.blobs = blobs
        self.memory = Memory(store)
        self.rules = ChatRules(store, people, clock)

    async def filled(self, told: Told, asked: Inbound, head: Head, window: Sequence[Entry]) -> Told:
        """The answer with its page, if it has one."""
        match told.page:
            case "usage":
                return replace(told, text=await self._usage(asked, window))
            case "memory":
                return replace(told, text=await memories.page(asked, self.memory))
            case "instructions":
                return replace(told, text=await self.rules.page(asked))
            case "reminders":
                text, buttons = await reminding.page(asked, self.reminders, self._clock.now())
                return replace(told, text=text, buttons=buttons)
            case "status":
                return replace(told, text=self._status(asked, head, window))
            case "doorstep":
                return replace(told, text=await self._at_the_door(asked))
            case "export":
                return await self._export(told, asked, head)
        return told

    async def _at_the_door(self, asked: Inbound) -> str:
        match asked.command:
            case "link":
                return await self.doorstep.link(asked)
            case "forget":
                return await self.doorstep.forget(asked)
            case "unlink":
                return await self.doorstep.unlink(asked)
            case "allow" | "disallow":
                return await self.doorstep.open_to_chat(asked, asked.command == "allow")
        if asked.sender.role != "owner":
            return say("owner_only", asked.sender.language)
        person, _, role = asked.text.strip().partition(" ")
        done = await self.doorstep.appoint(person, role.strip(), asked.sender.language) if person else None
        return done or say("appoint_how", asked.sender.language, slash=slash(asked.place))

    async def _usage(self, asked: Inbound, window: Sequence[Entry]) -> str:
        about = rows(asked, self._budget, self._clock.now(), everybody=asked.sender.role == "owner")
        spent = await self._store.spent([counter for row in about for counter in row.counters])
        return page(about, spent, window, asked.sender.language)

    def _status(self, asked: Inbound, head: Head, window: Sequence[Entry]) -> str:
        language = asked.sender.language
        hidden = hidden_turns(window)
        turns = sum(isinstance(entry, Asked) and entry.turn not in hidden for entry in window)
        role = say(f"role_{asked.sender.role}", language)
        lines = (
            f"- {self._about}",
            f"- {say('status_model', language)}: {head.settings.model or say('status_usual', language)}",
            f"- {say('status_turns', language)}: {number(turns)}",
            f"- {say('status_you', language)}: {asked.sender.name or '?'} ({asked.sender.id}), {role}",
        )
        return "\n\n".join((say("status", language), "\n".join(lines)))

    async def _export(self, told: Told, asked: Inbound, head: Head) -> Told:
        """All that is kept of the conversation, as one JSON file."""
        record = await self._store.record(head.conversation, 1)
        entries = msgspec.to_builtins([{"number": each.seq, "entry": each.entry} for each in record])
        content = {"conversation": head.conversation, "settings": msgspec.to_builtins(head.settings), "record": entries}
        data = json.dumps(content, ensure_ascii=False, indent=1).encode()
        file = await Files(self.blobs, head.conversation).keep("kabar-export.json", data, "application/json")
        return replace(told, text=say("exported", asked.sender.language, entries=number(len(record))), files=(file,))
