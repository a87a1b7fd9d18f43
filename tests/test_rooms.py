"""Who may import whom (docs: the rooms of bot/). Reads the imports; nothing is run."""

import ast
import sys

import pytest

from scripts.imports import ROOT, imports_of, reach, source_of

TOPS = ("bot", "handlers", "simulator")
DEEP = ("bot.adapters", "bot.channels", "bot.cli", "bot.tools")

FAMILIES = {
    # what is imported -> the one SDK it belongs to: a client library's own transport and models come with it
    "boto3": "aws",
    "botocore": "aws",
    "anthropic": "anthropic",
    "httpx2": "anthropic",
    "telegram": "telegram",
    "httpx": "telegram",
    "slack_bolt": "slack",
    "slack_sdk": "slack",
    "aiohttp": "slack",
    "a2a": "a2a",
    "google": "a2a",
    "mcp": "mcp",
    "mcp_types": "mcp",
    "jsonschema": "mcp",
    "opentelemetry": "otel",
}
EVERYWHERE = {"msgspec"}
"""How all values are said; a word of the language here."""


def module_name(parts: tuple[str, ...]) -> str:
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def modules(*tops: str) -> list[str]:
    files = [file for top in tops for file in sorted((ROOT / top.replace(".", "/")).rglob("*.py"))]
    return [module_name(file.relative_to(ROOT).with_suffix("").parts) for file in files]


def ours(module: str) -> set[str]:
    return {name for name in imports_of(module) if name.partition(".")[0] in TOPS and source_of(name)}


def libraries(module: str) -> set[str]:
    tops = {name.partition(".")[0] for name in imports_of(module)}
    return tops - set(sys.stdlib_module_names) - set(TOPS) - EVERYWHERE


def is_in(module: str, *rooms: str) -> bool:
    return any(module == room or module.startswith(f"{room}.") for room in rooms)


PLATFORMS = {
    "bot.channels.telegram": "telegram",
    "bot.channels.slack": "slack",
    "bot.channels.a2a": "a2a",
    "bot.channels.terminal": "",
}

CORE = [module for module in modules("bot") if not is_in(module, *DEEP)]
CHANNELS = modules("bot.channels")
ADAPTERS = modules("bot.adapters")


@pytest.mark.parametrize("module", CORE)
def test_the_core_knows_no_platform_no_cloud_and_no_entry_point(module: str) -> None:
    assert [name for name in ours(module) if is_in(name, *DEEP, "handlers", "simulator")] == []
    assert libraries(module) & set(FAMILIES) == set()


@pytest.mark.parametrize("module", CORE)
def test_a_core_module_never_comes_back_to_itself(module: str) -> None:
    below = {name for imported in ours(module) - {"bot"} for name in reach([imported]).own}

    assert module == "bot" or module not in below


@pytest.mark.parametrize("module", CHANNELS)
def test_a_channel_imports_the_core_and_its_own_sdk_only(module: str) -> None:
    others = PLATFORMS.keys() - {".".join(module.split(".")[:3])}
    foreign = [
        name for name in ours(module) if is_in(name, "bot.adapters", "bot.cli", "bot.tools", "handlers", "simulator")
    ]

    assert foreign == []
    assert [name for name in ours(module) if is_in(name, *others)] == []
    assert {FAMILIES.get(name) for name in libraries(module)}.isdisjoint({"aws", "anthropic"})
    assert libraries(module).isdisjoint(name for name, sdk in FAMILIES.items() if sdk in map(PLATFORMS.get, others))


@pytest.mark.parametrize("module", ADAPTERS)
def test_an_adapter_imports_the_core_and_one_sdk_only(module: str) -> None:
    others = [name for name in ours(module) if is_in(name, *DEEP, "handlers", "simulator")]

    assert [name for name in others if name not in (module, "bot.adapters")] == []
    assert len({FAMILIES.get(name, name) for name in libraries(module)}) <= 1


@pytest.mark.parametrize("module", [module for module in modules("bot") if not is_in(module, "bot.cli")])
def test_only_entry_points_read_the_environment(module: str) -> None:
    file = source_of(module)
    assert file is not None
    names = {node.attr for node in ast.walk(ast.parse(file.read_bytes())) if isinstance(node, ast.Attribute)}

    assert names.isdisjoint({"environ", "getenv"})


@pytest.mark.parametrize("package", [name for name in modules("bot", "handlers") if "__init__" in str(source_of(name))])
def test_a_package_re_exports_nothing(package: str) -> None:
    assert imports_of(package) == frozenset()


def test_what_is_deployed_needs_nothing_that_is_not() -> None:
    deployed = reach(["handlers.webhook", "handlers.worker"]).own

    assert [name for name in deployed if is_in(name, "simulator", "bot.cli")] == []


def test_only_the_function_for_other_agents_carries_their_sdk() -> None:
    for function in ("webhook", "worker", "deadletter", "sandbox", "registrar"):
        outside = {name.partition(".")[0] for name in reach([f"handlers.{function}"]).outside}
        assert outside & {"a2a", "google"} == set()
    assert "a2a" in {name.partition(".")[0] for name in reach(["handlers.a2a"]).outside}


def test_the_webhook_never_loads_the_model_s_the_telegram_or_a_protocol_s_library() -> None:
    webhook = reach(["handlers.webhook"])

    forbidden = {"anthropic", "telegram", "mcp", "a2a", "pydantic", "aiohttp", "httpx", "httpx2"}
    assert {name.partition(".")[0] for name in webhook.outside} & forbidden == set()
    assert [name for name in webhook.own if is_in(name, "bot.agent", "bot.turn", "bot.tools")] == []


def test_only_the_adapter_for_it_knows_open_telemetry() -> None:
    known = [module for module in modules(*TOPS) if "opentelemetry" in libraries(module)]

    assert known == ["bot.adapters.otel_tracing"]


def test_the_registrar_carries_no_platform_s_and_no_model_s_library() -> None:
    registrar = {name.partition(".")[0] for name in reach(["handlers.registrar"]).outside}

    assert {FAMILIES[name] for name in registrar & set(FAMILIES)} == {"aws"}


def test_the_registrar_can_answer_before_anything_of_ours_is_loaded() -> None:
    tops = ast.parse((ROOT / "handlers/registrar.py").read_text()).body
    names = {alias.name for node in tops if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in tops if isinstance(node, ast.ImportFrom)}

    assert {name.partition(".")[0] for name in names} <= set(sys.stdlib_module_names)
