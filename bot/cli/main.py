"""``kabar``: the bot on a laptop or a small server."""

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from bot import logs
from bot.cli.environment import environment
from bot.cli.language import LANGUAGES, terminal_language
from bot.errors import ConfigError
from handlers.bots import bot_settings, every_bot
from handlers.settings import Settings
from handlers.watching import begin_tracing


def main(arguments: Sequence[str] | None = None) -> int:
    """The console script; returns the exit code: 0, 1 for a set-up that can not work or has mistakes, 2 where
    no command was meant, 130 for Ctrl-C."""
    options = (known := parser()).parse_args(arguments)
    if options.command is None:
        known.print_help()
        return 2
    try:
        settings = bot_settings(environment(), options.bot)
        level = "WARNING" if options.quiet else settings.kabar_log_level
        logs.set_up(level, content=settings.kabar_log_content == "on")
        begin_tracing(settings)
        return asyncio.run(options.command(settings, options)) or 0
    except ConfigError as error:
        print(f"kabar: {_told(error, options)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def parser() -> argparse.ArgumentParser:
    """Every command with its options; ``command`` of what it reads is the function to call."""
    parser = argparse.ArgumentParser(prog="kabar", description="An AI agent for Telegram and Slack.")
    parser.add_argument(
        "--bot", default="", metavar="NAME", help="one of KABAR_BOTS, instead of the one without a name"
    )
    parser.set_defaults(command=None)
    commands = parser.add_subparsers(metavar="command")

    def command(name: str, help: str, usage: str | None = None) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=help, description=f"{help[0].upper()}{help[1:]}.", usage=usage)

    def in_language(parser: argparse.ArgumentParser) -> None:
        help = "English or Indonesian; the terminal's where none is named"
        parser.add_argument("--language", choices=LANGUAGES, default="", help=help)

    setup = command("setup", help="a guided set-up: tokens, model, owner; each tried as it is typed")
    in_language(setup)
    setup.add_argument("--aws", action="store_true", help="for AWS: secrets go to SSM and to no file")
    setup.add_argument("--path", default="/kabar/prod", help="with --aws: where SSM keeps the secrets (%(default)s)")
    setup.add_argument("--url", default="", help="the bot's public address: messages come by webhooks")
    setup.add_argument("--check", action="store_true", help="ask and change nothing; name what is missing")
    setup.set_defaults(command=_setup, quiet=True)

    doctor = command("doctor", help="what is set up well and what is not, with what to do next")
    doctor.add_argument("--url", default="", help="the bot's public address, tried as Telegram and Slack would")
    doctor.add_argument("--stack", default="", help="a stack on AWS: its settings, secrets and address are examined")
    doctor.add_argument("--json", action="store_true", help="the same as JSON, for programs")
    in_language(doctor)
    doctor.set_defaults(command=_doctor, quiet=True)

    run = command("run", help="the bot in Telegram and Slack, from this machine; needs no public address")
    run.add_argument("--take-over", action="store_true", help="remove the webhook Telegram has for this bot")
    run.add_argument("--demo", action="store_true", help="the demo model answers where no key is set")
    run.set_defaults(command=_run, quiet=False)

    serve = command("serve", help="the bot in Telegram and Slack, from a server with a public address (webhooks)")
    serve.add_argument("--host", default="127.0.0.1", help="where it listens (%(default)s)")
    serve.add_argument("--port", type=int, default=8421, help="(%(default)s)")
    serve.add_argument(
        "--a2a",
        action="store_true",
        help="also for other agents, over A2A; needs the extra kabar[a2a] (docs/agent-to-agent.md)",
    )
    serve.set_defaults(command=_serve, quiet=False)

    chat = command("chat", help="talk to the agent here in the terminal")
    chat.add_argument("--name", default="main", help="which conversation; each name has its own history (%(default)s)")
    chat.add_argument("--model", help="instead of KABAR_MODEL")
    chat.add_argument("--base-url", help="of a server that speaks the Messages API, instead of ANTHROPIC_BASE_URL")
    chat.set_defaults(command=_chat, quiet=True)

    check = command("check", help="name every mistake in the folder of instructions and skills")
    check.add_argument("folder", nargs="?", help="which folder; that of KABAR_AGENT_DIR where none is named")
    check.set_defaults(command=_check, quiet=True)

    logs_of = command("logs", help="what a turn did, by the reference that a person was shown")
    logs_of.add_argument("reference", help="twelve characters, such as 3f09c1d27a4b")
    logs_of.add_argument("--stack", default="", help="a stack on AWS, whose log and table are read")
    logs_of.add_argument(
        "--days", type=_count, default=30, help="with --stack: how far back its log is searched (%(default)s)"
    )
    logs_of.add_argument("--file", type=Path, action="append", default=[], help="a log of kabar on this machine")
    logs_of.add_argument("--content", action="store_true", help="show what people, the model and the tools said")
    logs_of.add_argument("--json", action="store_true", help="the same as JSON, for programs")
    logs_of.set_defaults(command=_logs, quiet=True)

    out = command("export", help="all that is kept, or one chat, as one file of JSON Lines")
    out.add_argument(
        "--chat", default="", metavar="ID", help="such as telegram:42, or slack:T1:C1 with all its threads"
    )
    out.add_argument("--out", type=Path, metavar="FILE", help="instead of the standard output")
    out.set_defaults(command=_export, quiet=True)

    bring = command(
        "import", help="take in what kabar export wrote; may be done again, and changes nothing that is there"
    )
    bring.add_argument("file", type=Path, help="what kabar export wrote")
    bring.add_argument(
        "--replace", action="store_true", help="delete a conversation that is there, and take the file's"
    )
    bring.set_defaults(command=_import, quiet=True)

    renew = command("migrate", help="bring what earlier versions stored to this one's form, at once")
    renew.add_argument("--check", action="store_true", help="only say what there is to do")
    renew.set_defaults(command=_migrate, quiet=True)

    app = command("manifest", help="the Slack app as a manifest, to paste at api.slack.com/apps")
    app.add_argument("--url", default="", help="the bot's public address; Socket Mode where none is named")
    app.add_argument("--link", action="store_true", help="a link that makes the app, instead of the manifest itself")
    app.set_defaults(command=_manifest, quiet=True)

    mcp = command("mcp", help="the conversations of this machine for another agent, over stdio")
    mcp.set_defaults(command=_mcp, quiet=True)

    evaluate = command(
        "eval",
        help="measure the agent with the tasks in evals/; prints JSON",
        usage="kabar eval [task ...] [options] | compare BEFORE AFTER [--out FOLDER] | from-votes [--good | --bad]",
    )
    evaluate.add_argument("tasks", nargs="*", help="which; all but drafts where neither a task nor a set is named")
    evaluate.add_argument("--set", default="", help="a folder of tasks, such as tuning or held-out")
    evaluate.add_argument("--repeat", type=_count, default=1, help="runs of each task (%(default)s)")
    evaluate.add_argument("--jobs", type=_count, default=4, help="runs at once (%(default)s)")
    evaluate.add_argument("--model", default="", help="instead of KABAR_MODEL")
    evaluate.add_argument("--judge", default="", help="the model that scores rubrics; the same where none is named")
    evaluate.add_argument("--out", type=Path, help="a folder for pages to read and results.json")
    evaluate.add_argument("--prove", action="store_true", help="only whether tasks can be passed and failed; offline")
    evaluate.add_argument("--folder", type=Path, default=Path("evals"), help="where the tasks are (%(default)s)")
    voted = evaluate.add_mutually_exclusive_group()
    voted.add_argument("--good", action="store_true", help="from-votes: only of answers that were voted good")
    voted.add_argument("--bad", action="store_true", help="from-votes: only of answers that were voted bad")
    evaluate.set_defaults(command=_evaluate, quiet=True)
    return parser


def _told(error: ConfigError, options: argparse.Namespace) -> str:
    """A command that speaks the person's language says in it too why it can not begin."""
    if "language" not in options or _language(options) != "id":
        return str(error)
    from bot.cli.doctor.indonesian import INDONESIAN

    return INDONESIAN.words(str(error))


def _language(options: argparse.Namespace) -> str:
    return options.language or terminal_language(os.environ) or "en"


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("give a whole number above 0")
    return int(text)


# Each command loads only what it needs.


async def _chat(settings: Settings, options: argparse.Namespace) -> None:
    from bot.cli.chat import chat

    chosen = {"kabar_model": options.model, "anthropic_base_url": options.base_url}
    await chat(replace(settings, **{name: value for name, value in chosen.items() if value}), options.name)


def _bots(options: argparse.Namespace) -> dict[str, Settings]:
    """Who is to run in this process."""
    if options.bot:
        raise ConfigError("--bot names one bot to look at; kabar run and kabar serve run all that KABAR_BOTS names.")
    return every_bot(environment())


async def _run(settings: Settings, options: argparse.Namespace) -> None:
    from bot.cli.run import run

    await run(_bots(options), take_over=options.take_over, demo=options.demo)


async def _serve(settings: Settings, options: argparse.Namespace) -> None:
    from bot.cli.serve import serve_webhooks

    await serve_webhooks(_bots(options), options.host, options.port, a2a=options.a2a)


async def _setup(settings: Settings, options: argparse.Namespace) -> int:
    from bot.cli.setup.command import Wanted, setup
    from bot.cli.setup.terminal import Terminal

    if options.bot:
        raise ConfigError("kabar setup is for the bot without a name: docs/several.md says how to set up the others.")
    logs.set_up("ERROR")  # what goes wrong on the way is told in sentences
    given = {name: getattr(options, name) for name in ("language", "aws", "path", "url", "check")}
    return await setup(Wanted(**given), os.environ, Terminal(sys.stdin, sys.stdout))


async def _doctor(settings: Settings, options: argparse.Namespace) -> int:
    from bot.cli.doctor.command import Wanted, doctor
    from bot.clock import SystemClock

    wanted = Wanted(url=options.url, stack=options.stack, json=options.json, language=_language(options))
    return await doctor(settings, wanted, environment(), SystemClock())


async def _logs(settings: Settings, options: argparse.Namespace) -> None:
    from bot.cli.turnlog.command import Wanted, show
    from bot.clock import SystemClock

    wanted = Wanted(
        options.reference,
        stack=options.stack,
        files=tuple(options.file),
        days=options.days,
        json=options.json,
        content=options.content,
    )
    await show(settings, wanted, SystemClock())


async def _manifest(settings: Settings, options: argparse.Namespace) -> None:
    from bot.channels.slack.manifest import creation_link, manifest, written
    from bot.cli.setup.command import address
    from bot.cli.setup.texts import say
    from bot.cli.setup.wrong import Wrong

    try:
        app = manifest(address(options.url))
    except Wrong as wrong:
        raise ConfigError(say(wrong.text, "en", **wrong.values)) from wrong
    print(creation_link(app) if options.link else written(app))


async def _mcp(settings: Settings, options: argparse.Namespace) -> None:
    from bot.cli.mcp_server import serve_mcp

    await serve_mcp(settings)


async def _export(settings: Settings, options: argparse.Namespace) -> None:
    from bot.cli.archive import export

    await export(settings, options.chat, options.out)


async def _import(settings: Settings, options: argparse.Namespace) -> int:
    from bot.cli.archive import bring_in

    return await bring_in(settings, options.file, replaces=options.replace)


async def _migrate(settings: Settings, options: argparse.Namespace) -> int:
    from bot.cli.migrate import migrate

    return await migrate(settings, check=options.check)


async def _evaluate(settings: Settings, options: argparse.Namespace) -> None:
    from bot.cli.evals import command

    match options.tasks:
        case ["compare", *words]:
            if not command.compare(*command.wanted(words), options.out):
                raise ConfigError("Tasks fell: see which above.")
            return
        case ["from-votes"]:
            kinds = [kind for kind, is_left_out in ((True, options.bad), (False, options.good)) if not is_left_out]
            await command.from_votes(settings, options.folder, kinds)
            return
    given = {name: getattr(options, name) for name in ("folder", "set", "repeat", "jobs", "model", "judge", "out")}
    choice = command.Choice(names=tuple(options.tasks), **given)
    if not await (command.prove if options.prove else command.evaluate)(settings, choice):
        raise ConfigError("Not every task passed: see what is missing above.")


async def _check(settings: Settings, options: argparse.Namespace) -> int:
    from bot.cli.check import check

    return check(Path(options.folder or settings.kabar_agent_dir))


if __name__ == "__main__":
    sys.exit(main())
