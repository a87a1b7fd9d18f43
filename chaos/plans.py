"""Every plan by its name, and how to make it afresh."""

from collections.abc import Callable

from chaos import faults
from chaos.kills import ContinuedKills, Kills, SubagentKills
from chaos.plan import Plan

FAULTS: tuple[type[faults.Faults], ...] = (
    faults.Webhooks,
    faults.Wakes,
    faults.Store,
    faults.TelegramFlood,
    faults.SlackFlood,
    faults.Sends,
    faults.Model,
    faults.Clock,
)
KILLS: dict[str, Callable[[int | None], Plan]] = {
    "telegram:kill": lambda most: Kills("telegram", most),
    "slack:kill": lambda most: Kills("slack", most),
    "telegram:subagents": lambda most: SubagentKills("telegram", most),
    "telegram:continued": lambda most: ContinuedKills("telegram", most),
}
NAMES = ("wakes", *KILLS, *(plan.name for plan in FAULTS if plan is not faults.Wakes))
"""In the order in which they should begin: what takes longest to recover comes first."""


def make(name: str, most: int | None = None) -> Plan:
    """``most``: points of a plan of kills, all of them where None."""
    if name in KILLS:
        return KILLS[name](most)
    return next(plan for plan in FAULTS if plan.name == name)()
