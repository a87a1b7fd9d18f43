"""The web search that the provider of the model runs itself. Pure.

Its calls and results come inside the reply and are sent back as they came: ``bot/blocks.py`` keeps a pair whole and its
encrypted content untouched, ``bot/shaping.py`` leaves both out for a model that has no such tools, ``bot/models.py``
counts each search into the bill.
"""

from bot.messages import Json
from bot.models import ModelFacts

MOST_SEARCHES = 5
"""In one model call, each costs a cent."""


def server_tools(facts: ModelFacts) -> list[Json]:
    """Tools of the provider's for a model with these facts; the same bytes every time.

    ``direct``: the model calls it itself. The tool's other way, from code it runs with the provider, needs a container
    to go on in, and its results would reach us in part. No domains are allowed or blocked, and no place is told: both
    would have to be the same for everybody who shares the prompt.
    """
    if not facts.server_tools:
        return []
    return [
        {
            "type": "web_search_20260318",
            "name": "web_search",
            "max_uses": MOST_SEARCHES,
            "allowed_callers": ["direct"],
        }
    ]
