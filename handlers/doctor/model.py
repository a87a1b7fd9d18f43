"""Whether each model that may answer does: the least that proves it is to have it say a word."""

import asyncio
from collections.abc import Sequence

from anthropic import APIStatusError

from bot.errors import ConfigError, ModelError, ModelUnavailable
from bot.examining import Check, green, red, yellow
from bot.ports import Prompt
from handlers.provider import Provider
from handlers.settings import Settings, lacks_key, models, provider

ASKED = Prompt(
    system=[],
    tools=[],
    messages=[{"role": "user", "content": [{"type": "text", "text": "Say: ok"}]}],
    max_tokens=16,
)
"""Some twenty tokens in all. The list of models, which costs nothing, does not tell whether the account has money."""


async def examine(settings: Settings) -> Sequence[Check]:
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


def _judged(name: str, model: str, fault: ModelError, settings: Settings) -> Check:
    status = fault.__cause__.status_code if isinstance(fault.__cause__, APIStatusError) else 0
    words = str(fault).lower()
    if status == 401:
        return red(name, "The provider refuses the key.", _keys_next(settings))
    if status == 404:
        said = "KABAR_MODEL, KABAR_MODELS, KABAR_SUMMARY_MODEL or KABAR_CHEAPER_MODEL"
        return red(name, f"The provider knows no model {model}.", f"Correct the name in {said}.")
    if status == 402 or "credit balance" in words or "billing" in words or "spend" in words:
        return red(
            name, "The account has no money left for it.", "Add credit or raise the limit in the provider's console."
        )
    if status == 403:
        return red(name, "The key may not use this model.", "Have the provider's console give the key access to it.")
    if status == 429 or (isinstance(fault, ModelUnavailable) and status):
        return yellow(name, f"It is busy at the moment (HTTP {status}).", "Run kabar doctor again in a minute.")
    if isinstance(fault, ModelUnavailable):
        return red(name, f"It can not be reached: {fault}.", f"Look at {_address_name(settings)} and at the network.")
    return red(name, f"It refuses a plain question (HTTP {status}).", "Correct KABAR_MODEL or KABAR_MODEL_FEATURES.")


def _keys_next(settings: Settings) -> str:
    if provider(settings) == "bedrock":
        return "Set AWS_REGION and credentials that may call bedrock:InvokeModelWithResponseStream."
    return "Set ANTHROPIC_API_KEY to a key from the provider's console, without spaces around it."


def _address_name(settings: Settings) -> str:
    return "ANTHROPIC_BEDROCK_BASE_URL" if provider(settings) == "bedrock" else "ANTHROPIC_BASE_URL"
