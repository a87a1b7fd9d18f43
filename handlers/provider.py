"""Which models there are to think with, and how they are reached: the only room that makes their clients."""

from anthropic import AsyncAnthropic
from msgspec.structs import replace

from bot.adapters.anthropic_files import AnthropicFiles
from bot.adapters.anthropic_model import PATIENT, TIMEOUT, AnthropicModel, Client, client
from bot.errors import ConfigError
from bot.models import ModelFacts, facts_of, on_bedrock, with_features
from bot.ports import ProviderFiles
from handlers.settings import Settings, features, lacks_key, provider, runs_code_there

NO_KEY = "none"
"""A server of one's own need not want a key, but the client sends one."""


class Provider:
    """The models of one provider, over one pool of connections. Raises ConfigError naming what is missing.

    Made inside the running event loop: its client belongs to it.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._kind = provider(settings)
        self._client = _client(self._kind, settings)

    def model(self, name: str) -> AnthropicModel:
        return AnthropicModel(self._client, name, self.facts(name))

    def facts(self, name: str) -> ModelFacts:
        """What we know of a model, as it is here. What the settings say of a model is said of the main one."""
        facts = facts_of(name)
        if self._kind == "bedrock":
            facts = on_bedrock(facts)
        if self._kind == "messages":  # whose server it is nobody knows, whatever the model is called
            facts = replace(facts, server_tools=False)
        if name == self._settings.kabar_model and self._settings.kabar_model_features:
            facts = with_features(facts, features(self._settings.kabar_model_features))
        if name == self._settings.kabar_model and self._settings.kabar_model_context:
            facts = replace(facts, context=self._settings.kabar_model_context)
        return facts if runs_code_there(self._settings) else replace(facts, code_execution=False)

    def files(self) -> ProviderFiles | None:
        """What the provider keeps for the code it runs, None where it runs none."""
        runs_code = self.facts(self._settings.kabar_model).runs_code
        return AnthropicFiles(self._client) if runs_code and isinstance(self._client, AsyncAnthropic) else None

    async def close(self) -> None:
        await self._client.close()


def load_client() -> None:
    """Load what a first call would load, by a client that calls nobody: its parts come when they are asked for."""
    _ = client(NO_KEY, Settings().anthropic_base_url).messages


def _client(kind: str, settings: Settings) -> Client:
    if kind == "bedrock":
        from bot.adapters.anthropic_bedrock import bedrock_client

        return bedrock_client(settings.aws_region, settings.anthropic_bedrock_base_url, TIMEOUT)
    if lacks_key(settings):
        raise ConfigError("Set ANTHROPIC_API_KEY, or try the bot without one: make run.")
    if kind == "anthropic":
        return client(settings.anthropic_api_key, settings.anthropic_base_url)
    return client(settings.anthropic_api_key or NO_KEY, settings.anthropic_base_url, PATIENT)
