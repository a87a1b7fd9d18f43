"""``make deploy-check``: the whole way of a deployment, on this machine. Prints JSON; exit code 1 where a check fails.

    sam build ──> sam deploy ──> talk in Telegram and Slack ──> sam deploy again ──> talk on ──> sam delete ──> look

AWS is the emulator, which enforces every role; the functions run under AWS's own runtime client; both platforms and the
model are the simulator's. What is not as on AWS stands in tests/packages/stack.py and docs/deploy.md.
"""

import asyncio
import json
import platform
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bot.channels.telegram.parse import KINDS
from bot.commands import menu
from scripts.deploy_check.account import everything, failures, log_lines, resources
from scripts.deploy_check.queue import EventSource, consuming
from scripts.deploy_check.report import Report
from scripts.deploy_check.sam import STACK, Sam
from scripts.deploy_check.talk import Recorded, Talk
from scripts.deploy_check.watch import Watch
from simulator import slack, telegram
from simulator.app import Simulator, serve, slack_base_url, telegram_base_url
from simulator.deliver import Pace
from simulator.model import DEMO_FEATURES, DEMO_MODEL, ModelServer
from simulator.serving import serve as serve_app
from tests.emulator import Account, running_emulator
from tests.packages.libraries import this_target
from tests.packages.stack import function_url, http_let_in, outputs_of, wearing
from tests.packages.template import read_template

SECRETS = {
    "TELEGRAM_BOT_TOKEN": telegram.TOKEN,
    "SLACK_BOT_TOKEN": slack.BOT_TOKEN,
    "SLACK_SIGNING_SECRET": slack.SIGNING_SECRET,
    "ANTHROPIC_API_KEY": "of-no-account",
}
"""What an owner stores. The webhook's secret is for the registrar to make."""
PATH = "/kabar/prod"
CHANGED = "kabar-demo-changed"
"""Another name for the demo model: what the update changes."""
PACE = Pace(telegram_delays=(1, 1, 2, 5), slack_delays=(1, 2, 4))


class Rehearsal:
    def __init__(self, account: Account, sam: Sam, report: Report) -> None:
        self._account = account
        self._sam = sam
        self._report = report
        self._brain = Recorded()
        self._model = ModelServer(self._brain)
        self._simulator = Simulator(pace=PACE, model=self._model.app)
        self._talk = Talk(self._simulator, self._brain, report)
        self._watch = Watch(account.endpoint)

    async def play(self) -> None:
        report = self._report
        with report.phase("build"):
            await self._sam.build()
        async with serve(self._simulator) as url, serve_app(self._watch) as aws:
            parameters = self._parameters(url, aws)
            with report.phase("deploy"):
                self._store_secrets()
                await self._sam.deploy(parameters)
                self._look_at_what_was_told()
            made = resources(self._account, STACK)
            await self._talk_over_an_update(made, parameters)
            self._look_at_logs(made)
            with report.phase("delete"):
                await self._sam.delete()
                self._look_at_what_is_left(made)
            report.same("nothing was denied", self._watch.denied, [])

    async def close(self) -> None:
        await self._watch.close()

    async def _talk_over_an_update(self, made: Mapping[str, str], parameters: Mapping[str, str]) -> None:
        report, webhook = self._report, self._simulator.webhook
        address, secret = webhook.url, webhook.secret
        source = self._event_source(made)
        self._simulator.connect(function_url(self._account), telegram_secret=secret)
        with http_let_in(self._account):
            async with consuming(source):
                with report.phase("talk"):
                    await self._talk.begin()
                with report.phase("update"):
                    await self._sam.deploy({**parameters, "Model": CHANGED})
                    self._look_at_what_stayed(made)
                with report.phase("talk on"):
                    await self._talk.go_on(CHANGED)
                    await self._talk.remind()
            self._look_at_files(made["Files"])
        report.same("no invocation failed", source.failed, [])
        webhook.set(address, secret)  # as Telegram knows it, no longer as this machine finds it

    def _store_secrets(self) -> None:
        for name, value in SECRETS.items():
            self._account.client("ssm").put_parameter(Name=f"{PATH}/{name}", Value=value, Type="SecureString")

    def _parameters(self, url: str, aws: str) -> dict[str, str]:
        return {
            "AllowedUsers": "*",
            "Model": DEMO_MODEL,
            "ModelFeatures": DEMO_FEATURES,
            "Python": "own",
            "MessagesPerMinute": "0",
            "TelegramApiBaseUrl": telegram_base_url(url),
            "SlackApiBaseUrl": slack_base_url(url),
            "AnthropicBaseUrl": f"{url}/model",
            "AwsEndpointUrl": aws,
        }

    def _event_source(self, made: Mapping[str, str]) -> EventSource:
        """In the place of the emulator's own, which it switches off."""
        outputs = outputs_of(self._account)
        functions = self._account.client("lambda")
        (mapping,) = functions.list_event_source_mappings(FunctionName=f"{made['WorkerFunction']}:live")[
            "EventSourceMappings"
        ]
        functions.update_event_source_mapping(UUID=mapping["UUID"], Enabled=False)
        worn = wearing(self._account, "WorkerRole")
        return EventSource(self._account, worn, outputs["WakeQueueUrl"], f"{made['WorkerFunction']}:live")

    def _look_at_what_was_told(self) -> None:
        report, outputs, told = self._report, outputs_of(self._account), self._simulator.telegram
        webhook = self._simulator.webhook
        stored = self._account.client("ssm").get_parameter(Name=f"{PATH}/TELEGRAM_WEBHOOK_SECRET", WithDecryption=True)
        secret = stored["Parameter"]["Value"]
        report.same("deploy: Telegram was told the address", webhook.url, outputs["TelegramWebhook"])
        report.add("deploy: and a secret that was made and stored", bool(secret) and webhook.secret == secret)
        report.same("deploy: and what kinds of updates are wanted", set(told.allowed_updates), set(KINDS))
        menus = {language: len(commands) for language, commands in told.commands.items()}
        report.same("deploy: and the commands in both languages", menus, {"": len(menu("en")), "id": len(menu("id"))})
        report.add(
            "deploy: Slack knows the token", outputs["Slack"].startswith("Slack knows the bot"), outputs["Slack"]
        )
        manifest = json.loads(outputs["SlackManifest"])
        events = manifest["settings"]["event_subscriptions"]["request_url"]
        report.same("deploy: the Slack app's manifest has the address", events, outputs["SlackRequestUrl"])
        shown = json.dumps([outputs, self._events(), self._environments()])
        leaked = [name for name, value in {**SECRETS, "TELEGRAM_WEBHOOK_SECRET": secret}.items() if value in shown]
        report.same("deploy: no secret in outputs, events or a function's environment", leaked, [])

    def _events(self) -> str:
        return str(self._account.client("cloudformation").describe_stack_events(StackName=STACK)["StackEvents"])

    def _environments(self) -> str:
        return str(self._account.client("lambda").list_functions()["Functions"])

    def _look_at_what_stayed(self, before: Mapping[str, str]) -> None:
        after = resources(self._account, STACK)
        kept = ("Table", "Files", "WakeQueue", "DeadLetters", "WebhookFunction", "WorkerFunction", "WebhookFunctionUrl")
        changed = [name for name in kept if before[name] != after[name]]
        self._report.same("update: nothing that holds words or is an address was replaced", changed, [])
        for function in ("WebhookFunction", "WorkerFunction"):
            listed = self._account.client("lambda").list_versions_by_function(FunctionName=after[function])["Versions"]
            versions = [each["Version"] for each in listed]
            self._report.same(
                f"update: {function} is published anew, and its old version is gone", versions, ["$LATEST", "2"]
            )

    def _look_at_files(self, bucket: str) -> None:
        stored = self._account.client("s3").list_objects_v2(Bucket=bucket).get("Contents", ())
        folders = {each["Key"].partition("_")[0] for each in stored}
        self._report.same("the files of both platforms lie in the stack's bucket", folders, {"telegram", "slack"})

    def _look_at_logs(self, made: Mapping[str, str]) -> None:
        groups = [name for logical, name in made.items() if logical.endswith("Log")]
        lines = list(log_lines(self._account, groups))
        self._report.add("the functions logged", any(made["WorkerLog"] in line for line in lines), len(lines))
        self._report.same(
            "no function logged an error", [line for line in lines if "[ERROR]" in line or '"ERROR"' in line], []
        )
        self._report.same("the model refused no request", self._model.refused, [])

    def _look_at_what_is_left(self, made: Mapping[str, str]) -> None:
        self._report.same("delete: Telegram's webhook is taken back", self._simulator.webhook.url, "")
        left = everything(self._account)
        retained = {"Table": "table", "Files": "bucket"}
        kept = {f"{kind}: {made[name]}" for name, kind in retained.items()}
        secrets = {f"secret: {PATH}/{name}" for name in (*SECRETS, "TELEGRAM_WEBHOOK_SECRET")}
        policy = {
            name
            for name, each in read_template()["Resources"].items()
            if each.get("DeletionPolicy", "").startswith("Retain")
        }
        self._report.same("delete: the template keeps these", policy, {*retained, "FilesPolicy"})
        sams_own = {each for each in left if each.startswith("bucket: aws-sam-cli-managed-default")}
        self._report.same("delete: nothing else is left", left - sams_own, kept | secrets)
        rows = self._account.client("dynamodb").scan(TableName=made["Table"], Select="COUNT")["Count"]
        self._report.add("delete: what was said is still there", rows > 0, rows)


async def check() -> dict[str, Any]:
    report, target = Report(), this_target()
    with (
        tempfile.TemporaryDirectory(prefix="deploy-check-") as folder,
        running_emulator(AUTH="true") as emulator,
        emulator.account() as account,
    ):
        sam = Sam(Path(folder), account.environment, target.arch, target.python)
        rehearsal = Rehearsal(account, sam, report)
        try:
            await rehearsal.play()
        except Exception as error:  # told with the rest
            why = "; ".join(failures(account, STACK)) or str(error)
            report.add("the rehearsal came to its end", False, f"{type(error).__name__}: {why}")
        finally:
            await rehearsal.close()
    return report.values()


def main() -> int:
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"):
        sys.stderr.write("The packages are for Linux on x86_64 or arm64, as Lambda is: run this there.\n")
        return 1
    values = asyncio.run(check())
    print(json.dumps(values, indent=2))
    return 0 if values["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
