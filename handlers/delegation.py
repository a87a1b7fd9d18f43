"""The agents of ``agent/agents/`` with what they need to work, behind the one tool that gives them tasks."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from bot.agent import Agent, Limits
from bot.agentdir.agents import AgentFile
from bot.approvals import Gate
from bot.context import marks
from bot.folding import Folding
from bot.listening import Listening
from bot.ports import Clock, Model, Policy
from bot.prompt import PromptBuilder
from bot.provided import server_tools
from bot.subagents import BASE, Subagent
from bot.toolkit import Tool, Toolbox
from bot.tools.delegate import delegate_tool
from handlers.provider import Provider
from handlers.settings import Settings


def delegation(
    settings: Settings,
    agents: Sequence[AgentFile],
    tools: Sequence[Tool],
    provider: Provider,
    model: Callable[[str], Model],
    *,
    usual: str,
    cheaper: Model | None,
    policy: Policy,
    listening: Listening,
    gate: Gate,
    clock: Clock,
) -> list[Tool]:
    """The tool ``delegate``, or none where there is no agent. ``usual`` is the model of those that name none; ``model``
    makes one by its name."""

    def made(file: AgentFile) -> Subagent:
        name = file.model or usual
        facts = provider.facts(name)
        own = [tool for tool in tools if _is_meant(tool, file.tools)]
        toolbox = Toolbox(own)
        max_tokens = min(settings.kabar_max_tokens, facts.output)
        theirs = [each for each in server_tools(facts) if toolbox.find(each["name"])]
        prompts = PromptBuilder(
            file.instructions,
            toolbox,
            max_tokens,
            caching=facts.caching,
            read=facts.read,
            server_tools=theirs,
            base=BASE,
        )
        agent = Agent(
            model=model(name),
            prompts=prompts,
            toolbox=toolbox,
            clock=clock,
            limits=Limits(model_calls=file.limits.model_calls),
            folding=Folding(prompts, policy, marks(facts.context, max_tokens, settings.kabar_context_tokens)),
            listening=listening,
            gate=replace(gate, unattended=True),
            cheaper=cheaper,
        )
        return Subagent(file.name, file.description, agent, file.limits.seconds)

    return [delegate_tool([made(file) for file in agents], clock)] if agents else []


def _is_meant(tool: Tool, names: tuple[str, ...] | None) -> bool:
    """Whether an agent with these tools has it; where it names none, all that only read."""
    return tool.name in names if names is not None else not (tool.writes or tool.asks)
