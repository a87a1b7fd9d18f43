"""The dead-letter function: wakes that failed too often. The person hears one plain sentence with a way to go on.

What they sent is not lost: it stays in the record, and the Retry button under the sentence does exactly that again.
"""

from typing import Any

from bot.turn import Outcome, Turns
from handlers.loop import run
from handlers.watching import watched
from handlers.worker import batch_response, environment_worker


@watched
def handler(event: Any, context: Any) -> dict[str, Any]:
    """Lambda's entry point, for SQS FIFO events of the dead-letter queue with ReportBatchItemFailures."""
    return batch_response(run(environment_worker().each(event["Records"], _give_up, hide=False)))


async def _give_up(turns: Turns, conversation: str) -> Outcome:
    return await turns.give_up(conversation)
