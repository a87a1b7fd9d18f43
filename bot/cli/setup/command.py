"""``kabar setup``: asks what can not be found out, tries each answer as it is typed, and keeps it at once."""

import asyncio
import shlex
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from bot.cli.language import LANGUAGES, terminal_language
from bot.cli.setup.env_file import EnvFile
from bot.cli.setup.keeper import Keeper
from bot.cli.setup.owner import greet, settle_owner
from bot.cli.setup.steps import Platforms, Way, deliver, platforms
from bot.cli.setup.talk import Talk
from bot.cli.setup.terminal import Terminal
from bot.cli.setup.texts import say
from bot.cli.setup.wrong import Wrong
from bot.errors import ConfigError
from handlers.settings import SECRETS

FILE = Path(".env")
STOPPED = 130
"""As after Ctrl-C."""
LANGUAGE_QUESTION = "Language / Bahasa"
PARAMETERS = {
    "KABAR_OWNER": "Owner",
    "KABAR_PROVIDER": "Provider",
    "KABAR_MODEL": "Model",
    "ANTHROPIC_BASE_URL": "AnthropicBaseUrl",
}
"""Answers that are no secrets -> the parameters of infra/template.yaml that carry them."""


class Wanted(Struct, frozen=True):
    """``language`` is "" where the terminal's counts; ``path`` is SSM's, of ``aws``; ``url`` the public address, "" for
    none; ``check``: nothing is asked and nothing changed."""

    language: str = ""
    aws: bool = False
    path: str = "/kabar/prod"
    url: str = ""
    check: bool = False


async def setup(wanted: Wanted, environment: Mapping[str, str], terminal: Terminal) -> int:
    """The exit code: 1 where ``check`` finds something missing. ``environment`` is the process's own. Raises
    ConfigError where it can not go on."""
    usual = terminal_language(environment)
    language = wanted.language or usual
    if not wanted.check and not terminal.has_person:
        raise ConfigError(say("no_person", language or "en"))
    language = language or ("en" if wanted.check else "")
    try:
        with nullcontext() if wanted.check else terminal.quiet():
            language = language or await _chosen_language(terminal)
            way = Way(aws=wanted.aws, url=address(wanted.url))
            talk = Talk(terminal, language, await _keeper(wanted, environment))
            if wanted.check:
                from bot.cli.setup.checked import checked

                return await checked(talk, way)
            await _guided(talk, way, "" if language == (usual or "en") else f" --language {language}")
    except Wrong as wrong:
        raise ConfigError(say(wrong.text, language, **wrong.values)) from wrong
    except EOFError:
        _tell_stopped(terminal, language)
        return STOPPED
    except asyncio.CancelledError:
        _tell_stopped(terminal, language)
        raise
    return 0


def _tell_stopped(terminal: Terminal, language: str) -> None:
    terminal.show("")
    terminal.say(say("stopped", language or "en"))


async def _chosen_language(terminal: Terminal) -> str:
    terminal.show("  1  English\n  2  Bahasa Indonesia")
    while True:
        answer = await terminal.ask(f"{LANGUAGE_QUESTION} [1]")
        if answer in ("", "1", "2"):
            return LANGUAGES[int(answer or 1) - 1]


def address(url: str) -> str:
    """A public address without its last slash; "" stays so. Raises Wrong."""
    parts = urlsplit(url)
    if url and (parts.scheme not in ("https", "http") or not parts.hostname or parts.path.strip("/") or parts.query):
        raise Wrong("url_form", url=url)
    return url.rstrip("/")


async def _keeper(wanted: Wanted, environment: Mapping[str, str]) -> Keeper:
    """Raises Wrong where it can not be read."""
    if not wanted.aws:
        return EnvFile(FILE, environment)
    kept_there = {*SECRETS, "KABAR_OWNER"}
    values = {name: value for name, value in environment.items() if name not in kept_there}
    from bot.cli.setup.parameters import parameters

    keeper = parameters(environment.get("AWS_ENDPOINT_URL", ""), wanted.path.rstrip("/"), values)
    await keeper.read()
    return keeper


async def _guided(talk: Talk, way: Way, in_language: str) -> None:
    """``in_language`` has a command speak the person's language where the terminal would not, "" where it does."""
    talk.say("hello_aws" if way.aws else "hello_here", where=talk.keeper.where)
    talk.pause()
    found = await platforms(talk, way)
    talk.pause()
    from bot.cli.setup.thinking import settle_model  # the model's SDK takes a second, and nothing was asked yet

    thinks = await settle_model(talk, demo=not way.by_webhook)
    talk.pause()
    owner = await settle_owner(talk, found)
    await deliver(talk, way, found)
    await greet(talk, owner)
    _tell_what_next(talk, way, found, in_language, thinks=thinks)


def _tell_what_next(talk: Talk, way: Way, found: Platforms, in_language: str, *, thinks: bool) -> None:
    talk.pause()
    if not thinks:
        talk.say("done_demo")
    talk.say("done_aws" if way.aws else "done_here")
    for line in _to_start(talk, way, thinks=thinks):
        talk.terminal.show(f"  {line}")
    if way.aws and found.slack and not way.url:
        talk.say("done_slack")
        talk.terminal.show("  kabar manifest --url <address>")
    talk.say("done_look")
    look = "kabar doctor --stack <name>" if way.aws else f"kabar doctor{f' --url {way.url}' if way.url else ''}"
    talk.terminal.show(f"  {look}{in_language}")


def _to_start(talk: Talk, way: Way, *, thinks: bool) -> list[str]:
    if not way.aws:
        return ["kabar serve" if way.url else f"kabar run{'' if thinks else ' --demo'}"]
    chosen = {"SecretsPath": talk.keeper.where}
    chosen |= {parameter: talk.value(name) for name, parameter in PARAMETERS.items() if talk.value(name)}
    overrides = " ".join(f"{name}={shlex.quote(value)}" for name, value in chosen.items())
    return [
        "sam build --template infra/template.yaml",
        f"sam deploy --guided --parameter-overrides {overrides}",
    ]
