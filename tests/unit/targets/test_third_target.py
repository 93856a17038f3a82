"""The boundary between operators and targets: a third target works without any change to opgen.

Every string of every generated file is searched for text that only another target could have put there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import Struct
from msgspec.structs import replace
from toy_target import TOY

from opgen.diagnostics import Diagnostics
from opgen.emit.common.base import GeneratedFile
from opgen.emit.common.context import Context, Library
from opgen.emit.tree import build_files
from opgen.model.dispatch_key import DispatchKey
from opgen.model.registry import Registry
from opgen.pipeline.loading import load
from opgen.targets import TARGETS, Target
from opgen.targets.base import FileKind
from opgen.templating.render import Renderer
from support.inputs import aten_inputs

HERE = Path(__file__).parent
GOLDEN = HERE.parents[1] / "golden" / "trees"
INPUTS = sorted(GOLDEN.glob("*/input.yaml"))

# Words of the other targets. `opgen::` is opgen's own support library, which every target has (see
# SUPPORT).
FOREIGN = re.compile(
    r"::std::|std::|\bc10\b|\bTORCH|nullopt|\bkLong\b|MemoryFormat::|Reduction::|\bint64_t\b|\bdouble\b"
    r"|(?<!toy::)\b(Tensor|Scalar|IntArrayRef|SymInt|SymIntArrayRef|TensorOptions|TensorList|Generator|Device"
    r"|Layout|ScalarType|ArrayRef|ITensorListRef|DispatchKeySet|TensorIteratorBase|MetaBase)\b(?!_|\)\()"
)
# Fields that hold no C++: schemas, names, paths, and text for the author.
NOT_CPP = {
    *(
        "schema",
        "comment",
        "schema_literal",
        "schema_str",
        "aliases",
        *("own_tensor", "names", "types"),
        "text",
        "operator",
        "path",
        "template",
        "purpose",
        "name",
        "root",
    ),
    *("struct", "overload", "key", "base", "tensor_header", "macro", "library", "includes"),
}
# The class templates and functions that the support library of every target has, with these names.
SUPPORT = {
    *("Functional", "Out", "Inplace", "CompositeFunctional", "CompositeInplace", "MetaInplaceStub"),
    *(
        "BackendSelect",
        "Adapt",
        "ApartOut",
        "DeviceGuarded",
        "DirectKernel",
        "MetaKernel",
        "FunctionalKernel",
        "OutKernel",
        "InplaceKernel",
        "ViewKernel",
        "InplaceViewKernel",
        "CompositeFunctionalKernel",
        "CompositeInplaceKernel",
        "kernel",
        "fallthrough",
        "wrapped_scalar_tensor",
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


def test_no_file_contains_another_targets_spelling(registry: Registry) -> None:
    every_file = replace(TOY, plan=replace(TOY.plan, kinds=frozenset(FileKind)))
    found = {
        f"{file.path}: {field}: {text}"
        for file in build_files(context_of(registry, every_file))
        for field, text in strings(file)
        if field not in NOT_CPP and FOREIGN.search(text)
    }
    assert not found, "\n".join(sorted(found))


def test_files_use_only_the_known_support_library(registry: Registry) -> None:
    used = {
        name
        for file in build_files(context_of(registry, TARGETS["runtime"]))
        for field, text in strings(file)
        if field not in NOT_CPP
        for name in re.findall(r"\bopgen::(\w+)", text)
    }
    known = {
        "MetaOfWritten",
        "Tensor",
        "TensorList",
        "ITensorListRef",
        "check_tensor_options_and_extract_memory_format",
    }
    assert used <= SUPPORT | known, used


def test_only_the_planned_files_are_made(registry: Registry) -> None:
    paths = {file.path for file in build_files(context_of(registry, TOY))}
    allowed = re.compile(r"include/mine/ops/\w+?(_ops)?\.h|src/Register(?!Schema)\w+\.cpp")
    assert paths and all(allowed.fullmatch(path) for path in paths), paths


def test_an_empty_plan_generates_nothing(registry: Registry) -> None:
    nothing = replace(TOY, plan=replace(TOY.plan, kinds=frozenset()))
    assert not list(build_files(context_of(registry, nothing)))


def test_the_texts_use_the_spelling_of_the_target(tmp_path: Path) -> None:
    yaml = tmp_path / "input.yaml"
    yaml.write_text(
        "- func: fill(SymInt[] size, Scalar value=1, *, ScalarType? dtype=None, Layout? layout=None,"
        " Device? device=None, bool? pin_memory=None) -> Tensor\n"
        "  dispatch:\n    SparseCPU: fill_sparse_symint\n    CPU: fill_cpu\n\n"
        "- func: twice_(Tensor(a!) self, int[]? dims=None, bool keep=False) -> Tensor(a!)\n"
        "  dispatch:\n    CPU: twice_\n"
    )
    files_of_toy = build_files(context_of(registry_of(yaml), TOY))
    files = Renderer(HERE / "toy").render_all(files_of_toy)
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
    text = files["include/mine/ops/fill.h"].replace("\n    ", " ")
    assert text.splitlines()[:5] == [
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
    """Return every string in a file value, with the name of the field that holds it."""
    if isinstance(value, str):
        yield field, value
    elif isinstance(value, tuple):
        for item in value:
            yield from strings(item, field)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from strings(item, name)
    elif isinstance(value, Struct):
        for name in value.__struct_fields__:
            yield from strings(getattr(value, name), name)
    else:
        # Every target spells a dispatch key as in YAML.
        assert isinstance(
            value, (bool, int, DispatchKey, type(None))
        ), f"{field} of a generated file is a {type(value).__name__}"


def test_strings_sees_all_of_a_file() -> None:
    assert list(strings(GeneratedFile("a", "b"))) == [("path", "a"), ("template", "b")]
