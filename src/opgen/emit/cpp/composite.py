"""CompositeViewCopyKernels.cpp: the bodies of the kernels that opgen generates itself."""

from __future__ import annotations

from collections.abc import Iterator

from opgen.cpp.names import kernel_namespace
from opgen.cpp.signatures import Binding, NativeSignature
from opgen.emit.common.base import GeneratedFile, Record, blocks, generated, sharded
from opgen.emit.common.context import CompositeKernel, Context
from opgen.emit.common.text import operator_struct
from opgen.model.function_schema import SchemaKind
from opgen.model.native_function import NativeFunction


class CompositeDefinition(Record, frozen=True):
    """The definition of the kernel `name`, a member of a struct of its own."""

    schema: str
    name: str
    returns: str
    parameters: str
    body: tuple[str, ...]


def build_composite_kernels(context: Context) -> Iterator[GeneratedFile]:
    """Build CompositeViewCopyKernels[_n].cpp, unless there is nothing to write."""
    written = [k for k in context.composite_kernels if context.keeps(k.function)]
    if not written:
        return
    stem, count = "CompositeViewCopyKernels", context.library.shards
    for name, kernels in sharded(stem, written, lambda k: k.function.root_name, count):
        headers = {f"ops/{k.function.root_name}_native.h" for k in kernels}
        headers |= {f"ops/{k.source.root_name}_ops.h" for k in kernels}
        yield generated(
            path=f"src/{name}.cpp",
            template="CompositeViewCopyKernels.cpp.j2",
            name=name,
            includes=tuple(map(context.library.header, sorted(headers))),
            blocks=blocks(
                (kernel_namespace(k.function.namespace, k.kernel.namespace), _kernel(context, k))
                for k in kernels
            ),
        )


def _kernel(context: Context, kernel: CompositeKernel) -> CompositeDefinition:
    signature = context.spell.spelled(_native(context, kernel))
    return CompositeDefinition(
        schema=context.spell.schema(kernel.function),
        name=kernel.kernel.name,
        returns=signature.returns,
        parameters=signature.parameters,
        body=tuple(_body(context, kernel)),
    )


def _native(context: Context, kernel: CompositeKernel) -> NativeSignature:
    return context.signatures.native(kernel.function, symint=kernel.kernel.supports_symint)


def _body(context: Context, kernel: CompositeKernel) -> Iterator[str]:
    if kernel.function.func.kind() is SchemaKind.out:
        yield from _out(context, kernel)
    elif kernel.source.func.is_mutable:
        yield from _functional(context, kernel)
    else:
        yield from _view_copy(context, kernel)


def _view_copy(context: Context, kernel: CompositeKernel) -> Iterator[str]:
    arguments = _arguments(context, kernel)
    callee = f"{operator_struct(kernel.source)}::call"
    if kernel.source.root_name == "view":
        # `view` rejects strides that it cannot express, so it is called on a contiguous copy.
        first, *rest = arguments
        yield f"return {callee}({', '.join([f'opgen::clone_view({first})', *rest])});"
    else:
        yield f"return opgen::clone_view({callee}({', '.join(arguments)}));"


def _functional(context: Context, kernel: CompositeKernel) -> Iterator[str]:
    source = kernel.source.func
    written = source.arguments.mutable_arg_names
    for name in written:
        yield f"auto opgen_{name} = opgen::clone_arg({name});"
    arguments = [
        f"opgen_{b.name}" if b.name in written else text
        for b, text in zip(_wanted(context, kernel.source), _arguments(context, kernel))
    ]
    call = f"{operator_struct(kernel.source)}::call({', '.join(arguments)})"
    aliased = source.aliased_return_names()
    fresh = [i for i, name in enumerate(aliased) if name is None]
    yield f"auto opgen_result = {call};" if fresh else f"{call};"
    results = [
        f"opgen_{name}" if name is not None else _element(context, "opgen_result", i, len(aliased))
        for i, name in enumerate(aliased)
    ]
    results += [f"opgen_{name}" for name in written if name not in aliased]
    yield f"return {_returned(context, results)};"


def _out(context: Context, kernel: CompositeKernel) -> Iterator[str]:
    call = f"{operator_struct(kernel.source)}::call({', '.join(_arguments(context, kernel))})"
    yield f"auto opgen_result = {call};"
    func = kernel.function.func
    written = [a.name for a in func.arguments.out]
    written += [a.name for a in func.arguments.flat_non_out if a.is_write]
    yield f"opgen::assign_outputs(opgen_result, {', '.join(written)});"
    aliased = func.aliased_return_names()
    rest = iter(_plain_results(context, kernel.source))
    results = [name if name is not None else next(rest) for name in aliased]
    if not results:
        return
    if any(name is None for name in aliased) or len(results) == 1:
        yield f"return {_returned(context, results)};"
    else:
        standard = context.target.cpp.spelling.standard
        yield f"return {standard}forward_as_tuple({', '.join(results)});"


def _plain_results(context: Context, functional: NativeFunction) -> list[str]:
    """Return the results of a functional operator that have no out argument: all except tensors and lists of tensors."""
    returns = functional.func.returns
    return [
        _element(context, "opgen_result", i, len(returns))
        for i, r in enumerate(returns)
        if not r.type.is_tensor_like()
    ]


def _wanted(context: Context, source: NativeFunction) -> tuple[Binding, ...]:
    return context.signatures.dispatcher(source).arguments()


def _arguments(context: Context, kernel: CompositeKernel) -> list[str]:
    """Return the arguments of the sibling, as expressions over those of the kernel."""
    have = _native(context, kernel).arguments()
    return context.spell.expressions(have, _wanted(context, kernel.source))


def _element(context: Context, tuple_name: str, index: int, count: int) -> str:
    return (
        tuple_name
        if count == 1
        else f"{context.target.cpp.spelling.standard}get<{index}>({tuple_name})"
    )


def _returned(context: Context, results: list[str]) -> str:
    standard = context.target.cpp.spelling.standard
    return results[0] if len(results) == 1 else f"{standard}make_tuple({', '.join(results)})"
