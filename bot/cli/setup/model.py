"""Who thinks: what a provider says to a key, and which models it has."""

from anthropic import AnthropicError
from msgspec import Struct

from bot.adapters.anthropic_model import client
from bot.cli.setup.wrong import Wrong
from bot.errors import ConfigError, ModelError
from handlers.doctor.model import ASKED, status_of, trouble
from handlers.provider import NO_KEY, Provider
from handlers.settings import Settings, provider

MOST = 20
"""Models that are offered by name."""
SECONDS = 10
"""To name them."""


class Thinker(Struct, frozen=True):
    model: str
    provider: str

    @property
    def title(self) -> str:
        return f"{self.model} ({self.provider})"


async def thinker(settings: Settings) -> Thinker:
    """Have the model say a word, the least that proves it answers: some twenty tokens. Raises Wrong."""
    try:
        source = Provider(settings)
    except ConfigError as error:
        raise Wrong("model_no_region" if provider(settings) == "bedrock" else "model_no_key") from error
    try:
        await source.model(settings.kabar_model).reply(ASKED, lambda _: None)
    except ModelError as fault:
        text = _bedrock_s(fault) if provider(settings) == "bedrock" else f"model_{trouble(fault)}"
        why, status = _said(fault, settings.anthropic_api_key), str(status_of(fault))
        raise Wrong(text, model=settings.kabar_model, status=status, why=why) from fault
    finally:
        await source.close()
    return Thinker(settings.kabar_model, provider(settings))


async def models_there(settings: Settings) -> list[str]:
    """The names that a server of the Messages API offers, newest first; none where it does not tell."""
    key = settings.anthropic_api_key or NO_KEY
    async with client(key, settings.anthropic_base_url) as server:
        try:
            page = await server.models.list(limit=MOST, timeout=SECONDS)
        except AnthropicError:
            return []
    return [model.id for model in page.data]


def _bedrock_s(fault: ModelError) -> str:
    """AWS refuses credentials and rights with the same status."""
    match trouble(fault):
        case "access" if "security token" in str(fault).lower():
            return "bedrock_key"
        case "access":
            return "bedrock_access"
        case "away":
            return "bedrock_away"
        case other:
            return f"model_{other}"


def _said(fault: ModelError, key: str) -> str:
    """A server of somebody's own may quote the key it refuses."""
    return str(fault).replace(key, "…") if key else str(fault)
