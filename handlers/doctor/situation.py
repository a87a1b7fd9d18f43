"""Where the bot is meant to run, told by its settings."""

from msgspec import Struct

from handlers.settings import Settings


class Situation(Struct, frozen=True):
    """``url`` is the public address without a slash at its end, "" where it is not known, and for one of several bots
    with its name; ``path`` is what the addresses of such a one begin with, as in "/lola"; ``deployed`` that it was
    found as a stack on AWS. ``now`` is this machine's time in Unix seconds."""

    by_webhook: bool
    url: str
    path: str
    deployed: bool
    now: float


def situation(settings: Settings, url: str, *, deployed: bool, now: float) -> Situation:
    """A bot of webhooks has an address, a queue or a webhook's secret; any other one polls (``kabar run``). Slack's
    signing secret tells nothing: who uses Socket Mode may have it too."""
    signs = (url, deployed, settings.kabar_queue_url, settings.telegram_webhook_secret)
    path = f"/{settings.kabar_bot}" if settings.kabar_bot else ""
    return Situation(any(signs), f"{url.rstrip('/')}{path}" if url else "", path, deployed, now)
