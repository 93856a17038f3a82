"""All files of one library, in one visible list."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Container, Iterable, Iterator
from typing import TypeAlias

from opgen.targets.base import FileKind
from opgen.views.autograd import build_register_autograd
from opgen.views.backend import build_backend
from opgen.views.base import FileView
from opgen.views.build_file import build_build_file
from opgen.views.composite import build_composite_kernels
from opgen.views.context import Context
from opgen.views.dispatch_headers import build_dispatch_headers
from opgen.views.functionalize import build_register_functionalize
from opgen.views.functions import (
    build_functions_headers,
    build_redispatch,
    build_tensor_body,
    build_tensor_methods,
)
from opgen.views.kernel_headers import build_meta_headers, build_native_headers
from opgen.views.operators import (
    build_operators_headers,
    build_operators_sources,
    build_register_schema,
)
from opgen.views.register import build_register_keys
from opgen.views.selected_dtypes import build_selected_dtypes
from opgen.views.stubs import build_stubs
from opgen.views.twins import build_register_twins
from opgen.views.umbrellas import build_umbrellas

_Build: TypeAlias = Callable[[Context], Iterable[FileView]]


def _later(module: str, name: str) -> _Build:
    """A builder of few libraries, whose modules are imported when there is such a library."""

    def build(context: Context) -> Iterable[FileView]:
        builder: _Build = getattr(importlib.import_module(f"opgen.views.{module}"), name)
        return builder(context)

    return build


_BUILDERS: tuple[tuple[FileKind, _Build], ...] = (
    (FileKind.OPERATOR_FUNCTIONS, build_functions_headers),
    (FileKind.OPERATOR_OPS, build_operators_headers),
    (FileKind.OPERATOR_NATIVE, build_native_headers),
    (FileKind.OPERATOR_META, build_meta_headers),
    (FileKind.OPERATOR_DISPATCH, build_dispatch_headers),
    (FileKind.UMBRELLAS, build_umbrellas),
    (FileKind.REDISPATCH, build_redispatch),
    (FileKind.TENSOR_BODY, build_tensor_body),
    (FileKind.TENSOR_METHODS, build_tensor_methods),
    (FileKind.OPERATORS, build_operators_sources),
    (FileKind.REGISTER_SCHEMA, build_register_schema),
    (FileKind.REGISTER_KEYS, build_register_keys),
    (FileKind.COMPOSITE_KERNELS, build_composite_kernels),
    (FileKind.REGISTER_FUNCTIONALIZE, build_register_functionalize),
    (FileKind.REGISTER_TWINS, build_register_twins),
    (FileKind.REGISTER_AUTOGRAD, build_register_autograd),
    (FileKind.BACKEND, build_backend),
    (FileKind.SELECTED_DTYPES, build_selected_dtypes),
    (FileKind.STUBS, build_stubs),
    (FileKind.PYTHON, _later("python", "build_python")),
    (FileKind.PYTHON_FUNCTIONS, _later("python_functions", "build_python_functions")),
)

# What is made for the operators of another library.
_BACKEND_FILES = frozenset(
    {
        FileKind.BACKEND,
        FileKind.OPERATOR_META,
        FileKind.OPERATOR_NATIVE,
        FileKind.REGISTER_KEYS,
        FileKind.SELECTED_DTYPES,
        FileKind.STUBS,
        FileKind.BUILD_FILE,
    }
)
_PYTHON_FILES = frozenset({FileKind.PYTHON, FileKind.PYTHON_FUNCTIONS})


def build_views(context: Context) -> tuple[FileView, ...]:
    """The views of every file in the target's plan."""
    views = tuple(build_kinds(context, frozenset(FileKind)))
    return (*views, *build_last(context, (view.path for view in views)))


def build_kinds(context: Context, kinds: Container[FileKind]) -> Iterator[FileView]:
    """The views of those of these kinds that are in the target's plan, but for the build file."""
    plan = _plan(context)
    for kind, build in _BUILDERS:
        if kind in plan and kind in kinds:
            yield from build(context)


def build_last(context: Context, paths: Iterable[str]) -> Iterator[FileView]:
    """The view of the build file, if the plan has one, for all others, which have these paths."""
    if FileKind.BUILD_FILE in _plan(context):
        yield from build_build_file(context, paths)


def _plan(context: Context) -> frozenset[FileKind]:
    plan = context.target.files
    if not context.library.python:
        plan -= _PYTHON_FILES
    return plan & _BACKEND_FILES if context.library.backend_only else plan


def operator_headers(context: Context) -> dict[str, tuple[str, ...]]:
    """For every root name the paths of all headers that its operators may have."""
    suffixes = ["", "_ops", "_native", "_meta"]
    suffixes += sorted(f"_{key.lower()}_dispatch" for key in context.target.function_keys)
    folder = f"include/{context.library.name}/ops"
    return {
        root: tuple([f"{folder}/{root}{suffix}.h" for suffix in suffixes]) for root in context.roots
    }
