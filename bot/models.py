"""What models cost and can do, as data with its date.

Prices are US dollars for a million tokens. A model that is not listed, such as one of your own, costs nothing that we
know of and is taken to do the least: settings say otherwise where it does more. Source: for Claude and DeepSeek their
makers' own pages on models, pricing, caching and the Messages API; for the others pages about them.
"""

from collections.abc import Collection

from msgspec import Struct
from msgspec.structs import replace

from bot.messages import Usage, prompt_tokens

PRICES_OF = "2026-11-30"

WRITE_SHORT, WRITE_LONG = 1.25, 2.0
"""What writing to the cache for five minutes or an hour costs, in fresh tokens."""

SEARCH = 10_000
"""Millionths of a dollar for one web search that the provider runs. Code that it runs costs nothing in a request that
offers its search, and ours all do; else it would be 0.05 dollars for each hour of a container beyond 1,550 a month."""


class ModelFacts(Struct, frozen=True):
    """``context`` and ``output`` are in tokens. ``price_in`` and ``price_out`` hold for prompts up to ``tier`` tokens,
    ``tier_in`` and ``tier_out`` above. ``read`` is the price of a cached token in fresh ones, ``cached_from`` the
    shortest prefix that is cached.

    The rest are FEATURES, what a request may hold: ``tools``, and ``tool_choice`` to forbid them in one call; cache
    marks (``caching``); ``strict`` tools; ``thinking`` sent back; ``images`` and documents; ``server_tools``, which the
    provider runs, with ``code_execution`` among them; ``compaction`` blocks; ``diagnostics``, the provider's word on
    what its cache missed. ``shaping`` leaves out or replaces what a model does not take.
    """

    context: int = 32_000
    output: int = 4_096
    price_in: float = 0.0
    price_out: float = 0.0
    tier: int = 0
    tier_in: float = 0.0
    tier_out: float = 0.0
    read: float = 0.1
    cached_from: int = 1_024
    tools: bool = True
    tool_choice: bool = False
    caching: bool = False
    strict: bool = False
    thinking: bool = False
    images: bool = False
    server_tools: bool = False
    code_execution: bool = False
    compaction: bool = False
    diagnostics: bool = False

    @property
    def runs_code(self) -> bool:
        """Whether the provider runs code for it."""
        return self.server_tools and self.code_execution


FEATURES = tuple(
    name
    for name, default in zip(ModelFacts.__struct_fields__, ModelFacts.__struct_defaults__, strict=True)
    if isinstance(default, bool)
)

_CLAUDE = ModelFacts(
    context=1_000_000,
    output=128_000,
    cached_from=512,
    tool_choice=True,
    caching=True,
    strict=True,
    thinking=True,
    images=True,
    server_tools=True,
    code_execution=True,
    compaction=True,
    diagnostics=True,
)


def _claude(price_in: float, price_out: float, **more: float) -> ModelFacts:
    return replace(_CLAUDE, price_in=price_in, price_out=price_out, **more)


MODELS = {
    "claude-fable-5-1": _claude(10, 50, read=0.025),
    "claude-opus-5-5": _claude(4, 20, read=0.05),
    "claude-sonnet-5-5": _claude(2, 10, read=0.05),
    "claude-haiku-5-5": _claude(0.10, 0.50, tier=100_000, tier_in=0.50, tier_out=2.50),
}


# Others that speak the Messages API. All of them cache by themselves, so marks would say nothing; what their pages do
# not say they take is not sent. DeepSeek's prices (October 2026) are those of its peak hours, twice the others.
MODELS |= {
    "deepseek-flash": ModelFacts(
        context=1_000_000,
        output=384_000,
        price_in=0.30,
        price_out=1.20,
        read=0.02,
        tool_choice=True,
        thinking=True,
        images=True,
    ),
    "deepseek-v4-pro": ModelFacts(
        context=1_000_000,
        output=384_000,
        price_in=1.32,
        price_out=3.96,
        read=1 / 30,
        tool_choice=True,
        thinking=True,
    ),
    "glm-5.3": ModelFacts(context=1_000_000, output=128_000, price_in=1.40, price_out=4.40, read=0.26 / 1.40),
    "kimi-k3": ModelFacts(context=1_048_576, output=131_072, price_in=3.0, price_out=15.0, images=True),
}


def facts_of(model: str) -> ModelFacts:
    """What we know of a model by its name; a provider's prefix ("anthropic.", "us.anthropic.") does not matter."""
    return MODELS.get(model.rpartition("anthropic.")[2].partition("@")[0], ModelFacts())


def on_bedrock(facts: ModelFacts) -> ModelFacts:
    """What is left of a model on Amazon Bedrock: no tools of the provider's, no compaction on demand, no word on cache
    misses, and strict tools with some models only, so with none."""
    return replace(facts, server_tools=False, code_execution=False, compaction=False, strict=False, diagnostics=False)


def with_features(facts: ModelFacts, names: Collection[str]) -> ModelFacts:
    """The same model with these of FEATURES and no others."""
    return replace(facts, **{name: name in names for name in FEATURES})


def is_priced(model: str) -> bool:
    """Whether we know what it costs."""
    return facts_of(model).price_out > 0


def cost(model: str, usage: Usage) -> int:
    """What a call cost, in millionths of a dollar, rounded up: whole numbers add up the same everywhere."""
    facts = facts_of(model)
    above = facts.tier and prompt_tokens(usage) > facts.tier
    price_in, price_out = (facts.tier_in, facts.tier_out) if above else (facts.price_in, facts.price_out)
    weighed = (
        usage.fresh
        + usage.cache_write * WRITE_SHORT
        + usage.cache_write_long * WRITE_LONG
        + usage.cache_read * facts.read
    )
    return -int(-(weighed * price_in + usage.output * price_out) // 1) + usage.searches * SEARCH
