"""The public API: files and options in; a registry, diagnostics or generated files out. See docs/reference/api.md."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from opgen.diagnostics import (
    Code,
    Diagnostic,
    Diagnostics,
    Edit,
    Example,
    Location,
    OpgenError,
    Severity,
    Source,
    Span,
)
from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import (
    Annotation,
    Argument,
    Arguments,
    BaseOperatorName,
    FunctionSchema,
    OperatorName,
    Return,
    SchemaKind,
    SelfArgument,
    TensorOptionsArguments,
)
from opgen.model.native_function import (
    AliasAnalysisKind,
    DeviceCheckType,
    EffectType,
    EntrySpans,
    Kernel,
    KernelSource,
    NativeFunction,
    Precompute,
    ScalarType,
    UfuncInnerLoop,
    UfuncKey,
    Variant,
    ViewSchemaKind,
)
from opgen.model.profile import Profile
from opgen.model.registry import (
    NativeFunctionsGroup,
    NativeFunctionsViewGroup,
    OutlessGroup,
    Registry,
)
from opgen.model.types import (
    BaseTy,
    BaseType,
    CppClass,
    CustomClassType,
    DictType,
    ListType,
    OptionalType,
    TupleType,
    Type,
)
from opgen.pipeline import checking, generating, loading
from opgen.pipeline.generating import write_tree
from opgen.pipeline.inputs import MAX_SHARDS, OPTIONS, Form, Options, split_names
from opgen.pipeline.inputs import Inputs as _Inputs
from opgen.targets import TARGETS

# The names that `opgen` exports.
__all__ = [
    "AliasAnalysisKind",
    "Annotation",
    "Argument",
    "Arguments",
    "BaseOperatorName",
    "BaseTy",
    "BaseType",
    "Code",
    "CppClass",
    "CustomClassType",
    "DeviceCheckType",
    "Diagnostic",
    "DictType",
    "DispatchKey",
    "Edit",
    "EffectType",
    "EntrySpans",
    "Example",
    "FunctionSchema",
    "Inputs",
    "Kernel",
    "KernelSource",
    "ListType",
    "Location",
    "NativeFunction",
    "NativeFunctionsGroup",
    "NativeFunctionsViewGroup",
    "OperatorName",
    "OpgenError",
    "OptionalType",
    "OutlessGroup",
    "PathLike",
    "Precompute",
    "Profile",
    "Registry",
    "Return",
    "ScalarType",
    "SchemaKind",
    "SelfArgument",
    "Severity",
    "Source",
    "Span",
    "TensorOptionsArguments",
    "TupleType",
    "Type",
    "UfuncInnerLoop",
    "UfuncKey",
    "Variant",
    "ViewSchemaKind",
    "generate",
    "lint",
    "load",
]

PathLike: TypeAlias = str | os.PathLike[str]


class Inputs(
    Options[PathLike, PathLike | Iterable[PathLike], str | Iterable[str]],
    frozen=True,
    kw_only=True,
):
    """The files to read and the options of the command line, with the same names and defaults.

    An option that is repeatable there takes one value or several. `backends` and `ignore_keys` also take one string with
    commas, as on the command line ("CPU, CUDA").
    """


def load(inputs: Inputs | PathLike | Iterable[PathLike]) -> Registry:
    """Parse and resolve: return all operators and their groups, including operators that `autogen` adds.

    Paths stand for `Inputs` with these files and default options. Raises OpgenError if there are errors, and ValueError
    for a target or a number of shards that does not exist.
    """
    diagnostics = Diagnostics()
    registry = loading.load(_inputs(inputs), diagnostics)
    if registry is None:
        raise OpgenError(diagnostics.sorted())
    return registry


def lint(inputs: Inputs | PathLike | Iterable[PathLike]) -> tuple[Diagnostic, ...]:
    """Return every error and warning that `opgen lint` prints, sorted by file and position.

    Raises ValueError like `load`, and nothing for problems of the files.
    """
    diagnostics = Diagnostics()
    checking.inspect(_inputs(inputs), diagnostics, unsupported=True)
    return diagnostics.sorted()


def generate(
    inputs: Inputs | PathLike | Iterable[PathLike], output: PathLike | None = None
) -> Mapping[str, str]:
    """Return the text of every generated file by its path, relative to the output folder.

    If `output` is given, also write the files to that folder, as `opgen generate` does. Raises OpgenError, and writes nothing,
    if there are errors; raises ValueError like `load`.
    """
    diagnostics = Diagnostics()
    given = _inputs(inputs)
    tree = generating.build_tree(given, diagnostics)
    if tree is not None and output is not None:
        write_tree(tree, given, Path(output), diagnostics)
    if tree is None or diagnostics.has_errors:
        raise OpgenError(diagnostics.sorted())
    return tree.files


def _inputs(inputs: Inputs | PathLike | Iterable[PathLike]) -> _Inputs:
    if not isinstance(inputs, Inputs):
        inputs = Inputs(inputs)
    if inputs.target not in TARGETS:
        raise ValueError(f"there is no target '{inputs.target}'; there are {', '.join(TARGETS)}")
    if not 1 <= inputs.shards <= MAX_SHARDS:
        raise ValueError(f"there cannot be {inputs.shards} shards, only 1 to {MAX_SHARDS}")
    given: dict[str, Any] = {}
    for name, option in OPTIONS.items():
        value = getattr(inputs, name)
        if value is not None and option.form in _READERS:
            value = _READERS[option.form](value)
        given[name] = value
    return _Inputs(_paths(inputs.yaml), **given)


def _paths(paths: PathLike | Iterable[PathLike]) -> tuple[Path, ...]:
    """Return one or several paths as a tuple; a string is one path, not the paths of its characters."""
    return (Path(paths),) if isinstance(paths, str | os.PathLike) else tuple(map(Path, paths))


_READERS: Mapping[Form, Callable[[Any], Any]] = {
    Form.path: Path,
    Form.paths: _paths,
    Form.names: split_names,
}
