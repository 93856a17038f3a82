"""All files of one library, in one visible list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from opgen.emit.common.base import GeneratedFile, generated
from opgen.emit.common.context import Context
from opgen.emit.cpp.derivatives import build_derivatives
from opgen.emit.cpp.functions import (
    build_functions_headers,
    build_redispatch,
    build_tensor_body,
    build_tensor_methods,
)
from opgen.emit.cpp.operators import (
    build_operators_headers,
    build_operators_sources,
    build_register_schema,
)
from opgen.emit.cpp.register import (
    build_composite_kernels,
    build_dispatch_headers,
    build_register_keys,
    build_umbrellas,
)
from opgen.emit.cpp.tvm_ffi import build_tvm_ffi
from opgen.emit.kernels.headers import (
    build_backend,
    build_meta_headers,
    build_native_headers,
    build_selected_dtypes,
)
from opgen.emit.kernels.stubs import build_formula_stubs, build_stubs
from opgen.emit.python.functions import build_python_functions
from opgen.emit.python.module import build_python
from opgen.emit.torch.autograd import build_register_autograd
from opgen.emit.torch.functionalize import build_register_functionalize, build_register_twins
from opgen.emit.torch_stable import build_python_registrations
from opgen.targets.base import FileKind


def build_build_file(context: Context, paths: Iterable[str]) -> Iterator[GeneratedFile]:
    """Build CMakeLists.txt for the sources among `paths`."""
    sources = sorted(path for path in paths if path.endswith(".cpp"))
    yield generated(
        path="CMakeLists.txt",
        template="CMakeLists.txt.j2",
        library=context.library.name,
        torch=context.library.torch,
        extends=context.library.extends or "",
        sources=tuple(path for path in sources if not path.startswith(("python/", "frameworks/"))),
        python=context.library.python,
        python_sources=tuple(path for path in sources if path.startswith("python/")),
        frameworks=" ".join(context.library.frameworks),
    )


_Build: TypeAlias = Callable[[Context], Iterable[GeneratedFile]]

# Each kind of file: its builder, and whether a library with only kernels for another library's operators has such
# files. The build file lists all others, so it comes last.
_KINDS: tuple[tuple[FileKind, _Build, bool], ...] = (
    (FileKind.OPERATOR_FUNCTIONS, build_functions_headers, False),
    (FileKind.OPERATOR_OPS, build_operators_headers, False),
    (FileKind.OPERATOR_NATIVE, build_native_headers, True),
    (FileKind.OPERATOR_META, build_meta_headers, True),
    (FileKind.OPERATOR_DISPATCH, build_dispatch_headers, False),
    (FileKind.UMBRELLAS, build_umbrellas, False),
    (FileKind.REDISPATCH, build_redispatch, False),
    (FileKind.TENSOR_BODY, build_tensor_body, False),
    (FileKind.TENSOR_METHODS, build_tensor_methods, False),
    (FileKind.OPERATORS, build_operators_sources, False),
    (FileKind.REGISTER_SCHEMA, build_register_schema, False),
    (FileKind.REGISTER_KEYS, build_register_keys, True),
    (FileKind.COMPOSITE_KERNELS, build_composite_kernels, False),
    (FileKind.REGISTER_FUNCTIONALIZE, build_register_functionalize, False),
    (FileKind.REGISTER_TWINS, build_register_twins, False),
    (FileKind.REGISTER_AUTOGRAD, build_register_autograd, False),
    (FileKind.DERIVATIVES, build_derivatives, False),
    (FileKind.BACKEND, build_backend, True),
    (FileKind.SELECTED_DTYPES, build_selected_dtypes, True),
    (FileKind.STUBS, build_stubs, True),
    (FileKind.FORMULA_STUBS, build_formula_stubs, False),
    (FileKind.PYTHON, build_python, False),
    (FileKind.PYTHON_FUNCTIONS, build_python_functions, False),
    (FileKind.PYTHON_REGISTRATIONS, build_python_registrations, False),
    (FileKind.TVM_FFI, build_tvm_ffi, False),
)
# What only a library that is a Python package has.
_OF_PACKAGES = (FileKind.PYTHON, FileKind.PYTHON_FUNCTIONS, FileKind.PYTHON_REGISTRATIONS)


def build_files(context: Context) -> Iterator[GeneratedFile]:
    """Yield every file in the target's plan: each can be rendered before the next is built."""
    paths: list[str] = []
    for kind, build, for_backend in _KINDS:
        if kind not in context.target.plan.kinds or (
            kind in _OF_PACKAGES and not context.library.python
        ):
            continue
        if for_backend or not context.library.backend_only:
            for file in build(context):
                paths.append(file.path)
                yield file
    if FileKind.BUILD_FILE in context.target.plan.kinds:
        yield from build_build_file(context, paths)
