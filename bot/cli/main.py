"""``kabar``: the bot on a laptop or a small server."""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from bot import logs
from bot.cli.environment import environment
from bot.errors import ConfigError
from handlers.settings import Settings, read_settings


def main(arguments: Sequence[str] | None = None) -> int:
    """The console script; returns the exit code: 0, 1 for a set-up that can not work, 130 for Ctrl-C."""
    options = _parser().parse_args(arguments)
    try:
        settings = read_settings(environment())
        logs.set_up("WARNING" if options.quiet else settings.kabar_log_level)
        asyncio.run(options.command(settings, options))
    except ConfigError as error:
        print(f"kabar: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="kabar", description="An AI agent for Telegram and Slack.")
    commands = parser.add_subparsers(required=True, metavar="command")

    chat = commands.add_parser("chat", help="talk to the agent here in the terminal")
    chat.add_argument("--name", default="main", help="which conversation; each name has its own history")
    chat.set_defaults(command=_chat, quiet=True)

    run = commands.add_parser("run", help="real Telegram by long polling, real Slack by Socket Mode")
    run.add_argument("--take-over", action="store_true", help="remove the webhook Telegram has for this bot")
    run.set_defaults(command=_run, quiet=False)

    serve = commands.add_parser("serve", help="webhooks over HTTP, worker in the same process")
    serve.add_argument("--host", default="127.0.0.1")
    serve.add_argument("--port", type=int, default=8421)
    serve.set_defaults(command=_serve, quiet=False)

    mcp = commands.add_parser("mcp", help="the conversations of this machine for another agent, over stdio")
    mcp.set_defaults(command=_mcp, quiet=True)

    evaluate = commands.add_parser("eval", help="measure the agent with the tasks in evals/; prints JSON")
    evaluate.add_argument("tasks", nargs="*", help="which; all where none is named")
    evaluate.add_argument("--folder", type=Path, default=Path("evals"))
    evaluate.set_defaults(command=_evaluate, quiet=True)
    return parser


# Each command loads only what it needs.


async def _chat(settings: Settings, options: argparse.Namespace) -> None:
    from bot.cli.chat import chat

    await chat(settings, options.name)


async def _run(settings: Settings, options: argparse.Namespace) -> None:
    from bot.cli.run import run

    await run(settings, take_over=options.take_over)


async def _serve(settings: Settings, options: argparse.Namespace) -> None:
    from bot.cli.serve import serve_webhooks

    await serve_webhooks(settings, options.host, options.port)


async def _mcp(settings: Settings, options: argparse.Namespace) -> None:
    from bot.cli.mcp_server import serve_mcp

    await serve_mcp(settings)


async def _evaluate(settings: Settings, options: argparse.Namespace) -> None:
    from bot.cli.evaluate import evaluate

    if not await evaluate(settings, options.folder, options.tasks):
        raise ConfigError("Not every task passed: see what is missing above.")


if __name__ == "__main__":
    sys.exit(main())
