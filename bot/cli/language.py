"""Which language whoever sits at a terminal reads, as the terminal itself tells."""

from collections.abc import Mapping

LANGUAGES = ("en", "id")
_SPOKEN = {"en": "en", "id": "id", "in": "id"}
"""How a locale begins -> its language; "in" is what Indonesian was called once."""
_LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")


def terminal_language(environment: Mapping[str, str]) -> str:
    """One of LANGUAGES, "" where the terminal says none that is spoken here."""
    locale = next((environment[name] for name in _LOCALE if environment.get(name)), "")
    return _SPOKEN.get(locale[:2].lower(), "") if locale[2:3] in ("", "_", ".", "-") else ""
