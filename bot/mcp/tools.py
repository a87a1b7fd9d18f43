"""What servers offer as tools of ours: each of theirs, and two that are ours, to read what they have and to answer what
they ask."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import BaseModel, Field

from bot.history import tool_calls
from bot.mcp.configured import Server, matches
from bot.mcp.naming import tool_names
from bot.mcp.port import Answer, Offer, Offered, Reach, Refused, Unreachable
from bot.mcp.results import ended_by_a_question, output, shown_pieces
from bot.messages import Answered, Json, Returned
from bot.ports import Reader
from bot.toolkit import Described, Output, Tool, ToolContext, ToolFault, shorten, tool
from bot.web.words import harmless

ANSWER, RESOURCE = "mcp_answer", "mcp_resource"
DOUBT = " It may have had its effect: check before you do it again."
MOST_LISTED = 30
"""Resources that the model is told of; it may find others through the tools."""
LONGEST_LINE = 200
READ = """Read something that a server has, by its address. In an address with {{names}}, put values in their place.

Among others there are:
{listed}"""


class Given(BaseModel):
    """One question's answer."""

    question: Annotated[str, Field(description="The question, word for word as the server asked it")]
    fields: Annotated[
        dict[str, str | int | float | bool | list[str]], Field(description="Its fields with their values")
    ]


def server_tools(
    offered: Sequence[tuple[Server, Offered]], remote: Reach, reader: Reader, taken: Collection[str]
) -> list[Tool]:
    """All tools; ``taken`` are the names of others. The same for the same offers, whatever order they came in."""
    allowed = [(server, offer) for server, its in offered for offer in its.tools if server.allows(offer.name)]
    pairs = [(server.name, offer.name) for server, offer in allowed]
    names = tool_names(pairs, {*taken, ANSWER, RESOURCE})
    called = {names[server.name, offer.name]: (server, offer) for server, offer in allowed}
    tools = [_tool(name, server, offer, remote, reader) for name, (server, offer) in called.items()]
    if called:
        tools.append(_answer_tool(called, remote, reader))
    if readable := [(server, its) for server, its in offered if its.resources]:
        tools.append(_resource_tool(readable, remote, reader))
    return tools


def _tool(name: str, server: Server, offer: Offer, remote: Reach, reader: Reader) -> Tool:
    async def run(arguments: Json, context: ToolContext) -> Output:
        return await _called(server, offer, arguments, (), remote, reader, context)

    return Tool(
        name=name,
        description=harmless(offer.description),
        arguments=Described(offer.schema),
        run=run,
        context="context",
        writes=not offer.reads,
        repeatable=offer.repeatable,
        seconds=server.seconds,
        result_chars=server.result_chars,
        asks=not offer.reads if server.ask is None else matches(offer.name, server.ask),
        outward=server.ask is None,
        untrusted=True,
    )


async def _called(
    server: Server,
    offer: Offer,
    arguments: Json,
    answers: Sequence[Answer],
    remote: Reach,
    reader: Reader,
    context: ToolContext,
) -> Output:
    try:
        answered = await remote().call(server, offer.name, arguments, repeatable=offer.repeatable, answers=answers)
    except Unreachable as why:
        raise ToolFault(f"{why}{DOUBT if why.sent and not offer.repeatable else ''}") from why
    except Refused as why:
        raise ToolFault(f"The server {server.name} refused the call: {harmless(str(why))}") from why
    return await output(answered, context, reader, answer_tool=ANSWER)


def _answer_tool(called: Mapping[str, tuple[Server, Offer]], remote: Reach, reader: Reader) -> Tool:
    servers = [server for server, _ in called.values()]

    @tool(
        writes=True,
        asks=True,
        outward=True,
        untrusted=True,
        seconds=max(server.seconds for server in servers),
        result_chars=max(server.result_chars for server in servers),
    )
    async def mcp_answer(
        name: Annotated[str, "The tool whose call was ended by a question"],
        arguments: Annotated[dict[str, Any], "The arguments of that call, the same again"],
        answers: Annotated[tuple[Given, ...], Field(min_length=1), "An answer to each question"],
        context: ToolContext,
    ) -> Output:
        """Make a call again that was ended because its server asked the person something, now with the answers.

        Use it only where a result told you to. The person sees the questions and the answers, and confirms them.
        """
        if name not in called:
            raise ToolFault(f"There is no tool {name!r} of a server. Take the name of the tool whose result asked.")
        if not await _was_asked(name, arguments, context):
            raise ToolFault(
                f"No call of {name} with these arguments was ended by a question here: make the call itself."
            )
        given = tuple(Answer(each.question, dict(each.fields)) for each in answers)
        server, offer = called[name]
        return await _called(server, offer, arguments, given, remote, reader, context)

    return mcp_answer


async def _was_asked(name: str, arguments: Json, context: ToolContext) -> bool:
    """Whether this very call was made before, with whatever leave it needs, and ended by a question: leave to answer is
    none to call other tools."""
    record = await context.caller.journal.record() if context.caller else []
    calls = (call for entry in record if isinstance(entry, Answered) for call in tool_calls(entry))
    same = {call["id"] for call in calls if call["name"] == name and call["input"] == arguments}
    results = (each for entry in record if isinstance(entry, Returned) for each in entry.results)
    return any(each["tool_use_id"] in same and ended_by_a_question(each) for each in results)


def _resource_tool(offered: Sequence[tuple[Server, Offered]], remote: Reach, reader: Reader) -> Tool:
    servers = {server.name: server for server, _ in offered}

    @tool(
        outward=any(server.ask is None for server in servers.values()),
        untrusted=True,
        seconds=max(server.seconds for server in servers.values()),
        result_chars=max(server.result_chars for server in servers.values()),
    )
    async def mcp_resource(
        server: Annotated[str, "The server's name"],
        uri: Annotated[str, "The resource's whole address, as it is listed, or as a result named it"],
        context: ToolContext,
    ) -> Output:
        """As READ says."""
        if server not in servers:
            raise ToolFault(f"There is no server {server!r} with resources. There are: {', '.join(servers)}.")
        try:
            pieces = await remote().read(servers[server], uri)
        except (Unreachable, Refused) as why:
            raise ToolFault(f"{server} did not give it: {harmless(str(why))}") from why
        return await shown_pieces(pieces, context, reader)

    lines = [
        f"- {server.name}: {shorten(' '.join(f'{each.uri} {each.about}'.split()), LONGEST_LINE)}"
        for server, its in sorted(offered, key=lambda pair: pair[0].name)
        for each in its.resources[: max(MOST_LISTED // len(servers), 1)]
    ]
    return replace(mcp_resource, description=READ.format(listed=harmless("\n".join(lines))))
