"""The dispatcher's computed tables beside PyTorch's: the same kernel serves each key, whatever is registered.

`PythonDispatcher` asks PyTorch's own dispatcher. It is made for eight runtime keys and three alias keys; under it
lies `torch._C._dispatch_dump_table`, which knows every key. The first test stays within `PythonDispatcher`, the
second compares all keys that both sides have.
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

from support.build import INCLUDE, link_program, locked

if importlib.util.find_spec("torch") is None and os.environ.get("OPGEN_REQUIRE_TORCH") != "1":
    pytest.skip("torch is not installed: nothing to compare with", allow_module_level=True)

pytestmark = pytest.mark.slow

_ALIASES = (
    "Autograd",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
    "CompositeImplicitAutograd",
    "CompositeImplicitAutogradNestedTensor",
    "FuncTorchBatchedDecomposition",
)
# Backends of PyTorch that are keys of their own here, or the other way round.
_ONLY_ONE_SIDE = re.compile(r"MAIA$")


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = Path(__file__).with_name("dispatch_table.cpp")
    with locked("dispatch-table"):
        return link_program(tmp_path_factory.mktemp("driver"), [source], [INCLUDE])


@pytest.fixture(scope="module")
def dispatcher_class() -> Any:
    return importlib.import_module("torch._python_dispatcher").PythonDispatcher


def _ours(driver: Path, sets: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    """For each set of registrations: which of them serves each key."""
    lines = "".join(" ".join(keys) + "\n" for keys in sets)
    done = subprocess.run([driver], input=lines, capture_output=True, text=True, check=True)
    tables = done.stdout.splitlines()
    assert len(tables) == len(sets)
    return [dict(cell.split("=") for cell in table.split()) for table in tables]


def _theirs(dispatcher_class: Any, keys: Sequence[str]) -> dict[str, str]:
    """The same from PyTorch, with every key that it has; "" where none of the registrations serves."""
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


def _differences(ours: dict[str, str], theirs: dict[str, str]) -> dict[str, tuple[str, str]]:
    shared = {key for key in theirs if not _ONLY_ONE_SIDE.search(key)} - {"Undefined"}
    found = {key: (ours.get(key, ""), theirs[key]) for key in sorted(shared)}
    # What neither side's registrations serve: a fallthrough, a fallback or nothing.
    served = {
        key: pair for key, pair in found.items() if pair[0] not in ("fallthrough", "fallback")
    }
    return {key: pair for key, pair in served.items() if pair[0] != pair[1]}


def test_the_tables_of_python_dispatcher(driver: Path, dispatcher_class: Any) -> None:
    """3,000 random sets within what PythonDispatcher accepts, as it prints them."""
    rng = random.Random(0)
    sets = []
    while len(sets) < 3000:
        keys = _draw(rng, dispatcher_class.runtime_keys, dispatcher_class.alias_keys)
        # PythonDispatcher refuses the two composites together.
        if not {"CompositeExplicitAutograd", "CompositeImplicitAutograd"} <= set(keys):
            sets.append(keys)
    for keys, ours in zip(sets, _ours(driver, sets), strict=True):
        dispatcher = dispatcher_class()
        dispatcher.register(keys)
        printed = re.findall(
            r"^(\w+) +(fn_\w+|ambiguous_autogradother)?", dispatcher.dispatchTable(), re.M
        )
        table = {key: kernel for key, kernel in printed if key in dispatcher_class.runtime_keys}
        assert set(table) == set(dispatcher_class.runtime_keys)
        spelled = {
            key: {"": "", "ambiguous": "ambiguous_autogradother"}.get(
                ours.get(key, ""), f"fn_{ours.get(key)}"
            )
            for key in table
        }
        assert spelled == table, keys
        del dispatcher  # only one at a time may define the operator


def test_the_tables_for_all_keys(driver: Path, dispatcher_class: Any) -> None:
    """2,000 random sets of any of PyTorch's keys, aliases together as well: every key's kernel."""
    rng = random.Random(1)
    runtime = [
        key
        for key in _theirs(dispatcher_class, [])
        if key != "Undefined" and not _ONLY_ONE_SIDE.search(key)
    ]
    assert len(runtime) > 120
    sets = [_draw(rng, runtime, _ALIASES) for _ in range(2000)]
    for keys, ours in zip(sets, _ours(driver, sets), strict=True):
        differences = _differences(ours, _theirs(dispatcher_class, keys))
        assert not differences, keys
