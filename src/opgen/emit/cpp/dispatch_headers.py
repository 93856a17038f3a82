"""Direct functions of one dispatch key: ops/<root>_<key>_dispatch.h. They bypass the dispatcher."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opgen.cpp.names import operator_struct_name
from opgen.emit.common.base import (
    Block,
    GeneratedFile,
    PublicFunction,
    Record,
    blocks,
    group_by,
)
from opgen.emit.common.context import Context
from opgen.emit.kernels.headers import meta_roots
from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import NativeFunction
from opgen.model.profile import operator_namespace
from opgen.resolve.dispatch_tables import Registration, RegistrationKind

# The runtime's headers that declare the classes of `direct_kernel`, besides those that every operator includes.
_HEADERS = {"DirectKernel": (), "MetaKernel": ("opgen/meta_kernel.h",)}


class DirectOperator(Record, frozen=True):
    """The declaration of an operator's kernel for a key, and the functions that call it.

    Register<Key>.cpp defines the kernel. `function` has the plain signature, `variants` are the others.
    """

    declaration: str
    function: PublicFunction
    variants: tuple[PublicFunction, ...]


class DispatchHeader(GeneratedFile, frozen=True):
    root: str
    key: str
    key_lower: str
    operator_header: str
    runtime_headers: tuple[str, ...]
    blocks: tuple[Block[DirectOperator], ...]


def build_dispatch_headers(context: Context) -> Iterator[GeneratedFile]:
    """Yield one header per root and key that has direct functions."""
    # The functions of an operator are the same for all keys with the same class of kernels.
    made: dict[tuple[str, str], DirectOperator] = {}
    for key, rows in _direct(context).items():
        kernel_class = direct_kernel_class(key)
        for f in (row.function for row in rows):
            if (f.full_name, kernel_class) not in made:
                made[f.full_name, kernel_class] = _direct_operator(context, f, kernel_class)
        by_root = group_by((row.function for row in rows), lambda f: f.root_name)
        lower = key.name.lower()
        for root, functions in by_root.items():
            yield DispatchHeader(
                path=f"include/{context.library.name}/ops/{root}_{lower}_dispatch.h",
                template="ops/root_key_dispatch.h.j2",
                root=root,
                key=key.name,
                key_lower=lower,
                operator_header=context.library.operator_header(f"ops/{root}_ops.h"),
                runtime_headers=_HEADERS[kernel_class],
                blocks=blocks(
                    (direct_namespace(f, key), made[f.full_name, kernel_class]) for f in functions
                ),
            )


def dispatch_header_roots(context: Context) -> dict[DispatchKey, tuple[str, ...]]:
    """Return the roots with direct functions for each key that has any, sorted."""
    return {
        key: tuple(sorted({row.function.root_name for row in rows}))
        for key, rows in _direct(context).items()
    }


def direct_namespace(f: NativeFunction, key: DispatchKey) -> str:
    """Return `at::cpu`: the namespace of functions that call the kernels for `key` directly."""
    return f"{operator_namespace(f.namespace)}::{key.name.lower()}"


def direct_kernel(f: NativeFunction) -> str:
    """Return `opgen_kernel_add_Tensor`: the constant in `direct_namespace` that the direct functions of `f` call."""
    return f"opgen_kernel_{operator_struct_name(f.func)}"


def direct_kernel_class(key: DispatchKey) -> str:
    """Return the runtime's class of `direct_kernel`: for Meta, calls replace tensors on other devices by tensors on Meta."""
    return "MetaKernel" if key is DispatchKey.Meta else "DirectKernel"


def has_direct_functions(context: Context, row: Registration) -> bool:
    """Return whether the kernel of `row` can be called without the dispatcher."""
    return (
        row.key in context.target.dispatch.function_keys
        and row.kind is not RegistrationKind.fallthrough
    )


def _direct_operator(context: Context, f: NativeFunction, kernel_class: str) -> DirectOperator:
    function, *variants = context.spell.functions(f, direct_kernel(f))
    kernel = f"extern const opgen::{kernel_class}<_ops::{operator_struct_name(f.func)}>"
    return DirectOperator(f"{kernel} {direct_kernel(f)};", function, tuple(variants))


def _direct(context: Context) -> dict[DispatchKey, list[Registration]]:
    found = {
        key: [row for row in rows if has_direct_functions(context, row)]
        for key, rows in context.registrations.items()
    }
    return {key: rows for key, rows in found.items() if rows}


class UmbrellaHeader(GeneratedFile, frozen=True):
    name: str
    purpose: str
    includes: tuple[str, ...]


def build_umbrellas(context: Context) -> Iterator[GeneratedFile]:
    """Build Functions.h, Operators.h, NativeFunctions.h, NativeMetaFunctions.h and a <Key>Functions.h per key."""
    roots = context.roots
    yield _umbrella(context, "Functions.h", "every operator as a function", roots, "")
    yield _umbrella(
        context, "Operators.h", "every operator as the dispatcher knows it", roots, "_ops"
    )
    yield _umbrella(context, "NativeFunctions.h", "every kernel", roots, "_native")
    yield _umbrella(
        context, "NativeMetaFunctions.h", "every meta class", meta_roots(context), "_meta"
    )
    for key, key_roots in dispatch_header_roots(context).items():
        yield _umbrella(
            context,
            f"{key.name}Functions.h",
            f"every operator on {key.name}, without the dispatcher",
            key_roots,
            f"_{key.name.lower()}_dispatch",
        )


def _umbrella(
    context: Context, name: str, purpose: str, roots: Iterable[str], suffix: str
) -> UmbrellaHeader:
    return UmbrellaHeader(
        path=f"include/{context.library.name}/{name}",
        template="Umbrella.h.j2",
        name=name,
        purpose=purpose,
        includes=tuple(sorted(context.library.header(f"ops/{root}{suffix}.h") for root in roots)),
    )
