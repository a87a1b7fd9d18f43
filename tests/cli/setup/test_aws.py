"""For AWS: secrets as SecureStrings where the functions read them, the rest in one line for sam, and no file at all."""

from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.cli.setup.command import Wanted
from bot.cli.setup.parameters import parameters
from bot.cli.setup.wrong import Wrong
from bot.clock import SystemClock
from handlers.aws import Aws, Secrets
from handlers.settings import SECRETS as SECRET_NAMES
from simulator import serving, slack, telegram
from tests.cli.setup.stage import ANN, KEY, SECRETS, SIGNING_SECRET, Stage
from tests.cli.typist import Typist
from tests.emulator import Account

PATH = "/kabar/of-ann"
AWS = Wanted(aws=True, path=PATH)


@pytest.fixture
def cloud(aws: Account, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Account:
    """The account that this machine is signed in to."""
    for name, value in aws.environment.items():
        monkeypatch.setenv(name, value)
        stage.settings[name] = value
    return aws


def stored(account: Account, path: str = PATH) -> dict[str, Any]:
    found = account.client("ssm").get_parameters_by_path(Path=path, WithDecryption=True)["Parameters"]
    return {each["Name"].rpartition("/")[2]: (each["Type"], each["Value"]) for each in found}


async def up_to_the_model(person: Typist) -> None:
    await person.answers_to("Number", "3")
    await person.answers_to("Telegram token", telegram.TOKEN)
    await person.answers_to("Slack bot token", slack.BOT_TOKEN)
    await person.answers_to("signing secret", SIGNING_SECRET)
    await person.sees("Anthropic key")


async def test_secrets_lie_encrypted_under_the_path_and_sam_is_told_the_rest(cloud: Account, stage: Stage) -> None:
    async with stage.sitting(AWS) as person:
        await up_to_the_model(person)
        person.types(KEY)
        code = (await person.sees(r"\?start=(\w+)"))[1]
        await stage.sends(ANN, f"/start {code}")
        line = await person.sees(r"sam deploy --guided --parameter-overrides ([^\n]*)")
        await person.sees("kabar manifest --url <address>")
        assert await person.ends() == 0

    kept = stored(cloud)
    assert {name: value for name, (_, value) in kept.items() if name != "TELEGRAM_WEBHOOK_SECRET"} == {
        "TELEGRAM_BOT_TOKEN": telegram.TOKEN,
        "SLACK_BOT_TOKEN": slack.BOT_TOKEN,
        "SLACK_SIGNING_SECRET": SIGNING_SECRET,
        "ANTHROPIC_API_KEY": KEY,
    }
    assert {kind for kind, _ in kept.values()} == {"SecureString"}
    assert set(line[1].split()) == {
        f"SecretsPath={PATH}",
        "Owner=telegram:1001",
        "Provider=anthropic",
        f"AnthropicBaseUrl={stage.settings['ANTHROPIC_BASE_URL']}",
    }
    assert not any(secret in person.output for secret in (*SECRETS, kept["TELEGRAM_WEBHOOK_SECRET"][1]))
    assert not stage.file.exists()
    read = await Secrets(Aws(cloud.endpoint), PATH, SystemClock()).read()
    assert read.keys() <= set(SECRET_NAMES)  # what is no secret is not among what functions read


async def test_what_lies_there_is_kept_with_enter_and_a_check_finds_it_whole(cloud: Account, stage: Stage) -> None:
    async with stage.sitting(AWS) as person:
        await up_to_the_model(person)
        person.types(KEY)
        await person.answers_to("I wait for it", "telegram:1001")
        assert await person.ends() == 0
    before = stored(cloud)
    async with stage.sitting(AWS) as person:
        await person.answers_to(r"Number \[3\]")
        for _ in range(5):
            await person.answers_to(r"Keep it\?")
        assert await person.ends() == 0
    assert stored(cloud) == before
    async with stage.sitting(Wanted(aws=True, path=PATH, check=True)) as person:
        assert await person.ends() == 0
    assert stored(cloud, f"{PATH}/setup") == {"KABAR_OWNER": ("String", "telegram:1001")}


async def test_a_choice_that_is_taken_back_is_taken_away(cloud: Account) -> None:
    keeper = parameters(cloud.endpoint, PATH, {})
    await keeper.put({"KABAR_PROVIDER": "bedrock", "SLACK_APP_TOKEN": "a"})
    await keeper.put({"KABAR_PROVIDER": "", "SLACK_APP_TOKEN": "", "KABAR_MODEL": ""})
    assert stored(cloud) == stored(cloud, f"{PATH}/setup") == {}


@pytest.mark.parametrize("path", ["kabar", "/kabar//x", "/aws/kabar", "/ssm", "/kabar/$x"])
def test_a_path_that_ssm_does_not_take_is_told(path: str) -> None:
    with pytest.raises(Wrong) as wrong:
        parameters("", path, {})
    assert wrong.value.text == "aws_path"


async def test_the_region_is_read_by_the_name_that_people_are_told(
    cloud: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_CONFIG_FILE", "/none")
    monkeypatch.setenv("AWS_REGION", cloud.environment["AWS_DEFAULT_REGION"])
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    cloud.client("ssm").put_parameter(Name=f"{PATH}/ANTHROPIC_API_KEY", Value=KEY, Type="SecureString")
    kept = parameters(cloud.endpoint, PATH, {})
    await kept.read()
    assert kept.values["ANTHROPIC_API_KEY"] == KEY


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}, "aws_credentials"),
        ({"AWS_DEFAULT_REGION": ""}, "aws_region"),
        ({"AWS_PROFILE": "nobody"}, "aws_profile"),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, "aws_away"),
    ],
)
async def test_a_machine_that_is_not_signed_in_is_told_what_to_do(
    change: dict[str, str], said: str, cloud: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_REGION", raising=False)
    for name, value in {"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "/none", **change}.items():
        monkeypatch.setenv(name, value) if value else monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/none")
    with pytest.raises(Wrong) as wrong:
        await parameters(change.get("AWS_ENDPOINT_URL", cloud.endpoint), PATH, {}).read()
    assert wrong.value.text == said


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("AccessDeniedException", "aws_denied"),
        ("ExpiredTokenException", "aws_credentials"),
        ("ParameterLimitExceeded", "aws_refuses"),
    ],
)
async def test_what_aws_refuses_is_told(code: str, said: str, cloud: Account) -> None:
    async def refuse(request: Request) -> Response:
        return JSONResponse({"__type": code, "message": "no"}, 400)

    async with serving.serve(Starlette(routes=[Route("/", refuse, methods=["POST"])])) as url:
        with pytest.raises(Wrong) as wrong:
            await parameters(url, PATH, {}).put({"TELEGRAM_BOT_TOKEN": "x"})
    assert wrong.value.text == said
    assert wrong.value.values.get("right", "ssm:PutParameter") == "ssm:PutParameter"
