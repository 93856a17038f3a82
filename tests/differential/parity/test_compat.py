"""Verdicts on changed schemas: opgen agrees with torch.FunctionSchema, in both directions."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from loading import load_registry
from msgspec.structs import replace
from schema_mutations import mutate

from opgen.compat.breaks import STRICTER, Direction
from opgen.compat.schema_rules import Versions, compare_operators, compare_schemas
from opgen.diagnostics import Diagnostics, Source
from opgen.model.native_function import NativeFunction
from opgen.parse.files.native_functions import builtin_tags
from support.entries import parse_native_functions
from support.releases import write_files

# The number of schemas that are changed; each pair is compared in both orders.
_SAMPLE = 250
_ALL = 6000


@dataclass(frozen=True)
class Pair:
    old: NativeFunction
    new: NativeFunction
    parsed_old: Any
    parsed_new: Any


@pytest.fixture(scope="module")
def parse_schema(packaged: Path) -> Callable[[str], Any]:
    torch: Any = importlib.import_module("torch")
    return torch._C.parse_schema  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def operators(packaged: Path) -> tuple[NativeFunction, ...]:
    return load_registry(packaged / "native").functions


def _pairs(
    operators: tuple[NativeFunction, ...], parse: Callable[[str], Any], count: int, seed: int
) -> Iterator[Pair]:
    """Return `count` pairs of different schemas that torch can parse, and each pair reversed."""
    random = Random(seed)
    made = 0
    while made < count:
        old = random.choice(operators)
        new = replace(old, func=mutate(old.func, random))
        parsed_old, parsed_new = _parsed(old, parse), _parsed(new, parse)
        if parsed_old is None or parsed_new is None or not _is_other_schema(new, old):
            continue
        made += 1
        yield Pair(old, new, parsed_old, parsed_new)
        yield Pair(new, old, parsed_new, parsed_old)


def _is_other_schema(new: NativeFunction, old: NativeFunction) -> bool:
    """Return whether the schema is different and valid: no two arguments have the same name."""
    names = [a.name for a in new.func.arguments.flat_all]
    return new.func != old.func and len(set(names)) == len(names)


def _parsed(f: NativeFunction, parse: Callable[[str], Any]) -> Any:
    try:
        return parse(f"{f.namespace}::{f.func}")
    except (
        RuntimeError,
        ValueError,
    ):  # ValueError: from std::stod in C++, for a number out of range.
        return None


def _theirs(pair: Pair) -> tuple[bool, bool]:
    return (
        _verdict(lambda: pair.parsed_new.is_backward_compatible_with(pair.parsed_old)),
        _verdict(lambda: pair.parsed_new.check_forward_compatible_with(pair.parsed_old)[0]),
    )


def _verdict(ask: Callable[[], bool]) -> bool:
    """Return torch's verdict. If out arguments differ, torch may read past the end of its list and raise."""
    try:
        return bool(ask())
    except IndexError:
        return False


def _ours(pair: Pair) -> tuple[bool, bool]:
    if pair.old.full_name != pair.new.full_name:
        return False, False
    found = [item.verdicts for item in compare_schemas(Versions(pair.old, pair.new))]
    broken = frozenset[Direction]().union(*found)
    return Direction.backward not in broken, Direction.forward not in broken


def _check(pairs: Iterator[Pair]) -> Counter[tuple[bool, bool]]:
    verdicts: Counter[tuple[bool, bool]] = Counter()
    for pair in pairs:
        theirs = _theirs(pair)
        verdicts[theirs] += 1
        assert _ours(pair) == theirs, f"{pair.old.func}\n{pair.new.func}"
        for found in compare_operators([pair.old], [pair.new]):
            assert not found.stricter or found.kind in STRICTER
    return verdicts


def test_verdicts_of_mutated_schemas(
    operators: tuple[NativeFunction, ...], parse_schema: Callable[[str], Any]
) -> None:
    """Protects the claim that opgen finds every break that PyTorch's own check finds, and no others."""
    verdicts = _check(_pairs(operators, parse_schema, _SAMPLE, seed=1))
    assert all(verdicts[a, b] > 0 for a in (True, False) for b in (True, False)), verdicts


@pytest.mark.slow
def test_verdicts_of_many_mutated_schemas(
    operators: tuple[NativeFunction, ...], parse_schema: Callable[[str], Any]
) -> None:
    """Protects the same claim, with more schemas than the sample has."""
    verdicts = _check(_pairs(operators, parse_schema, _ALL, seed=2))
    assert verdicts.total() == 2 * _ALL


# Forms that libraries use; within a group, each is compared with each.
_OF_LIBRARIES = (
    (
        "f(Tensor x, Tensor y) -> ()",
        "f(Tensor! x, Tensor y) -> ()",
        "f(Tensor(a!) x, Tensor y) -> ()",
        "f(Tensor(b!) x, Tensor y) -> ()",
        "f(Tensor(a!) x, Tensor(b!) y) -> ()",
        "f(Tensor(a!) x, Tensor(a!) y) -> ()",
        "f(Tensor(a!) x, Tensor y, int n=0) -> ()",
        "f(Tensor(a!) x, Tensor y) -> Tensor(a!)",
        "f(Tensor(a) x, Tensor y) -> Tensor(a)",
        "f(Tensor x, Tensor y) -> Tensor",
        "f(Tensor(a!)? x, Tensor y) -> ()",
        "f(Tensor(a|b!) x, Tensor y) -> ()",
        "f(Tensor(a -> *) x, Tensor y) -> Tensor",
        "f(Tensor(word!) x, Tensor y) -> ()",
        "f(Tensor x, Tensor y) -> Tensor r",
        "f(Tensor x, Tensor y) -> Tensor(a)",
        "f(Tensor x, *, Tensor y) -> Tensor",
    ),
    (
        "f(Tensor(a!)[] x) -> ()",
        "f(Tensor[](a!) x) -> ()",
        "f(Tensor![] x) -> ()",
        "f(Tensor[]! x) -> ()",
        "f(Tensor[] x) -> ()",
        "f(Tensor(a!)[]? x) -> ()",
        "f(Tensor?[] x) -> ()",
    ),
    (
        "f(Dict(str, Tensor) x) -> ()",
        "f(Dict(str, int) x) -> ()",
        "f(Dict(str, Tensor)? x) -> ()",
        "f(Any x) -> ()",
        "f(int x) -> ()",
        "f(complex x) -> ()",
        "f(float x) -> ()",
        "f(Scalar x) -> ()",
        "f(int? x) -> ()",
        "f(bool x) -> ()",
        "f((Tensor, int) x) -> ()",
        "f((Tensor, int)[] x) -> ()",
        "f((Tensor, SymInt)[] x) -> ()",
        "f(SymBool x) -> ()",
        "f(SymInt x) -> ()",
        "f(Device x) -> ()",
        "f(Stream x) -> ()",
        "f(str x) -> ()",
        "f(Dict(str, Any) x) -> ()",
        "f(Any? x) -> ()",
    ),
    (
        "f(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
        "f(Tensor x, *, Tensor(a!) out) -> ()",
        "f(Tensor x, Tensor(a!) out) -> ()",
        "f(Tensor x, *, Tensor! out) -> ()",
        "f(Tensor x, *, Tensor(a!)[] out) -> ()",
        "f(Tensor x, *, Tensor(a!) out, Tensor(b!) out2) -> ()",
        "f(Tensor x, *, Tensor(a!) out, int n=3) -> ()",
    ),
    (
        "f(Tensor input, Tensor input) -> ()",
        "f(Tensor input, Tensor other) -> ()",
        "f(Tensor input, Tensor input, Tensor input) -> ()",
        "f(Tensor input) -> ()",
    ),
    (
        "f(Tensor self) -> int",
        "f(Tensor self) -> str",
        "f(Tensor self) -> ()",
        "f(Tensor self) -> (Tensor, int)",
        "f(Tensor self) -> Scalar",
        "f(Tensor self) -> int?",
        "f(Tensor self) -> Any",
        "f(Tensor self) -> Tensor?",
    ),
)


@pytest.mark.parametrize("schemas", _OF_LIBRARIES, ids=lambda group: group[0].partition(" x")[0])
def test_verdicts_of_libraries_schemas(
    schemas: tuple[str, ...], parse_schema: Callable[[str], Any]
) -> None:
    """Protects the same claim for schemas that PyTorch's runtime parser accepts and torchgen does not."""
    functions = [_library_function(schema) for schema in schemas]
    for old, new in product(functions, functions):
        parsed = [parse_schema(f"{f.namespace}::{f.func}") for f in (old, new)]
        pair = Pair(old, new, *parsed)
        assert _ours(pair) == _theirs(pair), f"{old.func}\n{new.func}"


def _library_function(schema: str) -> NativeFunction:
    diagnostics = Diagnostics()
    source = Source("f.yaml", f"- func: ns::{schema}\n")
    (found,) = parse_native_functions([source], builtin_tags(), (), diagnostics)
    assert not diagnostics.has_errors
    return found


def test_nothing_breaks_without_a_change(operators: tuple[NativeFunction, ...]) -> None:
    """Protects against noise: equal files have no breaks."""
    assert compare_operators(operators, operators) == ()


@pytest.mark.slow
def test_from_2_0_1_to_the_installed_version(
    tmp_path: Path, operators: tuple[NativeFunction, ...], parse_schema: Callable[[str], Any]
) -> None:
    """Protects the report on real changes: each operator's verdicts are torch's."""
    after = {f.full_name: f for f in operators}
    older = load_registry(write_files("2.0.1", tmp_path)).functions
    broken = {found.operator for found in compare_operators(older, operators)}
    compared = 0
    for old in older:
        new = after.get(old.full_name)
        if new is None:
            assert old.full_name in broken
            continue
        parsed = _parsed(old, parse_schema), _parsed(new, parse_schema)
        if parsed[0] is not None and parsed[1] is not None:
            compared += 1
            pair = Pair(old, new, *parsed)
            assert _ours(pair) == _theirs(pair), f"{old.func}\n{new.func}"
    assert compared > 2500 and len(broken) > 50
