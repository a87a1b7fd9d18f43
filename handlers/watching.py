"""How a function on AWS is watched: its log, and the metrics in it."""

from bot import logs
from handlers.settings import Settings


def begin_watching(settings: Settings) -> None:
    """At an execution environment's first event."""
    content = settings.kabar_log_content == "on"
    logs.set_up(settings.kabar_log_level, as_json=True, stack=settings.kabar_metrics, content=content)
