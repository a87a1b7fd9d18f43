"""What every seal guarantees: over AWS's key service (a local emulator, real boto3), and over an owner's secret."""

import pytest

from bot.adapters.key_seal import KeySeal
from bot.adapters.kms_seal import KmsSeal
from bot.errors import ConfigError, StoreUnavailable
from bot.ports import Seal
from tests.channels.canned import unreachable
from tests.emulator import Account

TOKENS = b'{"access": "xoxb-1", "renewal": "xoxe-1"}'


@pytest.fixture(params=["kms", "secret"])
def seal(request: pytest.FixtureRequest) -> Seal:
    if request.param == "secret":
        return KeySeal("a" * 32)
    aws: Account = request.getfixturevalue("aws")
    client = aws.client("kms")
    key = client.create_key()["KeyMetadata"]["Arn"]
    return KmsSeal(lambda: client, key)


async def test_what_was_sealed_is_opened_as_it_was_and_shows_nothing_meanwhile(seal: Seal) -> None:
    sealed = await seal.close("slack:T1", TOKENS)
    assert await seal.open("slack:T1", sealed) == TOKENS
    assert b"xox" not in sealed
    assert await seal.close("slack:T1", TOKENS) != sealed


async def test_what_is_about_another_workspace_is_not_opened(seal: Seal) -> None:
    sealed = await seal.close("slack:T1", TOKENS)
    with pytest.raises(ConfigError):
        await seal.open("slack:T2", sealed)


async def test_what_was_changed_or_sealed_with_another_secret_is_not_opened() -> None:
    """AWS's own service refuses the same; its emulator does not."""
    seal = KeySeal("a" * 32)
    sealed = await seal.close("slack:T1", TOKENS)
    for broken in (sealed[:-1] + bytes([sealed[-1] ^ 1]), b"", b"short"):
        with pytest.raises(ConfigError):
            await seal.open("slack:T1", broken)
    with pytest.raises(ConfigError, match="SLACK_STATE_SECRET"):
        await KeySeal("b" * 32).open("slack:T1", sealed)


async def test_a_key_that_is_not_there_is_told_to_the_owner(aws: Account) -> None:
    client = aws.client("kms")
    with pytest.raises(ConfigError, match="KABAR_SEAL_KEY"):
        await KmsSeal(lambda: client, "alias/nobody-s").close("slack:T1", TOKENS)


async def test_a_key_service_that_can_not_be_reached_is_an_outage(aws: Account) -> None:
    client = aws.client("kms", endpoint=unreachable())
    with pytest.raises(StoreUnavailable):
        await KmsSeal(lambda: client, "alias/kabar").close("slack:T1", TOKENS)
