"""What can go wrong, by who has to act.

    KabarError
    ├── Retry                     the queue: nothing was lost, the same wake will do it later
    │   ├── StoreUnavailable        the database or the queue did not answer
    │   ├── NewerSchema             a newer Kabar wrote what is stored: it is left as it is for that one
    │   └── LeaseLost               another worker owns this conversation now: stop at once, write nothing
    ├── ModelError                the agent loop: repeat, shorten or give up
    │   ├── ModelUnavailable        overloaded, rate limited, cut or unreachable; may carry retry_after
    │   ├── PromptTooLong           the window must shrink
    │   └── ModelRefusedRequest     a fault of ours or of the account; repeating does not help
    ├── SendError                 the delivery: what the platform did with one call
    │   ├── SendLater               flood control; nothing was done; carries retry_after
    │   ├── SendUncertain           cut between the platform and us: it may have arrived
    │   ├── SendRefused             this message can not be shown as it is (markup, length)
    │   ├── MessageGone             the message to edit is no longer there
    │   ├── ChatMoved               the group became a supergroup; carries its new chat id
    │   ├── TokenGone               the platform takes our token no more: the owner must store another; nothing was done
    │   └── ChatClosed              blocked, kicked, deleted: nothing can ever be sent here
    ├── FileRefused               the answer: this attachment can not be had or read; says why
    ├── BudgetExceeded            whoever wanted to spend: a limit would be passed, nothing was stored
    └── ConfigError               the owner: says what is missing and what to do

A tool's failure is none of these: it is a result that the model reads.
"""

from bot.messages import Spend


class KabarError(Exception):
    pass


class Retry(KabarError):
    pass


class StoreUnavailable(Retry):
    pass


class NewerSchema(Retry):
    pass


class LeaseLost(Retry):
    pass


class ModelError(KabarError):
    pass


class ModelUnavailable(ModelError):
    """``retry_after`` is the provider's own wish in seconds, None where it has none."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class PromptTooLong(ModelError):
    pass


class ModelRefusedRequest(ModelError):
    pass


class SendError(KabarError):
    pass


class SendLater(SendError):
    """``retry_after`` is in seconds. No call to that chat may be made before it has passed."""

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class SendUncertain(SendError):
    pass


class SendRefused(SendError):
    pass


class MessageGone(SendError):
    pass


class ChatMoved(SendError):
    """``chat`` is the new chat id, as text."""

    def __init__(self, message: str, chat: str) -> None:
        super().__init__(message)
        self.chat = chat


class TokenGone(SendError):
    pass


class ChatClosed(SendError):
    pass


class FileRefused(KabarError):
    """The message says it to the model, in one plain English sentence with the limit or the missing right in it."""


class BudgetExceeded(KabarError):
    """``spend`` is what did not fit."""

    def __init__(self, spend: Spend) -> None:
        super().__init__(f"{spend.counter.scope} may not go above {spend.limit} in {spend.counter.period}.")
        self.spend = spend


class ConfigError(KabarError):
    pass
