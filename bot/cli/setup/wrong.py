"""What is wrong with an answer or a place to keep it, in the person's language once it is told."""

import re

from handlers.doctor.kinds import kind_of


class Wrong(Exception):
    """``text`` names a sentence of ``texts``, ``values`` are what it says; no secret is among them."""

    def __init__(self, text: str, /, **values: str) -> None:
        super().__init__(text)
        self.text = text
        self.values = values


class Unfit(Wrong):
    """What the same answer would be again, however often it is tried: of another kind or form, or known to nobody."""


def expect(token: str, kind: str) -> None:
    """Raises Unfit for spaces, or where the token is of another kind than this; one that is of none may pass."""
    if re.search(r"\s", token):
        raise Unfit("spaces")
    if not token.isascii() or not token.isprintable():
        raise Unfit("characters")
    found = kind_of(token)
    if found not in ("", kind):
        raise Unfit(f"is_{found}")
