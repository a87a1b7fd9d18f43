"""The step in which it is settled who thinks: Claude with a key, Claude on Bedrock, another server, or nobody yet."""

from collections.abc import Mapping

from bot.cli.setup.model import models_there, thinker
from bot.cli.setup.talk import Talk
from bot.cli.setup.wrong import Wrong, expect
from bot.models import MODELS
from handlers.doctor.kinds import ANTHROPIC, kind_of
from handlers.settings import Settings, lacks_key, provider

PROFILES = {"eu": "eu", "us": "us", "ap": "apac"}
"""Where a region's name begins so -> how its inference profiles do; "global" elsewhere."""
SERVER = "http://127.0.0.1:8080"
AS_AT_FIRST = {"KABAR_PROVIDER": "", "ANTHROPIC_BASE_URL": "", "KABAR_MODEL": ""}
"""What undoes an earlier choice of another provider."""
OTHER_NAME = frozenset({"model_name", "model_access"})
"""What another model may mend."""


async def settle_model(talk: Talk, *, demo: bool) -> bool:
    """Whether somebody thinks; False for the demo model, which can be chosen where ``demo`` says so."""
    if not lacks_key(talk.settings()):
        try:
            found = await thinker(talk.settings())
        except Wrong as wrong:
            talk.wrong(wrong)
        else:
            if await talk.keeps(found):
                return True
    talk.say("model_how")
    while True:
        key = await talk.terminal.ask_unseen(talk.text("anthropic_key"))
        settled = await (_by_key(talk, key) if key else _otherwise(talk, demo=demo))
        if settled is not None:
            return settled


# Each returns None where it came to nothing, which was told.


async def _by_key(talk: Talk, key: str) -> bool | None:
    try:
        expect(key, ANTHROPIC)
    except Wrong as wrong:
        talk.wrong(wrong)
        return None
    undone = {} if provider(talk.settings()) == "anthropic" else AS_AT_FIRST
    return await _settled(talk, {**undone, "ANTHROPIC_API_KEY": key})


async def _otherwise(talk: Talk, *, demo: bool) -> bool | None:
    names = ["others_key", "others_bedrock", "others_server", *(["others_demo"] if demo else [])]
    options = [talk.text(name) for name in names]
    match names[await talk.choose(talk.text("model_others"), options, 1)]:
        case "others_bedrock":
            return await _by_bedrock(talk)
        case "others_server":
            return await _by_server(talk)
        case "others_demo":
            if not lacks_key(talk.settings()):
                await talk.keep({**AS_AT_FIRST, "ANTHROPIC_API_KEY": ""})
            talk.good(talk.text("demo"))
            return False
    return None


async def _by_bedrock(talk: Talk) -> bool | None:
    known = talk.value("AWS_REGION") or _region()
    region = known or await _asked(talk, "bedrock_region")
    named = talk.value("KABAR_MODEL")
    profile = f"{PROFILES.get(region.partition('-')[0], 'global')}.anthropic.{Settings().kabar_model}"
    usual = named if "anthropic." in named else profile
    model = await talk.terminal.ask(talk.text("bedrock_model", default=usual)) or usual
    chosen = {"KABAR_PROVIDER": "bedrock", "KABAR_MODEL": model}
    return await _settled(talk, chosen if known else {**chosen, "AWS_REGION": region})


def _region() -> str:
    """Of this machine's AWS profile, "" where it has none."""
    import boto3
    from botocore.exceptions import ProfileNotFound

    try:
        return boto3.Session().region_name or ""
    except ProfileNotFound:
        return ""


async def _by_server(talk: Talk) -> bool | None:
    address = await _address(talk)
    key = await talk.terminal.ask_unseen(talk.text("server_key"))
    try:
        expect(key, kind_of(key))
    except Wrong as wrong:
        talk.wrong(wrong)
        return None
    values = {"KABAR_PROVIDER": "messages", "ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": key}
    names = await models_there(talk.settings(**values))
    model = await _one_of(talk, names) or await _asked(talk, "server_model")
    settled = await _settled(talk, {**values, "KABAR_MODEL": model})
    if settled and talk.value("KABAR_MODEL") not in MODELS:
        talk.say("server_features")
    return settled


async def _address(talk: Talk) -> str:
    """Without the path that the client adds."""
    usual = SERVER if provider(talk.settings()) == "anthropic" else talk.settings().anthropic_base_url
    while True:
        address = await talk.terminal.ask(talk.text("server_address", default=usual)) or usual
        if address.startswith(("http://", "https://")):
            return address.rstrip("/").removesuffix("/messages").removesuffix("/v1")
        talk.say("server_no_address")


async def _asked(talk: Talk, question: str) -> str:
    """An answer that can not be left out."""
    while True:
        if answer := await talk.terminal.ask(talk.text(question)):
            return answer


async def _settled(talk: Talk, values: Mapping[str, str]) -> bool | None:
    """Keep these values if a model answers with them; another one of the provider's may be chosen instead."""
    settings = talk.settings(**values)
    try:
        found = await thinker(settings)
    except Wrong as wrong:
        talk.wrong(wrong)
        model = await _another(talk, settings) if wrong.text in OTHER_NAME else ""
        return await _settled(talk, {**values, "KABAR_MODEL": model}) if model else None
    await talk.keep(values)
    talk.good(found.title)
    return True


async def _another(talk: Talk, settings: Settings) -> str:
    """ "" where there is none, or the provider does not tell."""
    names = await models_there(settings) if provider(settings) != "bedrock" else []
    others = [name for name in names if name != settings.kabar_model]
    return others[await talk.choose(talk.text("model_choose"), others)] if others else ""


async def _one_of(talk: Talk, names: list[str]) -> str:
    """Asked only where there are several; "" where there is none."""
    if len(names) < 2:
        return names[0] if names else ""
    return names[await talk.choose(talk.text("model_choose"), names)]
