"""What is wrong with an answer or a place to keep it, in the person's language once it is told."""

import re

from handlers.doctor.kinds import kind_of


class Wrong(Exception):
    """``text`` names a sentence of ``texts``, ``values`` are what it says; no secret is among them."""

    def __init__(self, text: str, /, **values: str) -> None:
        super().__init__(text)
        self.text = text
        self.values = values


def expect(token: str, kind: str) -> None:
    """Raises Wrong for spaces, or where the token is of another kind than this; one that is of none may pass."""
    if re.search(r"\s", token):
        raise Wrong("spaces")
    if not token.isascii() or not token.isprintable():
        raise Wrong("characters")
    found = kind_of(token)
    if found not in ("", kind):
        raise Wrong(f"is_{found}")
