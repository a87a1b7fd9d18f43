"""What kind of token somebody pasted, told by its form: the commonest mistake is the right paste in the wrong place."""

import re

from bot.cli.setup.wrong import Wrong

TELEGRAM, BOT, APP, ANTHROPIC = "telegram", "slack_bot", "slack_app", "anthropic"

FORMS = (
    (TELEGRAM, re.compile(r"\d{6,}:[A-Za-z0-9_-]{30,}")),
    (BOT, re.compile(r"xoxb-\S+")),
    (APP, re.compile(r"xapp-\S+")),
    ("slack_user", re.compile(r"xox[pe][.-]\S+")),
    ("anthropic_admin", re.compile(r"sk-ant-admin\S+")),
    (ANTHROPIC, re.compile(r"sk-ant-\S+")),
    ("openai", re.compile(r"sk-\S+")),
    ("aws", re.compile(r"A[KS]IA[A-Z0-9]{16}")),
)


def kind_of(token: str) -> str:
    """ "" for a form that is nobody's in particular."""
    return next((kind for kind, form in FORMS if form.fullmatch(token)), "")


def expect(token: str, kind: str) -> None:
    """Raises Wrong for spaces, or where the token is of another kind than this; one that is of none may pass."""
    if re.search(r"\s", token):
        raise Wrong("spaces")
    if not token.isascii() or not token.isprintable():
        raise Wrong("characters")
    found = kind_of(token)
    if found not in ("", kind):
        raise Wrong(f"is_{found}")
