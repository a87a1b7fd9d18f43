"""Whether each model that may answer does: the least that proves it is to have it say a word."""

import asyncio
from collections.abc import Sequence
from typing import Literal

from anthropic import APIStatusError

from bot.errors import ConfigError, ModelError, ModelUnavailable
from bot.examining import Check, green, red, yellow
from bot.ports import Prompt
from handlers.doctor.kinds import ANTHROPIC, another
from handlers.provider import Provider
from handlers.settings import Settings, lacks_key, models, provider

Trouble = Literal["key", "name", "money", "access", "busy", "away", "refused"]

ASKED = Prompt(
    system=[],
    tools=[],
    messages=[{"role": "user", "content": [{"type": "text", "text": "Say: ok"}]}],
    max_tokens=16,
)
"""Some twenty tokens in all. The list of models, which costs nothing, does not tell whether the account has money."""


async def examine(settings: Settings) -> Sequence[Check]:
    if provider(settings) == "anthropic" and (is_what := another(settings.anthropic_api_key, ANTHROPIC)):
        return [red("model", f"ANTHROPIC_API_KEY is {is_what}.", _keys_next(settings))]
    try:
        source = Provider(settings)
    except ConfigError as error:
        says = "It has no key." if lacks_key(settings) else f"It can not be asked: {error}"
        return [red("model", says, _keys_next(settings))]
    more = (settings.kabar_summary_model, settings.kabar_cheaper_model)
    names = dict.fromkeys(name for name in (*models(settings), *more) if name)
    try:
        return await asyncio.gather(*(_tried(source, name, settings) for name in names))
    finally:
        await source.close()


async def _tried(source: Provider, model: str, settings: Settings) -> Check:
    name = f"model {model}"
    try:
        await source.model(model).reply(ASKED, lambda _: None)
    except ModelError as fault:
        return _judged(name, model, fault, settings)
    return green(name, f"It answers, through {provider(settings)}.")


def trouble(fault: ModelError) -> Trouble:
    """Why a model did not say its word: the key is refused, the name unknown, no money left, no access, busy, away, or
    the request refused."""
    status, words = status_of(fault), str(fault).lower()
    if status == 401:
        return "key"
    if status == 404:
        return "name"
    if status == 402 or "credit balance" in words or "billing" in words or "spend" in words:
        return "money"
    if status == 403:
        return "access"
    if status == 429 or (isinstance(fault, ModelUnavailable) and status):
        return "busy"
    return "away" if isinstance(fault, ModelUnavailable) else "refused"


def status_of(fault: ModelError) -> int:
    """HTTP's, 0 where no answer came."""
    return fault.__cause__.status_code if isinstance(fault.__cause__, APIStatusError) else 0


def _judged(name: str, model: str, fault: ModelError, settings: Settings) -> Check:
    match trouble(fault):
        case "key":
            return red(name, "The provider refuses the key.", _keys_next(settings))
        case "name":
            said = "KABAR_MODEL, KABAR_MODELS, KABAR_SUMMARY_MODEL or KABAR_CHEAPER_MODEL"
            return red(name, f"The provider knows no model {model}.", f"Correct the name in {said}.")
        case "money":
            do = "Add credit or raise the limit in the provider's console."
            return red(name, "The account has no money left for it.", do)
        case "access":
            do = "Have the provider's console give the key access to it."
            return red(name, "The key may not use this model.", do)
        case "busy":
            says = f"It is busy at the moment (HTTP {status_of(fault)})."
            return yellow(name, says, "Run kabar doctor again in a minute.")
        case "away":
            do = f"Look at {_address_name(settings)} and at the network."
            return red(name, f"It can not be reached: {fault}.", do)
    says = f"It refuses a plain question (HTTP {status_of(fault)})."
    return red(name, says, "Correct KABAR_MODEL or KABAR_MODEL_FEATURES.")


def _keys_next(settings: Settings) -> str:
    if provider(settings) == "bedrock":
        return "Set AWS_REGION and credentials that may call bedrock:InvokeModelWithResponseStream."
    return "Set ANTHROPIC_API_KEY to a key from the provider's console, without spaces around it."


def _address_name(settings: Settings) -> str:
    return "ANTHROPIC_BEDROCK_BASE_URL" if provider(settings) == "bedrock" else "ANTHROPIC_BASE_URL"
