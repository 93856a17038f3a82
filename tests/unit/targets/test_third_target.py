"""The seam between operators and targets: a third target goes all the way without a line of opgen knowing it.

Every string of every view is looked through for what only another target could have put there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from toy_target import TOY

from opgen.dataclasses import field_names, replace
from opgen.diagnostics import Diagnostics
from opgen.model.dispatch_key import DispatchKey
from opgen.model.registry import Registry
from opgen.pipeline import load
from opgen.render import Renderer
from opgen.targets import TARGETS, Target
from opgen.targets.base import FileKind
from opgen.views.base import FileView
from opgen.views.context import Context, Library
from opgen.views.tree import build_views
from support.inputs import aten_inputs

HERE = Path(__file__).parent
GOLDEN = HERE.parents[1] / "golden"
INPUTS = sorted(GOLDEN.glob("*/input.yaml"))

# What the other targets write and this one does not. `opgen::` is opgen's own support library, which every
# target brings along (see SUPPORT).
FOREIGN = re.compile(
    r"::std::|std::|\bc10\b|\bTORCH|nullopt|\bkLong\b|MemoryFormat::|Reduction::|\bint64_t\b|\bdouble\b"
    r"|(?<!toy::)\b(Tensor|Scalar|IntArrayRef|SymInt|SymIntArrayRef|TensorOptions|TensorList|Generator|Device"
    r"|Layout|ScalarType|ArrayRef|ITensorListRef|DispatchKeySet|TensorIteratorBase|MetaBase)\b(?!_|\)\()"
)
# Fields that hold no C++: schemas, names and paths, and text for the author.
NOT_CPP = {
    *(
        "schema",
        "schema_literal",
        "schema_str",
        "operator",
        "path",
        "template",
        "purpose",
        "name",
        "root",
    ),
    *("struct", "overload", "key", "base", "tensor_header", "macro", "library", "includes"),
}
# The class templates and functions that a target's support library has, in all of them by the same names.
SUPPORT = {
    *("Functional", "Out", "Inplace", "CompositeFunctional", "CompositeInplace", "MetaInplaceStub"),
    *(
        "BackendSelect",
        "Adapt",
        "ApartOut",
        "DeviceGuarded",
        "DispatchKey",
        "View",
        "InplaceView",
        "Bases",
    ),
    *("assign_outputs", "clone_arg", "clone_view"),
}


@pytest.fixture(scope="module", params=INPUTS, ids=lambda path: path.parent.name)
def registry(request: pytest.FixtureRequest) -> Registry:
    return registry_of(request.param)


def registry_of(*yaml: Path) -> Registry:
    diagnostics = Diagnostics()
    registry = load(aten_inputs(yaml), diagnostics)
    assert registry is not None
    return registry


def context_of(registry: Registry, target: Target) -> Context:
    return Context(registry, target, Library("mine"))


def test_no_view_holds_another_targets_spelling(registry: Registry) -> None:
    every_file = replace(TOY, files=frozenset(FileKind))
    found = {
        f"{view.path}: {field}: {text}"
        for view in build_views(context_of(registry, every_file))
        for field, text in strings(view)
        if field not in NOT_CPP and FOREIGN.search(text)
    }
    assert not found, "\n".join(sorted(found))


def test_views_use_only_the_known_support_library(registry: Registry) -> None:
    used = {
        name
        for view in build_views(context_of(registry, TARGETS["runtime"]))
        for field, text in strings(view)
        if field not in NOT_CPP
        for name in re.findall(r"\bopgen::(\w+)", text)
    }
    assert used <= SUPPORT | {"Tensor", "check_tensor_options_and_extract_memory_format"}, used


def test_only_the_planned_files_are_made(registry: Registry) -> None:
    paths = {view.path for view in build_views(context_of(registry, TOY))}
    allowed = re.compile(r"include/mine/ops/\w+?(_ops)?\.h|src/Register(?!Schema)\w+\.cpp")
    assert paths and all(allowed.fullmatch(path) for path in paths), paths


def test_an_empty_plan_makes_nothing(registry: Registry) -> None:
    nothing = replace(TOY, files=frozenset())
    assert build_views(context_of(registry, nothing)) == ()


def test_the_texts_are_in_the_words_of_the_target(tmp_path: Path) -> None:
    yaml = tmp_path / "input.yaml"
    yaml.write_text(
        "- func: fill(SymInt[] size, Scalar value=1, *, ScalarType? dtype=None, Layout? layout=None,"
        " Device? device=None, bool? pin_memory=None) -> Tensor\n"
        "  dispatch:\n    SparseCPU: fill_sparse_symint\n    CPU: fill_cpu\n\n"
        "- func: twice_(Tensor(a!) self, int[]? dims=None, bool keep=False) -> Tensor(a!)\n"
        "  dispatch:\n    CPU: twice_\n"
    )
    views = build_views(context_of(registry_of(yaml), TOY))
    files = Renderer(HERE / "toy").render_all(views)
    options = "toy::TensorOptions options := {}"
    scattered = (
        "lib::optional<toy::ScalarType> dtype, lib::optional<toy::Layout> layout,"
        " lib::optional<toy::Device> device, lib::optional<toy::Truth> pin_memory"
    )
    from_options = ", ".join(
        f"TO_{part}_OF_OPTIONS(options)" for part in ("DTYPE", "LAYOUT", "DEVICE", "PIN_MEMORY")
    )
    value = "const toy::Scalar & value"
    call, names = "_ops::fill::call", "dtype, layout, device, pin_memory"
    assert files["include/mine/ops/fill.h"].splitlines()[:5] == [
        "fill",
        f"at: toy::Grid fill <toy::IntArrayRef size, {value} := 1, {options}>"
        f" = {call}(TO_SYMS_FROM_INTS(size), value, {from_options})",
        f"at: toy::Grid fill <toy::IntArrayRef size, {value}, {scattered}>"
        f" = {call}(TO_SYMS_FROM_INTS(size), value, {names})",
        f"at: toy::Grid fill_symint <toy::SymIntArrayRef size, {value} := 1, {options}>"
        f" = {call}(size, value, {from_options})",
        f"at: toy::Grid fill_symint <toy::SymIntArrayRef size, {value}, {scattered}>"
        f" = {call}(size, value, {names})",
    ]
    assert "twice_" in files["include/mine/ops/twice.h"]
    assert "src/RegisterCPU.cpp" in files


def strings(value: object, field: str = "") -> Iterator[tuple[str, str]]:
    """Every string in a view, with the name of the field that holds it."""
    if isinstance(value, str):
        yield field, value
    elif isinstance(value, tuple):
        for item in value:
            yield from strings(item, field)
    elif names := field_names(value):
        for name in names:
            yield from strings(getattr(value, name), name)
    else:
        # A dispatch key is spelled as in YAML, in every target.
        assert isinstance(
            value, (bool, int, DispatchKey)
        ), f"{field} of a view is a {type(value).__name__}"


def test_strings_sees_all_of_a_view() -> None:
    assert list(strings(FileView("a", "b"))) == [("path", "a"), ("template", "b")]
