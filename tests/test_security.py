"""What `make security` counts, for what is quick: no way round an approval, no way through the webhook."""

import pytest

from benchmarks.security_approvals import ATTACKS, Attack, gets_through
from benchmarks.security_webhooks import passed


@pytest.mark.parametrize("attack", ATTACKS, ids=[attack.name for attack in ATTACKS])
async def test_only_her_own_word_sends_what_was_shown_once(attack: Attack) -> None:
    assert not await gets_through(attack)


async def test_what_no_platform_sent_is_refused_and_what_comes_again_counts_once() -> None:
    assert not any(await passed())
