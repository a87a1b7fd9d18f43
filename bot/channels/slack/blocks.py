"""A message as Block Kit, for what Markdown alone can not show: buttons, and steps at work. Pure.

Source: docs.slack.dev/reference/block-kit/blocks.
"""

from itertools import groupby

from bot.messages import Button, Json, Task
from bot.ports import Rendered

FALLBACK = 3_000
"""Characters of a message's text where only notifications show it."""
LABEL_LIMIT = 75
ROW_LIMIT = 25
VOTE = "vote:"
"""How the data of a button begins that says what somebody thinks of an answer."""
MOST_TASKS = 10
TASK_LIMIT = 150
"""Characters of a step's title, so that ten of them leave room for the longest text."""
SIGNS = {"running": "…", "done": "✓", "failed": "✗"}


def content(part: Rendered) -> Json:
    """``markdown_text`` can not stand beside blocks, so a message with buttons is blocks of the same Markdown."""
    if not part.buttons and not part.tasks:
        return {"markdown_text": part.text}
    return replacing(part)


def replacing(part: Rendered) -> Json:
    """The same for an edit, always as blocks: those of a message stay where an edit names none."""
    steps = _steps(part.tasks)
    words: list[Json] = [{"type": "markdown", "text": part.text}] if part.text.strip() else []
    context: list[Json] = [{"type": "context", "elements": [_plain(step) for step in steps]}] if steps else []
    blocks = [*context, *words, *button_blocks(part.buttons)]
    return {"blocks": blocks, "text": (part.text.strip() or "\n".join(steps))[:FALLBACK]}


def button_blocks(buttons: tuple[Button, ...]) -> list[Json]:
    """One block for each row of buttons, then the two thumbs, where there are two."""
    votes = [button for button in buttons if button.data.startswith(VOTE)]
    thumbs = votes if len(votes) == 2 else []
    others = sorted((button for button in buttons if button not in thumbs), key=lambda button: button.row)
    rows = [list(row)[:ROW_LIMIT] for _, row in groupby(others, lambda button: button.row)]
    blocks: list[Json] = [
        {"type": "actions", "elements": [_button(button, number) for number, button in enumerate(row)]} for row in rows
    ]
    return [*blocks, _feedback(*thumbs)] if thumbs else blocks


def _button(button: Button, number: int) -> Json:
    """An action_id stands only once in a block, and two buttons may begin with the same word."""
    return {
        "type": "button",
        "text": _plain(button.label[:LABEL_LIMIT]),
        "value": button.data,
        "action_id": f"{button.data.partition(':')[0]}.{number}",
    }


def _feedback(good: Button, bad: Button) -> Json:
    buttons = {
        name: {"text": _plain(button.label[:LABEL_LIMIT]), "value": button.data}
        for name, button in (("positive_button", good), ("negative_button", bad))
    }
    return {
        "type": "context_actions",
        "elements": [{"type": "feedback_buttons", "action_id": "vote", **buttons}],
    }


def _steps(tasks: tuple[Task, ...]) -> list[str]:
    """The newest steps, a line each, where the message is no stream, which shows them in its own way."""
    return [f"{SIGNS[task.state]} {shortened(task.title, TASK_LIMIT)}" for task in tasks[-MOST_TASKS:]]


def shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}
