"""Prompts of servers as commands: ``/<server>_<prompt> words`` is what the person says, in the prompt's words."""

import asyncio
from collections.abc import Collection, Sequence

from msgspec.structs import replace

from bot.mcp.configured import Server
from bot.mcp.naming import command_names
from bot.mcp.port import Offered, PromptOffer, Reach, Refused, Unreachable
from bot.messages import Inbound
from bot.texts import say
from bot.web.words import harmless

LONGEST = 30_000
"""Characters of a prompt."""
PATIENCE = 20.0
"""Seconds for one, at most: until it is there no turn has begun that could be stopped."""


class PromptFailed(Exception):
    """What the person is told instead. ``again``: it may work in a moment."""

    def __init__(self, told: str, *, again: bool = False) -> None:
        super().__init__(told)
        self.again = again


class Prompts:
    """``commands`` are their names with what each is for."""

    def __init__(
        self, offered: Sequence[tuple[Server, Offered]] = (), remote: Reach | None = None, taken: Collection[str] = ()
    ) -> None:
        self._remote = remote
        prompts = [(server, prompt) for server, its in offered for prompt in its.prompts]
        names = command_names([(server.name, prompt.name) for server, prompt in prompts], taken)
        self._prompts = {names[server.name, prompt.name]: (server, prompt) for server, prompt in prompts}

    @property
    def commands(self) -> dict[str, str]:
        return {name: _about(prompt) for name, (_, prompt) in sorted(self._prompts.items())}

    def named(self, inbound: Inbound) -> tuple[Server, PromptOffer] | None:
        """The one that a message asks for, None where it is no such command, or a guest's."""
        is_theirs = inbound.kind == "message" and inbound.sender.role != "guest"
        return self._prompts.get(inbound.command) if is_theirs else None

    async def said(self, inbound: Inbound) -> Inbound:
        """The same message where it asks for none. Raises PromptFailed."""
        found = self.named(inbound)
        if found is None or self._remote is None:
            return inbound
        server, prompt = found
        language = inbound.sender.language
        arguments = _arguments(prompt, inbound.text)
        if any(each.required and not arguments.get(each.name) for each in prompt.parameters):
            wanted = " ".join(f"<{each.name}>" if each.required else f"[{each.name}]" for each in prompt.parameters)
            raise PromptFailed(say("prompt_needs", language, usage=f"/{inbound.command} {wanted}"))
        try:
            async with asyncio.timeout(min(server.seconds, PATIENCE)):
                words = await self._remote().prompt(server, prompt.name, arguments)
        except (Unreachable, TimeoutError) as why:
            raise PromptFailed(say("prompt_unreachable", language, server=server.name), again=True) from why
        except Refused as why:
            raise PromptFailed(say("prompt_refused", language, server=server.name, why=str(why)[:300])) from why
        return replace(inbound, command="", text=harmless(words)[:LONGEST], prompted=True)


NO_PROMPTS = Prompts()


def _about(prompt: PromptOffer) -> str:
    return " ".join(harmless(prompt.description or prompt.name).split())[:100]


def _arguments(prompt: PromptOffer, text: str) -> dict[str, str]:
    """A word for each parameter in their order; the last one takes the rest."""
    names = [each.name for each in prompt.parameters]
    words = text.split(None, len(names) - 1) if names else []
    return dict(zip(names, (word.strip() for word in words), strict=False))
