"""The tools that the provider of the model runs itself: its web search, and code in a container of its own. Pure.

Their calls and results come inside the reply and are sent back as they came: ``bot/blocks.py`` keeps a pair whole and
what is encrypted in it untouched, ``bot/shaping.py`` leaves a tool out for a model that has none, together with what
belongs to it. Files go into the container by the tool ``upload_files``; those that come out are fetched by
``bot/produced.py``. ``bot/models.py`` counts each search into the bill.
"""

from collections.abc import Callable, Sequence
from itertools import takewhile

from bot.messages import Json
from bot.models import ModelFacts

MOST_SEARCHES = 5
"""In one model call, each costs a cent."""
CODE = "code_execution"
TWINS = {CODE: "run_python"}
"""By the provider's tool, the one of ours that does the same elsewhere under another name: a model is offered one of
the two."""
WITH = {"upload_files": CODE}
"""By a tool of ours, the one of the provider's without which it is of no use."""


def server_tools(facts: ModelFacts) -> list[Json]:
    """Tools of the provider's for a model with these facts; the same bytes every time.

    ``direct``: the model searches itself. The search's other way, from code that it runs with the provider, would reach
    us in part. No domains are allowed or blocked, and no place is told: both would have to be the same for everybody
    who shares the prompt.
    """
    if not facts.server_tools:
        return []
    search = {
        "type": "web_search_20260318",
        "name": "web_search",
        "max_uses": MOST_SEARCHES,
        "allowed_callers": ["direct"],
    }
    return [search, {"type": "code_execution_20260521", "name": CODE}] if facts.runs_code else [search]


def permitted(tools: Sequence[Json], may_use: Callable[[str], bool]) -> list[Json]:
    """Those of ``server_tools`` that may be used, by their names. They run without a word from us, so whoever may not
    use one must not be offered it; and code not without the search, beside which it is free."""
    return list(takewhile(lambda tool: may_use(tool["name"]), tools))
