"""The built packages, and a way to run one under AWS's own runtime client."""

import os
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Protocol

import pytest

from scripts.build import Package, build
from tests.packages.libraries import LAMBDA_PYTHON, targets, this_target
from tests.packages.runtime_api import Runtime

Packages = Callable[[str, str], Package]
"""A function's package by its name ("webhook") and an architecture ("arm64")."""


class StartFunction(Protocol):
    def __call__(self, function: str, environment: Mapping[str, str], *, snapshot: bool = False) -> Runtime:
        """A function's runtime, not yet started, by its name and its environment."""


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Packages:
    """Built now from this very source, each once; only the libraries come from the cache."""
    if not LAMBDA_PYTHON.exists():
        message = "The Lambda runtime client is not installed: run `make libraries` (Linux only)."
        if os.environ.get("CI") and sys.platform == "linux":
            pytest.fail(message)
        pytest.skip(message)
    folder = tmp_path_factory.mktemp("packages")

    @cache
    def built(function: str, arch: str) -> Package:
        return build(function, targets()[arch], folder / arch / function)

    return built


@pytest.fixture
def start_function(packages: Packages) -> StartFunction:
    """``with start_function("webhook", {...}) as runtime: runtime.invoke(event)``"""

    def start(function: str, environment: Mapping[str, str], *, snapshot: bool = False) -> Runtime:
        package = packages(function, this_target().arch).path
        handler = f"handlers.{function}.handler"
        return Runtime(package, handler, Path(LAMBDA_PYTHON), environment, snapshot=snapshot)

    return start
