"""The dispatcher's computed tables agree with PyTorch's: the same kernel serves each key for any registrations.

`PythonDispatcher` asks PyTorch's own dispatcher, for eight runtime keys and three alias keys;
`torch._C._dispatch_dump_table`, which it is built on, knows every key. The first test stays within `PythonDispatcher`,
the second compares all keys that both sides have, and the third compares the tables of `opgen explain`, which are
computed in Python.
"""

from __future__ import annotations

import importlib.util
import os
import random
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from opgen.model.dispatch_key import COMPOSITE_DISPATCH_KEYS, DispatchKey
from opgen.resolve.computed_table import RUNTIME_KEYS, _serving_alias
from support.build import INCLUDE, link_program, locked

if importlib.util.find_spec("torch") is None and os.environ.get("OPGEN_REQUIRE_TORCH") != "1":
    pytest.skip("torch is not installed: it is needed for the comparison", allow_module_level=True)

pytestmark = pytest.mark.slow

_ALIASES = (
    "Autograd",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
    "CompositeImplicitAutograd",
    "CompositeImplicitAutogradNestedTensor",
    "FuncTorchBatchedDecomposition",
)
# Backends of PyTorch that are separate keys here, or the other way round.
_ONLY_ONE_SIDE = re.compile(r"MAIA$")
# PyTorch's table of "the backend below this autograd key" lacks three backends, so that an implicit
# composite kernel serves their autograd although they have a kernel. Here all backends follow one
# rule.
_FORGOTTEN = ("AutogradHIP", "AutogradMTIA", "AutogradVE")


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = Path(__file__).with_name("dispatch_table.cpp")
    with locked("dispatch-table"):
        return link_program(tmp_path_factory.mktemp("driver"), [source], [INCLUDE])


@pytest.fixture(scope="module")
def dispatcher_class() -> Any:
    return importlib.import_module("torch._python_dispatcher").PythonDispatcher


def _ours(driver: Path, sets: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    """Return, for each set of registrations, the registration that serves each key."""
    lines = "".join(" ".join(keys) + "\n" for keys in sets)
    done = subprocess.run([driver], input=lines, capture_output=True, text=True, check=True)
    tables = done.stdout.splitlines()
    assert len(tables) == len(sets)
    cells = [[cell.split("=") for cell in table.split()] for table in tables]
    # A fallback is not one of the registrations.
    return [{k: v for k, v in row if v not in ("fallthrough", "fallback")} for row in cells]


def _theirs(dispatcher_class: Any, keys: Sequence[str]) -> dict[str, str]:
    """Return the same from PyTorch, with every key that it has; "" where no registration serves the key."""
    dispatcher = dispatcher_class()
    for key in keys:
        dispatcher.ref.impl_t_t("foo", dispatch=key, debug=f"fn_{key}")
    found = {}
    for line in dispatcher.rawDispatchTable().splitlines():
        key, _, kernel = line.partition(": ")
        if kernel.startswith("ambiguous_autogradother"):
            found[key] = "ambiguous"
        else:
            ours = re.match(r"fn_(\w+) ", kernel)
            found[key] = ours[1] if ours else ""
    return found


def _draw(rng: random.Random, runtime: Sequence[str], aliases: Sequence[str]) -> list[str]:
    keys = rng.sample(runtime, rng.randint(0, min(6, len(runtime))))
    keys += rng.sample(aliases, rng.randint(0, len(aliases)))
    rng.shuffle(keys)
    return keys


def _differences(
    ours: dict[str, str], theirs: dict[str, str], runtime: Sequence[str]
) -> dict[str, tuple[str, str]]:
    """Return, for each key where they differ, ours and theirs; "" for fallbacks and for nothing."""
    found = {key: (ours.get(key, ""), theirs.get(key, "")) for key in runtime}
    return {key: pair for key, pair in found.items() if pair[0] != pair[1]}


def test_the_tables_of_python_dispatcher(driver: Path, dispatcher_class: Any) -> None:
    """Compare 3,000 random sets of keys that PythonDispatcher accepts, with the tables that it prints."""
    rng = random.Random(0)
    sets = []
    while len(sets) < 3000:
        keys = _draw(rng, dispatcher_class.runtime_keys, dispatcher_class.alias_keys)
        # PythonDispatcher rejects the two composite keys together.
        if not {"CompositeExplicitAutograd", "CompositeImplicitAutograd"} <= set(keys):
            sets.append(keys)
    for keys, ours in zip(sets, _ours(driver, sets), strict=True):
        is_so = {key: _spelled(ours.get(key, "")) for key in dispatcher_class.runtime_keys}
        assert is_so == _printed(dispatcher_class, keys), keys


def _spelled(kernel: str) -> str:
    """Return the name that PythonDispatcher gives to our kernel."""
    if kernel == "ambiguous":
        return "ambiguous_autogradother"
    return f"fn_{kernel}" if kernel else ""


def _printed(dispatcher_class: Any, keys: Sequence[str]) -> dict[str, str]:
    """Parse PythonDispatcher's computed table; "" for its own fallbacks and for keys that it does not print."""
    dispatcher = dispatcher_class()
    dispatcher.register(keys)
    pattern = re.compile(r"^(\w+) +(fn_\w+|ambiguous_autogradother)", re.MULTILINE)
    found = dict(pattern.findall(dispatcher.dispatchTable()))
    return {key: found.get(key, "") for key in dispatcher_class.runtime_keys}


def test_the_tables_for_all_keys(driver: Path, dispatcher_class: Any) -> None:
    """Compare the kernel of every key for 2,000 random sets of registrations, which may include several alias keys."""
    rng = random.Random(1)
    ours = set(
        subprocess.run([driver, "keys"], capture_output=True, text=True, check=True).stdout.split()
    )
    theirs = _theirs(dispatcher_class, ["CompositeImplicitAutograd"])  # All keys are printed.
    runtime = [
        key
        for key in theirs
        if key in ours - {"Undefined", *_FORGOTTEN} and not _ONLY_ONE_SIDE.search(key)
    ]
    assert len(runtime) > 110
    # PyTorch cannot parse the names of all of its keys.
    parse = importlib.import_module("torch")._C._parse_dispatch_key
    named = [key for key in runtime if parse(key) is not None]
    assert len(named) > 70
    sets = [_draw(rng, named, _ALIASES) for _ in range(2000)]
    for keys, table in zip(sets, _ours(driver, sets), strict=True):
        differences = _differences(table, _theirs(dispatcher_class, keys), runtime)
        assert not differences, keys


def test_the_tables_of_explain(dispatcher_class: Any) -> None:
    """Compare 2,000 random sets of keys that an entry may name: every key of every table, including Functionalize and
    autograd.
    """
    rng = random.Random(2)
    theirs = _theirs(dispatcher_class, ["CompositeImplicitAutograd"])
    compared = [key for key in RUNTIME_KEYS if key.name in theirs and key.name not in _FORGOTTEN]
    compared = [key for key in compared if not _ONLY_ONE_SIDE.search(key.name)]
    assert len(compared) > 110
    parse = importlib.import_module("torch")._C._parse_dispatch_key
    named = [key.name for key in compared if parse(key.name) is not None]
    for _ in range(2000):
        keys = _draw(rng, named, [key.name for key in COMPOSITE_DISPATCH_KEYS])
        registered = {DispatchKey[key] for key in keys}
        found = {k: k if k in registered else _serving_alias(k, registered) for k in compared}
        table = _theirs(dispatcher_class, keys)
        is_so = {key: table.get(key.name, "").replace("ambiguous", "") for key in compared}
        assert {key: str(served or "") for key, served in found.items()} == is_so, keys
