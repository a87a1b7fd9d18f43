"""What kind of token a text is, told by its form: the commonest mistake is the right paste in the wrong place."""

import re

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
TITLES = {
    TELEGRAM: "a Telegram token",
    BOT: "Slack's bot token (xoxb-)",
    APP: "Slack's app-level token (xapp-)",
    "slack_user": "a Slack token of a person, or for configuration (xoxp-, xoxe-)",
    "anthropic_admin": "an Anthropic admin key, which may not talk to models",
    ANTHROPIC: "an Anthropic key",
    "openai": "not Anthropic's key, which begins with sk-ant-",
    "aws": "an AWS access key",
}


def kind_of(token: str) -> str:
    """ "" for a form that is nobody's in particular."""
    return next((kind for kind, form in FORMS if form.fullmatch(token)), "")


def another(token: str, kind: str) -> str:
    """The title of what it is instead of this kind; "" where it is of this kind, or may be."""
    found = kind_of(token)
    return "" if found in ("", kind) else TITLES[found]
