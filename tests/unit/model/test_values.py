"""The model's values as programs use them: frozen, compared without their places, replaced, matched, pickled."""

from __future__ import annotations

import copy
import dataclasses
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import asdict, replace

import opgen
from opgen.diagnostics import Diagnostic, Severity, Source, Span
from opgen.model.function_schema import Annotation, Argument, FunctionSchema, Return
from opgen.model.native_function import NativeFunction
from opgen.model.selector import Mention
from opgen.model.types import BaseTy, BaseType, ListType, OptionalType

ENTRIES = """\
- func: twice(Tensor self, int[2]? dims=None) -> Tensor
  variants: function, method
  tags: pointwise
- func: thrice(Tensor self) -> Tensor
"""
TAGS = "- tag: pointwise\n  desc: by element\n"
TENSOR = BaseType(BaseTy.Tensor)
SELF = Argument("self", TENSOR, None, None)


def registry(folder: Path, before: str = "") -> opgen.Registry:
    folder.mkdir()
    (folder / "native_functions.yaml").write_text(before + ENTRIES)
    (folder / "tags.yaml").write_text(TAGS)
    file = folder / "native_functions.yaml"
    return opgen.load(opgen.Inputs(file, tags=folder / "tags.yaml", namespace="aten"))


@pytest.fixture
def loaded(tmp_path: Path) -> opgen.Registry:
    return registry(tmp_path / "loaded")


def test_values_are_frozen(loaded: opgen.Registry) -> None:
    f = loaded.functions[0]
    for value, field in (
        (loaded, "functions"),
        (f, "namespace"),
        (f.func, "name"),
        (f.func.arguments, "out"),
        (SELF, "name"),
        (TENSOR, "name"),
        (f.span, "start"),
        (f.span.source, "text"),
    ):
        before = getattr(value, field)
        with pytest.raises(AttributeError, match="immutable"):
            setattr(value, field, ())
        with pytest.raises(AttributeError, match="immutable"):
            delattr(value, field)
        assert getattr(value, field) is before
    with pytest.raises(AttributeError):
        loaded.functions = ()  # type: ignore[misc]
    with pytest.raises(AttributeError):
        loaded.another = ()  # type: ignore[attr-defined]


def test_a_replaced_argument_has_another_hash_and_text() -> None:
    hash(SELF)
    str(SELF)
    other = replace(SELF, name="other")
    fresh = Argument("other", TENSOR, None, None)
    assert other == fresh
    assert hash(other) == hash(fresh) != hash(SELF)
    assert (str(SELF), str(other)) == ("Tensor self", "Tensor other")
    assert {fresh: 1}[other] == 1
    assert SELF not in {fresh: 1}


def test_derived_fields_are_updated_in_a_replaced_value(loaded: opgen.Registry) -> None:
    f, g = loaded.functions
    assert (f.full_name, loaded.find_function("aten::twice")) == ("aten::twice", f)
    moved = replace(f, namespace="mylib")
    assert moved.full_name == "mylib::twice"
    kept = replace(loaded, functions=(g,))
    assert kept.find_function("aten::twice") is None
    assert kept.find_function("aten::thrice") is g
    assert kept != loaded
    assert replace(kept, functions=loaded.functions) == loaded


def test_places_do_not_count_when_values_are_compared(tmp_path: Path) -> None:
    one, other = registry(tmp_path / "one"), registry(tmp_path / "other", "# moved\n\n")
    f, g = one.functions[0], other.functions[0]
    assert f.span != g.span
    assert f == g
    assert (f != g) is False
    assert hash(f) == hash(g)
    assert one == other
    assert f != replace(g, is_abstract=not g.is_abstract)
    assert f != one.functions[1]
    assert f != f.func
    mentions = [Mention("aten::twice", False, value.span) for value in (f, g)]
    assert mentions[0] == mentions[1]
    assert len(set(mentions)) == 1


def test_values_can_be_pickled_and_copied(loaded: opgen.Registry) -> None:
    find = loaded.find_function
    assert find("aten::twice") is not None
    again: opgen.Registry = pickle.loads(pickle.dumps(loaded))
    assert again == loaded
    assert again.functions[0].span.text == loaded.functions[0].span.text == "twice"
    assert again.find_function("aten::twice") is again.functions[0]
    assert hash(again.functions[0].func) == hash(loaded.functions[0].func)
    assert copy.copy(loaded) == copy.deepcopy(loaded) == loaded


def test_diagnostics_can_be_pickled() -> None:
    """Diagnostics can be sent to another process, for example from a worker of a test runner."""
    source = Source("a.yaml", "- func: a\n")
    problem = Diagnostic("E0101", Severity.error, "it is wrong", Span(source, 2, 6))
    again = pickle.loads(pickle.dumps(problem))
    assert (again.code, again.severity, again.message) == ("E0101", Severity.error, "it is wrong")
    assert (again.span.text, again.span.source.location(2)) == ("func", source.location(2))


def described(value: object) -> object:
    match value:
        case FunctionSchema(name, arguments, (Return(None, type, None),)):
            return str(name), [described(a) for a in arguments.flat_all], described(type)
        case Argument(name, OptionalType(ListType(elem, size)), default):
            return name, described(elem), size, default
        case Argument(name, type, None, annotation=None):
            return name, described(type)
        case BaseType(BaseTy.Tensor):
            return "a tensor"
        case BaseType(name):
            return name.name
    raise AssertionError(value)


def test_values_are_matched_by_position_and_by_name(loaded: opgen.Registry) -> None:
    described_twice = ("twice", [("self", "a tensor"), ("dims", "int", 2, "None")], "a tensor")
    assert described(loaded.functions[0].func) == described_twice
    assert Argument.__match_args__ == ("name", "type", "default", "annotation", "written")
    match loaded.functions[0]:
        case NativeFunction(namespace="aten", python_module=None, tags=tags):
            assert tags == {"pointwise"}
        case _:
            pytest.fail("it is not matched")


def test_replacements_for_the_functions_of_dataclasses() -> None:
    argument = Argument("x", TENSOR, None, Annotation(("a",), True, ()))
    assert asdict(argument)["name"] == "x"
    with pytest.raises(TypeError, match="dataclass"):
        dataclasses.replace(argument, name="y")  # type: ignore[type-var]
    with pytest.raises(TypeError, match="no field 'nome'"):
        replace(argument, nome="y")
    if sys.version_info >= (3, 13):
        assert copy.replace(argument, name="y") == replace(argument, name="y")


def test_the_repr_of_a_value_does_not_contain_its_file(loaded: opgen.Registry) -> None:
    shown = repr(loaded)
    assert "name='twice'" in repr(loaded.functions[0]) or "base='twice'" in shown
    assert ENTRIES not in shown
    assert "desc: by element" not in shown
    assert len(shown) < 10_000


def test_a_hash_does_not_outlive_its_process() -> None:
    """Python's string hashes differ between processes, and some values store theirs."""
    program = """
import pickle, sys
from opgen.model.function_schema import Argument
from opgen.model.types import BaseTy, BaseType
mine = Argument("x", BaseType(BaseTy.Tensor), None, None)
if sys.argv[1:]:
    theirs = pickle.loads(bytes.fromhex(sys.argv[1]))
    assert theirs == mine and hash(theirs) == hash(mine)
hash(mine)
print(pickle.dumps(mine).hex())
"""
    sent: tuple[str, ...] = ()
    for seed in ("1", "2"):
        command = [sys.executable, "-c", program, *sent]
        environment: dict[str, Any] = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        sent = (done.stdout.strip(),)
