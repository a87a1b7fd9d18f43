"""What is to go wrong. The kinds are in ``kills`` and ``faults``."""

from collections.abc import Awaitable, Callable, Sequence

from chaos.conversation import Conversation
from chaos.inside import Jump
from chaos.observer import Exchange

Hold = Callable[[Conversation], Awaitable[None]]
"""Has a conversation from its first question until everything is at rest."""


class Plan:
    """By itself, nothing goes wrong."""

    name = ""
    at_once = 12
    """Workers that run at the same time."""
    fresh = False
    """Whether each invocation gets a process of its own."""
    seconds = 900.0
    """How long an invocation of the worker may take: what infra/template.yaml gives it."""
    sweep_every = 0.0
    """Seconds between two sweeps for lost wakes; 0 for none."""

    async def conversations(self, hold: Hold) -> Sequence[Conversation]:
        """What is to be tried. ``hold`` is for those that must come first."""
        raise NotImplementedError

    async def meet(self, exchange: Exchange) -> None:
        """Decide what becomes of one request of a process of the bot."""
        await exchange.pass_on()

    def deliveries(self) -> Sequence[float]:
        """When the webhook is given a request, in seconds after it came; the platform hears the first answer."""
        return (0.0,)

    def handovers(self, conversation: Conversation) -> Sequence[float]:
        """When a worker is given a wake, in seconds after it was received. Never: the wake is lost."""
        return (0.0,)

    def jump(self, conversation: Conversation) -> Jump | None:
        """What is wrong with the clock of the worker that is started for this conversation now."""
        return None
