"""A deployed stack answers: the parts of the template fit together, and no permission is missing."""

import pytest

from simulator import slack, telegram
from simulator.app import Simulator, serve, slack_base_url, telegram_base_url
from simulator.deliver import QUICK
from simulator.script import call, scripted, text
from simulator.world import Message
from tests.emulator import running_emulator
from tests.packages.conftest import Packages
from tests.packages.libraries import this_target
from tests.packages.stack import deploy

pytestmark = [pytest.mark.packages, pytest.mark.timeout(240)]

SECRETS = {
    "TELEGRAM_BOT_TOKEN": telegram.TOKEN,
    "TELEGRAM_WEBHOOK_SECRET": telegram.SECRET,
    "SLACK_BOT_TOKEN": slack.BOT_TOKEN,
    "SLACK_SIGNING_SECRET": slack.SIGNING_SECRET,
    "ANTHROPIC_API_KEY": "of-no-account",
}
WAIT = 90.0
"""Seconds for the first answer: both functions start for it, on a machine that runs other tests too."""


async def test_a_deployed_stack_answers_in_telegram_and_in_slack_with_no_more_rights_than_it_has(
    packages: Packages,
) -> None:
    simulator = Simulator(pace=QUICK)
    script = (call("calculator", {"expression": "6*7"}), text("It is **42**."), text("Hello from Slack."))
    arch = this_target().arch
    with running_emulator(AUTH="true") as emulator, emulator.account() as account:
        for name, value in SECRETS.items():
            account.client("ssm").put_parameter(Name=f"/kabar/prod/{name}", Value=value, Type="SecureString")
        async with scripted(*script, smallest_prefix=0) as model, serve(simulator) as simulator_url:
            url = await deploy(
                account,
                {
                    "WebhookFunction": packages("webhook", arch).path,
                    "WorkerFunction": packages("worker", arch).path,
                    "DeadLetterFunction": packages("deadletter", arch).path,
                },
                {
                    "AllowedUsers": "*",
                    "Arch": arch,
                    "TelegramApiBaseUrl": telegram_base_url(simulator_url),
                    "SlackApiBaseUrl": slack_base_url(simulator_url),
                    "AnthropicBaseUrl": model.url,
                    "AwsEndpointUrl": emulator.endpoint,
                },
            )
            simulator.connect(url)

            await simulator.telegram.say("1001", "ann", "What is 6*7?")
            await simulator.telegram.wait_for(lambda seen: seen.is_bot and seen.text == "It is 42.", WAIT)
            await simulator.slack.say("D0ANN", "ann", "hello")
            await simulator.slack.wait_for(lambda seen: seen.is_bot and "Hello from Slack." in _shown(seen), WAIT)


def _shown(message: Message) -> str:
    return message.markdown_text or message.text
