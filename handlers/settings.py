"""Every setting, read in one place, checked at once.

A field's comment is its documentation; README shows the same list. On Lambda the fields marked secret come from SSM
(``KABAR_SECRETS_PATH``), everywhere else from the environment or the file ``.env``.
"""

import re
from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from bot.errors import ConfigError
from bot.models import FEATURES

SECRETS = (
    "TELEGRAM_BOT_TOKEN",
    "TELEGRAM_WEBHOOK_SECRET",
    "SLACK_BOT_TOKEN",
    "SLACK_SIGNING_SECRET",
    "SLACK_APP_TOKEN",
    "SLACK_CLIENT_ID",
    "SLACK_CLIENT_SECRET",
    "SLACK_STATE_SECRET",
    "ANTHROPIC_API_KEY",
    "KABAR_TRANSCRIPTION_KEY",
    "KABAR_TAVILY_KEY",
    "KABAR_A2A_KEYS",
)


PROVIDERS = ("anthropic", "bedrock", "messages")
POLICIES = ("window", "summarise", "compact")
PYTHONS = ("own", "provider", "off")
MAY_BE_ZERO = {"kabar_messages_per_minute", "kabar_model_context", "kabar_keep_days"}
SWITCHES = ("kabar_follow_threads", "kabar_telegram_drafts", "kabar_log_content", "kabar_metrics_all")
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


class Settings(Struct, frozen=True):
    # Telegram. The token is BotFather's; the secret is ours, 1-256 of A-Z a-z 0-9 _ -, sent back with each update.
    telegram_bot_token: str = ""  # secret
    telegram_webhook_secret: str = ""  # secret; without it /telegram refuses everything
    telegram_bot_username: str = ""  # asked from Telegram (getMe) where it is not given
    telegram_api_base_url: str = "https://api.telegram.org"

    # Slack. Bot token xoxb-, app-level token xapp- (Socket Mode only).
    slack_bot_token: str = ""  # secret
    slack_signing_secret: str = ""  # secret; without it /slack/events refuses everything
    slack_app_token: str = ""  # secret
    slack_api_base_url: str = "https://slack.com/api/"

    # Slack in many workspaces: instead of the bot token, what the app's installation page needs; all three, or none.
    # The state secret is ours, 32 random characters or more. The tokens are sealed with the key of KMS, or where none
    # is named, with that secret.
    slack_client_id: str = ""  # no secret, but lies beside them
    slack_client_secret: str = ""  # secret
    slack_state_secret: str = ""  # secret
    kabar_seal_key: str = ""  # a key of AWS's KMS, by its id, ARN or alias

    # Model: anthropic, bedrock (signed with the role's or your own AWS credentials), or messages for any other server
    # that speaks the Messages API. Empty is anthropic, or messages where the address is not Anthropic's.
    kabar_provider: str = ""
    anthropic_api_key: str = ""  # secret; a server of your own may want none
    anthropic_base_url: str = "https://api.anthropic.com"
    anthropic_bedrock_base_url: str = ""  # AWS's own in the region where it is empty
    aws_region: str = ""  # of Bedrock; Lambda sets it
    kabar_model: str = "claude-sonnet-5-5"
    kabar_models: str = ""  # others that people may choose with /model, separated by commas
    kabar_model_context: int = 0  # tokens the model reads; what bot/models.py knows of it where it is 0
    kabar_model_features: str = ""  # what it takes, such as tools,images; none for nothing; empty as for the context
    kabar_max_tokens: int = 8192  # of one reply
    kabar_max_model_calls: int = 20  # in one turn

    # Context. How a long conversation is made shorter: window, summarise or compact; and above how many tokens.
    kabar_context_policy: str = "summarise"
    kabar_context_tokens: int = 60_000  # at most; 80 % of what the model reads is the limit anyway
    kabar_summary_model: str = ""  # writes the summaries; a cheap one where it is empty and Claude answers

    # Who may talk to the bot: ids like telegram:42 or slack:T1:U1, separated by commas; * for everyone.
    # Nobody gets in where both are empty.
    kabar_owner: str = ""
    kabar_allowed_users: str = ""

    # What somebody may use who was let in as a guest only; none for no tool at all. code_execution is Python where the
    # model's provider runs it, beside its search only.
    kabar_guest_tools: str = (
        "calculator,current_time,read_file,list_files,search_files,reopen,skill,web_search,code_execution"
    )

    # Python: own runs scripts as below and asks first; provider leaves it to the model's provider, in a container
    # without a network, which need not ask; off is no Python. Empty: the provider's where there is one, else own.
    kabar_python: str = ""

    # Our own: a Lambda function of its own runs the scripts where it is named, else this machine does, walled off. What
    # a script says it needs is installed into this folder; empty for not at all.
    kabar_sandbox_function: str = ""
    kabar_python_packages: str = ""

    # Web search: by the model's provider where it has one, else by Tavily, which works without a key, more with one.
    kabar_tavily_key: str = ""  # secret
    kabar_tavily_base_url: str = "https://api.tavily.com"

    # Which tools wait for a person's word, by name, separated by commas: beside those that do by themselves, and those
    # that shall not. Who may give it beside whoever asked, as ids.
    kabar_ask_first: str = ""
    kabar_never_ask: str = ""
    kabar_approvers: str = ""

    # Money: US dollars that may be spent on the model, 0 for no limit; days and months in UTC.
    kabar_budget_person_day: float = 2.0
    kabar_budget_guest_day: float = 0.25  # of a person let in as a guest
    kabar_budget_chat_day: float = 0.0
    kabar_budget_day: float = 20.0  # by everybody
    kabar_budget_month: float = 200.0  # by everybody
    kabar_budget_shards: int = 1  # DynamoDB items that share what everybody spends, where one is written too often
    kabar_cheaper_model: str = ""  # answers once 80 % of one of these budgets is spent
    kabar_messages_per_minute: int = 20  # of each person, and in each group; 0 for no limit

    # Where things are kept: DynamoDB and SQS where both names are set, else one SQLite file.
    kabar_table: str = ""
    kabar_queue_url: str = ""
    kabar_concurrency: int = 20  # conversations that this process answers at once where it has no queue
    kabar_data: str = ".data/kabar.sqlite3"
    kabar_schedule_group: str = ""  # EventBridge Scheduler's group for reminders, on AWS
    kabar_schedule_role: str = ""  # the role, by its ARN, that may call
    kabar_schedule_target: str = ""  # the webhook function, by its ARN
    kabar_bucket: str = ""  # files and pictures go to this S3 bucket, else into the folder
    kabar_files: str = ".data/files"
    aws_endpoint_url: str = ""  # a local emulator; empty means AWS
    kabar_keep_days: int = 0  # a conversation that nobody used for so long is deleted; 0 keeps all for ever
    kabar_secrets_path: str = ""  # SSM path of the secrets, such as /kabar/prod
    kabar_stack: str = ""  # the CloudFormation stack, of which the registrar asks the bot's address

    # How it behaves in chats: whether a Slack thread in which it was named once is to it from then on (on, off);
    # whether unfinished text is a draft in Telegram's private chats (on), or a message that is edited (off).
    kabar_follow_threads: str = "off"
    kabar_telegram_drafts: str = "off"

    # Voice messages: a server that speaks OpenAI's /audio/transcriptions, such as https://api.openai.com/v1. Empty: the
    # bot says that it can not listen.
    kabar_transcription_url: str = ""
    kabar_transcription_key: str = ""  # secret
    kabar_transcription_model: str = "whisper-1"

    # Other agents that may call this one (A2A): a name and a key for each, as name:key separated by commas. Who has a
    # key is the person a2a:name, and must be let in like any other. The address that its card names, where it is not
    # the one under which it is asked.
    kabar_a2a_keys: str = ""  # secret; without it every call is refused
    kabar_a2a_url: str = ""

    # What the owner writes, in this folder: the bot's instructions in AGENTS.md, skills/, agents/, mcp.json,
    # peers.json. Where a prefix is named, such as agent/, the worker on AWS takes what lies under it in KABAR_BUCKET.
    kabar_agent_dir: str = "agent"
    kabar_agent_prefix: str = ""

    # Several bots (handlers/bots.py): the names of those beside the one that has none; and which of them this is.
    kabar_bots: str = ""
    kabar_bot: str = ""

    # What is watched: how much is logged; whether people's words are in it too (on, off); and on AWS the name of this
    # deployment, under which CloudWatch counts: empty for no metrics; and whether it counts all of them (on, off), not
    # only the few that it counts for nothing.
    kabar_log_level: str = "INFO"  # or DEBUG, WARNING, ERROR
    kabar_log_content: str = "off"
    kabar_metrics: str = ""
    kabar_metrics_all: str = "off"

    # OpenTelemetry, by its own names: where spans go (the second is the whole address), what is sent in the headers, as
    # name=value separated by commas, and whether people's words go along (true).
    otel_exporter_otlp_endpoint: str = ""
    otel_exporter_otlp_traces_endpoint: str = ""
    otel_exporter_otlp_headers: str = ""
    otel_instrumentation_genai_capture_message_content: str = ""
    otel_sdk_disabled: str = ""


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Settings from names in capitals. Raises ConfigError naming every value that can not be used."""
    values: dict[str, str | int | float] = {}
    faults = []
    for name, default in zip(Settings.__struct_fields__, Settings.__struct_defaults__, strict=True):
        text = environment.get(name.upper(), "").strip()
        if not text:
            continue
        if isinstance(default, float):
            if not re.fullmatch(r"\d{1,9}(\.\d{1,6})?", text):
                faults.append(f"{name.upper()} must be dollars such as 2.50, or 0 for no limit, not {text!r}.")
                continue
            values[name] = float(text)
        elif isinstance(default, int):
            least = 0 if name in MAY_BE_ZERO else 1
            if not text.isdecimal() or int(text) < least:
                faults.append(f"{name.upper()} must be a whole number above {least - 1}, not {text!r}.")
                continue
            values[name] = int(text)
        else:
            values[name] = text
    if str(values.get("kabar_log_level", "INFO")).upper() not in LOG_LEVELS:
        faults.append(f"KABAR_LOG_LEVEL must be one of {', '.join(LOG_LEVELS)}, not {values['kabar_log_level']!r}.")
    if values.get("kabar_context_policy", "summarise") not in POLICIES:
        faults.append(f"KABAR_CONTEXT_POLICY must be one of {', '.join(POLICIES)}.")
    if values.get("kabar_python", "own") not in PYTHONS:
        faults.append(f"KABAR_PYTHON must be one of {', '.join(PYTHONS)}, or empty.")
    switches = (name for name in SWITCHES if values.get(name, "off") not in ("on", "off"))
    faults += [f"{name.upper()} must be on or off, not {values[name]!r}." for name in switches]
    if values.get("kabar_provider", "anthropic") not in PROVIDERS:
        faults.append(f"KABAR_PROVIDER must be one of {', '.join(PROVIDERS)}.")
    if unknown := set(features(str(values.get("kabar_model_features", "")))) - set(FEATURES):
        known = f"of {', '.join(FEATURES)}, or none"
        faults.append(f"KABAR_MODEL_FEATURES must be {known}, not {', '.join(sorted(unknown))}.")
    if faults:
        raise ConfigError(" ".join(faults))
    return Settings(**values)  # type: ignore[arg-type]  # each field is of its default's type, checked above


def names(text: str) -> frozenset[str]:
    """Of a list separated by commas."""
    return frozenset(_listed(text))


def pairs(text: str) -> dict[str, str]:
    """Of a list of name=value separated by commas."""
    return {name.strip(): value.strip() for name, _, value in (each.partition("=") for each in _listed(text))}


def models(settings: Settings) -> tuple[str, ...]:
    """Those that people may choose, the usual one first."""
    return tuple(dict.fromkeys((settings.kabar_model, *_listed(settings.kabar_models))))


def features(text: str) -> list[str]:
    """The names of KABAR_MODEL_FEATURES; [] for the word none."""
    return [] if text == "none" else _listed(text)


def runs_code_there(settings: Settings) -> bool:
    """Whether the model's provider may run code, where it does."""
    return settings.kabar_python in ("", "provider")


def _listed(text: str) -> list[str]:
    return [name for name in map(str.strip, text.split(",")) if name]


def provider(settings: Settings) -> str:
    """Which of PROVIDERS these settings mean."""
    if settings.kabar_provider:
        return settings.kabar_provider
    return "anthropic" if settings.anthropic_base_url.rstrip("/") == Settings().anthropic_base_url else "messages"


def lacks_key(settings: Settings) -> bool:
    """Whether the model's provider wants a key that is not there."""
    return provider(settings) == "anthropic" and not settings.anthropic_api_key


def many_workspaces(settings: Settings) -> bool:
    """Whether the Slack app is installed by a page, and not with one token."""
    return bool(settings.slack_client_id)


def with_secrets(settings: Settings, secrets: Mapping[str, str]) -> Settings:
    """The same settings with secrets from a store, by their names in capitals; unknown names are ignored."""
    known = {name.lower(): secrets[name].strip() for name in SECRETS if secrets.get(name)}
    return replace(settings, **known)
