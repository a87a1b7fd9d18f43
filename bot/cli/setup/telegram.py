"""Telegram: the token tried, the person who is to own the bot heard, the bot's first words, the webhook.

Source: core.telegram.org/bots/api#getme, #getwebhookinfo, #getupdates, #setwebhook, core.telegram.org/bots/features.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec import Struct
from telegram import Bot
from telegram.error import BadRequest, Conflict, Forbidden, InvalidToken, NetworkError, TelegramError

from bot.channels.telegram.parse import KINDS, Me, parse
from bot.channels.telegram.poll import pending
from bot.channels.telegram.send import FloodControl, telegram_bot
from bot.cli.setup.code import is_code
from bot.cli.setup.wrong import Unfit, Wrong, expect
from bot.messages import Person
from bot.ports import Clock
from handlers.doctor.kinds import TELEGRAM, kind_of
from handlers.doctor.telegram import PATH

PAUSE = 1.0
"""Seconds between two looks while messages of others wait, and after Telegram was not reached."""
MOST = 100
"""Updates that Telegram shows at once."""


class Account(Struct, frozen=True):
    """``username`` is without "@"; ``webhook`` the address that is set, "" for none."""

    id: int
    username: str
    webhook: str = ""

    @property
    def title(self) -> str:
        return f"Telegram: @{self.username}"

    def link(self, code: str) -> str:
        """Opens the chat with the bot; its Start button sends the code."""
        return f"https://t.me/{self.username}?start={code}"


@asynccontextmanager
async def speaking(token: str, base_url: str) -> AsyncIterator[Bot]:
    """Raises Wrong for what Telegram refuses of what is done inside."""
    if kind_of(token) != TELEGRAM:  # checked here: the SDK's own word for it would quote the token
        raise Unfit("telegram_form")
    bot = telegram_bot(token, base_url)
    try:
        yield bot
    except InvalidToken as error:
        raise Unfit("telegram_unknown") from error
    except FloodControl as error:
        raise Wrong("telegram_flood", seconds=f"{error.retry_after:.0f}") from error
    except (BadRequest, Forbidden, Conflict) as error:
        raise Wrong("telegram_refuses", why=error.message) from error
    except NetworkError as error:
        raise Wrong("telegram_away", error=type(error).__name__) from error
    except TelegramError as error:
        raise Wrong("telegram_refuses", why=error.message) from error
    finally:
        await bot.request.shutdown()


async def account(token: str, base_url: str) -> Account:
    """Whose token it is. Raises Wrong."""
    expect(token, TELEGRAM)
    async with speaking(token, base_url) as bot:
        me, webhook = await bot.get_me(), await bot.get_webhook_info()
    return Account(me.id, me.username or "", webhook.url)


async def sender_of(code: str, token: str, base_url: str, me: Account, clock: Clock) -> Person:
    """Whoever sends the bot this code in a private chat. Updates are looked at and not confirmed, so what others wrote
    meanwhile is still there for the bot. Raises Wrong where they can not be looked at."""
    async with speaking(token, base_url) as bot:
        while True:
            try:
                updates = await pending(bot)
            except Conflict as error:
                raise Wrong("telegram_taken") from error
            except InvalidToken:
                raise
            except TelegramError as error:
                updates = []
                await clock.sleep(error.retry_after if isinstance(error, FloodControl) else PAUSE)
            for update in updates:
                inbound = parse(update, Me(me.id, me.username))
                if inbound is not None and is_code(inbound, code):
                    if update is updates[0]:  # else older ones would be gone with it
                        await pending(bot, after=update["update_id"], wait=0)
                    return inbound.sender
            if len(updates) >= MOST:
                raise Wrong("telegram_full", count=str(MOST))
            if updates:
                await clock.sleep(PAUSE)


async def greet(person: str, words: str, token: str, base_url: str) -> None:
    """Write to this person, ``telegram:42``. Raises Wrong."""
    async with speaking(token, base_url) as bot:
        try:
            await bot.send_message(int(person.rpartition(":")[2]), words)
        except (BadRequest, Forbidden) as error:
            raise Wrong("telegram_closed") from error


async def free_from_webhook(token: str, base_url: str) -> None:
    """What Telegram could not deliver yet stays, for whoever polls. Raises Wrong."""
    async with speaking(token, base_url) as bot:
        await bot.delete_webhook()


async def deliver_to(url: str, secret: str, token: str, base_url: str) -> None:
    """Have Telegram deliver to the bot at this public address. Raises Wrong."""
    async with speaking(token, base_url) as bot:
        await bot.set_webhook(f"{url}{PATH}", allowed_updates=KINDS, secret_token=secret)
