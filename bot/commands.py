"""What people ask of the bot itself, answered without the model."""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from bot.messages import Button, ChatSettings, File, Inbound, Meanwhile, Person, Place
from bot.reminding import changes_list, is_page
from bot.settings_page import buttons as settings_buttons
from bot.settings_page import page as settings_page
from bot.settings_page import setting_of
from bot.texts import say

MENU = (
    *("new", "stop", "retry", "undo", "settings", "language", "model", "usage", "context", "compact", "memory"),
    *("instructions", "remind", "approvals", "link", "status", "export", "forget", "help"),
)
"""The commands that are offered, in this order; their sentences are texts named ``menu_…``."""

APPROVALS = ("approvals", "approve-list", "approve_list")
"""Names that ask for what waits for somebody's word: asked again where something does (bot/approvals.py)."""
OTHERS = ("start", "reset", "meanwhile", "reminders")
NAMES = frozenset({*MENU, *OTHERS, *APPROVALS, "unlink", "allow", "disallow", "appoint", "doctor"})
"""All that are ours."""

MEMBERS = frozenset(
    {"new", "reset", "settings", "language", "model", "meanwhile", "compact", "memory", "export", "forget", "unremind"}
)
"""What changes a group for everybody in it, or hands out all that was said there."""

ABOUT_ME = ("me", "saya", "aku")
"""What ``/forget`` may name: who asks, not the conversation."""

Page = Literal["", "usage", "context", "memory", "instructions", "status", "export", "reminders", "doorstep", "doctor"]
LATER = ("context", "doctor")
"""The pages that the turn itself fills, when it runs."""


class Told(Struct, frozen=True):
    """Our own answer.

    ``fresh``: nothing said so far is shown to the model again; ``forget``: nor kept. ``settings`` are fields of the
    chat's that change. ``button``: the text, by its name, of a button that does the turn again; ``buttons`` are others.
    ``page`` is what the text is yet to be made of: it shows what only the store knows, or what the turn itself finds
    out (LATER). ``files`` are sent with it; ``quiet``: only who asked sees it; ``spoken_of``: the model too.
    """

    text: str
    fresh: bool = False
    forget: bool = False
    settings: dict[str, str | bool | None] = {}
    button: str = ""
    buttons: tuple[Button, ...] = ()
    page: Page = ""
    files: tuple[File, ...] = ()
    quiet: bool = False
    spoken_of: bool = False


class Here(Struct, frozen=True):
    """What a command's answer depends on. ``models`` are those that may be chosen, the usual one first; ``now`` is in
    Unix seconds. ``prompts`` are commands of others, with what each is for."""

    settings: ChatSettings = ChatSettings()
    models: Sequence[str] = ()
    now: float = 0.0
    prompts: Mapping[str, str] = {}


def slash(place: Place) -> str:
    """What people type there before the name of a command: Slack refuses every slash command that no app registered,
    and in threads all of them."""
    if place.platform != "slack":
        return "/"
    return "!" if place.thread else "/kabar "


def as_words(inbound: Inbound, others: Collection[str] = ()) -> Inbound:
    """What was typed behind a slash command: its first word is a command only where there is one of that name, of ours
    or one of the ``others``."""
    known = inbound.command in NAMES or inbound.command in others
    if not (inbound.quiet and inbound.command and inbound.kind == "message") or known:
        return inbound
    return replace(inbound, command="", text=f"{inbound.command} {inbound.text}".strip())


def answer(inbound: Inbound, here: Here) -> Told | None:
    """The answer to a command of ours; None where it is none: then the model reads it like any text."""
    language = inbound.sender.language
    if is_for_members(inbound):
        return Told(say("members_only", language), quiet=True)
    match inbound.command:
        case "start":
            return Told(say("start", language, slash=slash(inbound.place)))
        case "help":
            return Told(help_page(inbound, here.prompts))
        case "new" | "reset":
            return Told(say("new", language), fresh=True)
        case "meanwhile":
            return _meanwhile(inbound, here)
        case "settings":
            return Told(settings_page(inbound, here.settings, here.models), buttons=_settings(inbound, here))
        case "language":
            return _language(inbound, here)
        case "model":
            return _model(inbound, here)
        case "context" | "compact":
            return Told("", page="context")
        case "doctor":
            return _doctor(inbound)
        case "usage" | "memory" | "instructions" | "status" | "export" as page:
            return Told("", page=page)
        case "remind" if not is_page(inbound):
            return None
        case "remind" | "reminders" | "unremind":
            return Told("", page="reminders")
        case name if name in APPROVALS:
            return Told(_approvals(inbound, here))
        case "link" | "unlink" | "allow" | "disallow" | "appoint":
            return Told("", page="doorstep")
        case "forget":
            return _forget(inbound)
        case "stop":
            return Told(say("nothing_to_stop", language))
    return None


def is_for_members(inbound: Inbound) -> bool:
    """Whether a guest of a group wants what only members may do there. In a chat of their own they may do it all."""
    if not inbound.place.group or inbound.sender.role != "guest" or _is_about_me(inbound):
        return False
    return inbound.command in MEMBERS or (inbound.command in ("remind", "reminders") and changes_list(inbound))


def help_page(inbound: Inbound, prompts: Mapping[str, str]) -> str:
    reader = inbound.sender
    language = reader.language
    owners = [("doctor", say("menu_doctor", language))] if reader.role == "owner" else []
    before = slash(inbound.place)
    lines = (f"{before}{name} – {description}" for name, description in (*menu(language), *owners, *prompts.items()))
    sentences = [say("help", language), "\n".join(lines)]
    if inbound.place.platform == "slack" and not inbound.place.thread:
        sentences.append(say("help_threads", language))
    return "\n\n".join(sentences)


def menu(language: str) -> list[tuple[str, str]]:
    """Names and descriptions, for a platform's own menu."""
    return [(name, say(f"menu_{name}", language)) for name in MENU]


def _doctor(inbound: Inbound) -> Told:
    """Names of settings, accounts and faults are for nobody but the owner, in nobody else's sight."""
    language = inbound.sender.language
    if inbound.sender.role != "owner":
        return Told(say("owner_only", language), quiet=True)
    if inbound.place.group:
        return Told(say("private_only", language))
    return Told("", page="doctor")


def _settings(inbound: Inbound, here: Here) -> tuple[Button, ...]:
    return settings_buttons(inbound, here.settings, here.models, here.now)


def _choices_of(setting: str, inbound: Inbound, here: Here) -> tuple[Button, ...]:
    return tuple(button for button in _settings(inbound, here) if setting_of(button) == setting)


def _meanwhile(inbound: Inbound, here: Here) -> Told:
    language = inbound.sender.language
    for choice in get_args(Meanwhile):
        if inbound.text.strip().lower() == choice:
            return Told(say(f"meanwhile_{choice}", language), settings={"meanwhile": choice})
    return Told(say("meanwhile", language), buttons=_choices_of("meanwhile", inbound, here))


def _approvals(inbound: Inbound, here: Here) -> str:
    """Whatever waits holds its conversation up, so here nothing does; what need not ask for a while is told."""
    language = inbound.sender.language
    tools = ", ".join(allowed(inbound.sender, here.settings, here.now))
    return say("approvals_allowed", language, tools=tools) if tools else say("approvals_none", language)


def allowed(person: Person, settings: ChatSettings, now: float) -> list[str]:
    """The tools that need not ask this person here for now."""
    words = (key.rpartition(" ") for key, until in settings.allowed.items() if until > now)
    return [tool for whose, _, tool in words if whose == person.id]


LANGUAGES = {"en": "en", "english": "en", "inggris": "en", "id": "id", "indonesia": "id", "indonesian": "id"}


def _language(inbound: Inbound, here: Here) -> Told:
    """With a name it is set, without one buttons offer both."""
    chosen = LANGUAGES.get(inbound.text.strip().lower().removeprefix("bahasa ").strip())
    if chosen:
        return Told(say("language_set", chosen), settings={"language": chosen})
    return Told(say("language", inbound.sender.language), buttons=_choices_of("language", inbound, here))


def _model(inbound: Inbound, here: Here) -> Told:
    language, wanted = inbound.sender.language, inbound.text.strip()
    if wanted in here.models:
        return Told(say("model_set", language, model=wanted), settings={"model": wanted})
    known = ", ".join(f"`{model}`" for model in here.models)
    current = here.settings.model if here.settings.model in here.models else next(iter(here.models), "?")
    values = {"model": f"`{current}`", "models": known, "slash": slash(inbound.place)}
    text = say("model_unknown" if wanted else "model", language, **values)
    return Told(text, buttons=_choices_of("model", inbound, here))


def _is_about_me(inbound: Inbound) -> bool:
    return inbound.command == "forget" and inbound.text.strip().lower().partition(" ")[0] in ABOUT_ME


def _forget(inbound: Inbound) -> Told:
    """Asks first: it can not be undone."""
    language, about_me, before = inbound.sender.language, _is_about_me(inbound), slash(inbound.place)
    if inbound.text.lower().split()[int(about_me) :] in (["yes"], ["ya"]):
        return Told("", page="doorstep") if about_me else Told(say("forgotten", language, slash=before), forget=True)
    if about_me:
        yes = Button(say("forget_me_yes", language), "do:forget me yes")
        return Told(say("forget_me", language, slash=before), buttons=(yes,))
    return Told(say("forget", language), buttons=(Button(say("forget_yes", language), "do:forget"),))
