"""A package whose ``__init__`` hands on its modules' names, made lazy: the same names, loaded when asked for."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.lazy import make_lazy
from tests.agentdir.tree import tree

SHOP = {
    "shop/__init__.py": '''"""A shop."""
from __future__ import annotations

from .counting import COUNT, total as total_of
from .pay import *
from .goods import Apple, Pear
from . import cellar
from .price import price

__all__ = ["COUNT", "total_of", "Cash", "Apple", "Pear", "cellar", "price", "Fruit", "DOUBLE"]

Fruit: type = Apple | Pear
DOUBLE = COUNT * 2
''',
    "shop/counting.py": "COUNT = 3\ndef total(): return COUNT\n",
    "shop/pay/__init__.py": "from .cash import Cash, _drawer\n",
    "shop/pay/cash.py": "class Cash: pass\n_drawer = 1\n",
    "shop/goods.py": "class Apple: pass\nclass Pear: pass\n",
    "shop/cellar.py": "WINE = 1\n",
    "shop/price.py": "def price(): return 5\n",
}


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the package, which can be imported from there until the test ends."""
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tree(tmp_path, SHOP) / "shop"
    for name in loaded():
        del sys.modules[name]


def loaded() -> set[str]:
    return {name for name in sys.modules if name.partition(".")[0] == "shop"}


def test_a_name_loads_its_module_and_no_other(shop: Path) -> None:
    assert make_lazy(shop) == 2
    assert make_lazy(shop) == 0
    package = importlib.import_module("shop")
    at_first = loaded()
    assert package.Cash.__name__ == "Cash"

    # What the package itself makes something of is there at once, and what a module beside it hides behind its name.
    assert at_first == {"shop", "shop.counting", "shop.price"}
    assert loaded() - at_first == {"shop.pay", "shop.pay.cash"}


def test_all_names_are_there_and_are_the_same_however_they_are_asked_for(shop: Path) -> None:
    make_lazy(shop)
    package = importlib.import_module("shop")
    starred: dict[str, object] = {}
    exec("from shop import *", starred)

    assert set(package.__all__) <= set(dir(package))
    assert {name for name in starred if not name.startswith("__")} == set(package.__all__)
    assert all(starred[name] is getattr(package, name) for name in package.__all__)
    assert package.Fruit == package.Apple | package.Pear
    assert (package.total_of(), package.price(), package.cellar.WINE, package.DOUBLE) == (3, 5, 1, 6)
    assert package.pay.cash.Cash is package.Cash
    assert package.__doc__ == "A shop."


def test_a_name_that_was_never_there_is_missed_as_ever(shop: Path) -> None:
    make_lazy(shop)

    with pytest.raises(ImportError, match="cannot import name 'Plum' from 'shop'"):
        exec("from shop import Plum")


def test_a_package_that_hands_nothing_on_stays_as_it_is(tmp_path: Path) -> None:
    folder = tree(tmp_path / "own", {"__init__.py": "import json\n\nLIMIT = 3  # pieces\n"})

    assert make_lazy(folder) == 0
    assert (folder / "__init__.py").read_text() == "import json\n\nLIMIT = 3  # pieces\n"
