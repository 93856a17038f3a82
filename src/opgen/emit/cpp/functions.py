"""The public functions: ops/<root>.h, RedispatchFunctions.h, TensorBody.h and TensorMethods.cpp."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from opgen.cpp.cpp_types import SCALAR, TENSOR, Base, ConstRef, CType, MutRef
from opgen.cpp.names import operator_struct_name
from opgen.emit.common.base import (
    Calls,
    GeneratedFile,
    Item,
    PublicFunction,
    blocks,
    generated,
    group_by,
    sharded,
    sorted_includes,
    unique,
)
from opgen.emit.common.context import Context
from opgen.emit.common.text import cpp_operator, has_alpha, names_with_tensors, operator_struct
from opgen.emit.cpp.operators import operator_headers
from opgen.model.function_schema import SchemaKind
from opgen.model.native_function import NativeFunction, Variant
from opgen.model.profile import operator_namespace

_TENSOR, _SCALAR, _WRITTEN = ConstRef(TENSOR), ConstRef(SCALAR), MutRef(TENSOR)
_WRAP = "opgen::wrapped_scalar_tensor({})"


def tensor_operators(context: Context, functions: Iterable[NativeFunction]) -> Iterator[Item]:
    """Yield the C++ operators that call operators of the library: for tensors, and for a tensor and a number.

    The first of several operators that suit a C++ operator has it.
    """
    found: set[tuple[str, int]] = set()
    for f in functions:
        symbol, names = cpp_operator(f) or ("", ())
        if not symbol or (symbol, len(names)) in found:
            continue
        found.add((symbol, len(names)))
        if len(names) == 1:
            given = ((_TENSOR, names[0]),)
            made: Iterable[PublicFunction] = [_operator(context, f, symbol, given, names)]
        else:
            left = (_WRITTEN,) if f.func.kind() is SchemaKind.inplace else (_TENSOR, _SCALAR)
            made = _binary(context, f, symbol, left, names)
        callee = f"{operator_struct(f)}::call"
        yield Item(root=f.root_name, text=str(f.func), callee=callee, functions=tuple(made))


def _binary(
    context: Context,
    f: NativeFunction,
    symbol: str,
    left: tuple[CType, ...],
    names: tuple[str, ...],
) -> Iterator[PublicFunction]:
    """Yield the operator for two tensors, and those for a tensor and a number."""
    alpha = ("1",) if has_alpha(f) else ()
    for first in left:
        for second in (_TENSOR, _SCALAR):
            if first == second == _SCALAR:
                continue
            given = ((first, names[0]), (second, names[1]))
            passed = (_WRAP.format(name) if type == _SCALAR else name for type, name in given)
            yield _operator(context, f, symbol, given, (*passed, *alpha))


def _operator(
    context: Context,
    f: NativeFunction,
    symbol: str,
    given: tuple[tuple[CType, str], ...],
    arguments: tuple[str, ...],
) -> PublicFunction:
    parameters = ", ".join(f"{context.spell.type(type)} {name}" for type, name in given)
    return PublicFunction(
        text="",
        returns=context.spell.type(_WRITTEN if given[0][0] == _WRITTEN else TENSOR),
        name=f"operator{symbol}",
        parameters=parameters,
        plain_parameters=parameters,
        arguments=", ".join(arguments),
    )


def build_functions_headers(context: Context) -> Iterator[GeneratedFile]:
    """Build ops/<root>.h: one inline function per C++ signature, for entries with `variants: function`.

    A library that extends another gets functions for its methods, too.
    """
    for root in context.roots:
        yield generated(
            path=f"include/{context.library.name}/ops/{root}.h",
            template="ops/root.h.j2",
            library=context.library.name,
            root=root,
            blocks=blocks(
                (
                    operator_namespace(f.namespace),
                    Calls(
                        f"_ops::{operator_struct_name(f.func)}::call", context.spell.functions(f)
                    ),
                )
                for f in context.functions_by_root[root]
                if Variant.function in f.variants
                or not context.own_tensor
                or context.library.extends
            ),
        )


def build_redispatch(context: Context) -> Iterator[GeneratedFile]:
    """Build RedispatchFunctions.h: every signature again, with the key set of the call as a parameter."""
    yield generated(
        path=f"include/{context.library.name}/RedispatchFunctions.h",
        template="RedispatchFunctions.h.j2",
        library=context.library.name,
        key_set=context.spell.type(Base("DispatchKeySet")),
        blocks=blocks(
            (
                f"{operator_namespace(f.namespace)}::redispatch",
                Calls(f"{operator_struct(f)}::redispatch", context.spell.functions(f)),
            )
            for f in context.registry.functions
        ),
    )


def build_tensor_body(context: Context) -> Iterator[GeneratedFile]:
    """Build TensorBody.h: the library's class Tensor.

    It is that of the library that this one extends, or the runtime's, if this library has no methods.
    """
    if context.target.cpp.base_tensor and not context.library.backend_only:
        extends = context.library.extends
        functions = _methods(context)
        left_out = tuple(
            m for f in functions if not context.keeps(f) for m in _left_out(context, f)
        )
        base_header = f"{extends}/TensorBody.h" if extends else "opgen/tensor.h"
        headers = (base_header, *(("opgen/not_selected.h",) if left_out else ()))
        yield generated(
            path=f"include/{context.library.name}/TensorBody.h",
            template="TensorBody.h.j2",
            library=context.library.name,
            namespace=operator_namespace(context.library.name),
            # The class Tensor and lists of it, and the class from which it derives, if the library defines it.
            names=tuple(names_with_tensors(context.own_tensor or context.target.cpp.base_tensor)),
            base="" if extends or not context.own_tensor else context.target.cpp.base_tensor,
            # Namespaces that use the class.
            others=_other_namespaces(context),
            abi=context.target.plan.runtime_abi,
            own_includes=sorted_includes(*headers),
            methods=_bodies(context, filter(context.keeps, functions)),
            left_out=left_out,
            # Formulas of gradients need a method `conj`.
            conjugates=any(f.root_name == "conj" for f in functions),
            operators=tuple(() if extends else tensor_operators(context, _kept(context))),
        )


def build_tensor_methods(context: Context) -> Iterator[GeneratedFile]:
    """Build TensorMethods[_n].cpp: the methods' bodies, compiled once."""
    if not context.own_tensor or context.library.extends:
        return
    count = context.library.shards
    kept = _kept(context)
    operators = group_by(tensor_operators(context, kept), lambda o: o.root)
    methods = {f.full_name for f in _methods(context)}
    functions = [f for f in kept if f.full_name in methods or f.root_name in operators]
    for name, members in sharded("TensorMethods", functions, lambda f: f.root_name, count):
        extra = (
            ("opgen/tensor_functions.h",) if any(f.root_name in operators for f in members) else ()
        )
        yield generated(
            path=f"src/{name}.cpp",
            template="TensorMethods.cpp.j2",
            library=context.library.name,
            namespace=operator_namespace(context.library.name),
            name=name,
            own_includes=sorted_includes(context.tensor_header, "opgen/register.h", *extra),
            includes=operator_headers(context, members),
            methods=_bodies(context, (f for f in members if f.full_name in methods)),
            operators=tuple(
                o for root in unique(f.root_name for f in members) for o in operators.get(root, ())
            ),
        )


def _other_namespaces(context: Context) -> tuple[str, ...]:
    """Return the outermost namespaces of operators and kernels, except that of class Tensor."""
    kernels = context.kernels
    found = {
        *(operator_namespace(f.namespace) for f in context.registry.functions),
        *(kernel.namespace.partition("::")[0] for kernel in kernels.structured),
        *(kernel.namespace.partition("::")[0] for kernel in kernels.kernels),
    }
    return tuple(sorted(found - {context.own_tensor.partition("::")[0]}))


def _methods(context: Context) -> list[NativeFunction]:
    """Return the operators that are methods: none of a library that extends another (W1001)."""
    functions = () if context.library.extends else context.registry.functions
    return [f for f in functions if Variant.method in f.variants]


def _kept(context: Context) -> list[NativeFunction]:
    return list(filter(context.keeps, context.registry.functions))


def _bodies(context: Context, functions: Iterable[NativeFunction]) -> tuple[Calls, ...]:
    return tuple(
        Calls(f"{operator_struct(f)}::call", context.spell.functions(f, method=True))
        for f in functions
    )


def _left_out(context: Context, f: NativeFunction) -> Iterator[PublicFunction]:
    functions = context.spell.functions(f, method=True)
    for function, signature in zip(functions, context.spell.cpp_signatures(f, method=True)):
        names = (b.name for b in signature.arguments)
        yield replace(function, arguments=", ".join((f'"{f.full_name}"', *names)))
