"""_formulas.py, the formulas of derivatives.yaml in Python; and which kernels of autograd Python registers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from opgen.autograd.derivative import DifferentiableFunction
from opgen.autograd.python_formulas import PythonNode, Refusal, python_node, recorded_info
from opgen.emit.common.base import GeneratedFile, Item, generated, group_by
from opgen.emit.common.context import Context
from opgen.emit.torch.functionalize import OF_OUT, by_functional, by_twin
from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import NativeFunction
from opgen.model.types import BaseTy, BaseType
from opgen.resolve.dispatch_tables import key_of_fake
from opgen.resolve.functional_forms import (
    Twin,
    TwinForm,
    find_twins,
    has_default_gradient,
    has_form_below,
    is_replaced,
    takes_numbers,
    views_first_argument,
    with_words,
)


def build_formulas(context: Context) -> Iterator[GeneratedFile]:
    """Build python/<library>/_formulas.py, if an operator has formulas."""
    recorded = [fn for fn in context.gradients if context.keeps(fn.func) and recorded_info(fn)]
    if not recorded:
        return
    nodes = [(fn, _node(context, fn)) for fn in recorded]
    called = sorted({name for _, node in nodes for name in node.functions})
    yield generated(
        path=f"python/{context.library.name}/_formulas.py",
        template="formulas.py.j2",
        library=context.library.name,
        functions=tuple(tuple(name.split(".")) for name in called),
        nodes=tuple(_class(context, fn, node) for fn, node in nodes),
    )


def node_name(f: NativeFunction) -> str:
    """Return the name of the class: `Node_mylib_mix_Tensor`."""
    return f"Node_{f.namespace}_{f.func.name.unambiguous_name}"


def _node(context: Context, fn: DifferentiableFunction) -> PythonNode:
    info = recorded_info(fn)
    assert info is not None
    own = context.cpp_names[fn.func.namespace]
    node = python_node(fn, info, own, context.formula_files.declared)
    assert not isinstance(node, Refusal), node.message
    return node


def _class(context: Context, fn: DifferentiableFunction, node: PythonNode) -> Item:
    """Return the class of a node."""
    lines = [
        f"inputs = {node.inputs!r}",
        f"refused = {node.refused!r}",
        f"outputs = {node.outputs!r}",
        *_method("has_gradient", node.parameters, [f"return {node.condition or True}"]),
        *_method("save", node.parameters, [f"return {_tuple(node.saved_inputs)}"]),
        *_method("save_outputs", node.results, [f"return {_tuple(node.saved_outputs)}"]),
        *_method("backward", ("call", *node.fields), _backward(node)),
    ]
    indented = tuple(f"    {line}" if line else "" for line in lines)
    return Item(comment=str(fn.func.func), name=node_name(fn.func), lines=indented)


def _backward(node: PythonNode) -> Iterator[str]:
    yield from node.locals
    for inputs, text in node.gradients:
        yield f"if {' or '.join(f'call.computes({i})' for i in inputs)}:"
        if len(inputs) == 1:
            yield f"    call.give({inputs[0]}, {text})"
        else:
            yield f"    call.give_all({inputs!r}, {text})"


def _method(name: str, parameters: Sequence[str], body: Iterator[str] | list[str]) -> Iterator[str]:
    yield ""
    yield "@staticmethod"
    yield f"def {name}({', '.join(parameters)}):"
    yield from (f"    {line}" for line in body)


def _tuple(items: Sequence[str]) -> str:
    return f"({', '.join(items)},)" if items else "()"


def gradient_function(context: Context, f: NativeFunction) -> str | None:
    """Return the function of _gradients that registers what autograd does for `f`; None if nothing is registered."""
    if not has_default_gradient(f):
        return None
    if f.func.arguments.out:
        return "refuse_out"
    if f.func.is_mutable:
        return "refuse_written"
    if f.is_view_op:
        return "record_view" if views_first_argument(f, several=True) else "refuse_written"
    if f.full_name in context.without_gradient:
        return "pass_on"
    has_own = f.find_kernel(DispatchKey.ADInplaceOrView) is not None
    return "refuse_written" if has_own else "refuse"


def _call_of(function: str, *arguments: str) -> Item:
    """Return a call of Python. `arguments` are lines."""
    return Item(function=function, arguments=("_library,", *arguments))


def build_python_registrations(context: Context) -> Iterator[GeneratedFile]:
    """python/<library>/_operators.py, and the formulas that it uses."""
    folder = f"python/{context.library.name}"
    functions = [f for f in context.registry.functions if context.keeps(f)]
    several = context.target.dispatch.replaces_several_views
    every = find_twins(context.registry, frozenset(OF_OUT), several_views=several)
    twins = [t for t in every if context.keeps(t.function)]
    namespaces = []
    for namespace, members in group_by(functions, lambda f: f.namespace).items():
        own = [t for t in twins if t.function.namespace == namespace]
        namespaces.append(Item(name=namespace, calls=tuple(_calls(context, members, own))))
    calls = [call for namespace in namespaces for call in namespace.calls]
    formulas = tuple(build_formulas(context))
    yield from formulas
    modules = {"_below", "_fakes", *(["_formulas"] if formulas else [])}
    yield generated(
        path=f"{folder}/_operators.py",
        template="operators.py.j2",
        library=context.library.name,
        modules=", ".join(sorted(modules | {c.function.split(".")[0] for c in calls})),
        namespaces=tuple(namespaces),
    )


def _calls(
    context: Context, functions: Sequence[NativeFunction], twins: Sequence[Twin]
) -> Iterator[Item]:
    numbers = [f for f in functions if takes_numbers(f)]
    if numbers:
        pairs = (f"({_quoted(f)}, {_quoted(with_words(f))})," for f in numbers)
        yield _call_of("_numbers.register", *_list(pairs))
    by_key = group_by(functions, lambda f: key_of_fake(context.registry, f))
    for key, some in by_key.items():
        if key is not None:
            names = (f"{_quoted(_dispatched(f))}," for f in some)
            yield _call_of("_fakes.register", f'b"{key.name}",', *_list(names))
    for group in context.registry.groups:
        for f in group.functions():
            if f in functions and is_replaced(f, group, frozenset(OF_OUT)):
                yield _replaced(f, group.functional)
    for twin in twins:
        yield from _twin(context, twin)
    yield from _gradients(context, functions)


def _gradients(context: Context, functions: Sequence[NativeFunction]) -> Iterator[Item]:
    recorded = {fn.func.full_name for fn in context.gradients if recorded_info(fn) is not None}

    def has_formulas(f: NativeFunction) -> bool:
        return f.full_name in recorded

    for f in filter(has_formulas, functions):
        if views_first_argument(f, several=True):
            continue
        lines = (f"{_quoted(_dispatched(f))},", f"{_quoted(f)},", f"_formulas.{node_name(f)},")
        yield _call_of("_gradients.record", *lines)
    views = [f for f in functions if has_formulas(f) and views_first_argument(f, several=True)]
    if views:
        entries = (
            f"({_quoted(_dispatched(f))}, {_quoted(f)}{_key_of_view(context, f)}, _formulas.{node_name(f)}),"
            for f in views
        )
        yield _call_of("_gradients.record_view", *_list(entries))
    rest = [f for f in functions if not has_formulas(f)]
    for name, some in group_by(rest, lambda f: gradient_function(context, f)).items():
        if name is not None:
            is_view = name == "record_view"
            entries = (
                f"({_quoted(_dispatched(f))}, {_quoted(f)}{_key_of_view(context, f) if is_view else ''}),"
                for f in some
            )
            yield _call_of(f"_gradients.{name}", *_list(entries))
    below = (f for f in rest if _is_refused_below(context, f))
    for key, some in group_by(below, lambda f: key_of_fake(context.registry, f)).items():
        assert key is not None
        names = _list(f"{_quoted(f)}," for f in some)
        yield _call_of("_below.register", f'b"{key.name}",', *names)


def _is_refused_below(context: Context, f: NativeFunction) -> bool:
    """Whether C++ has the kernel at Autograd: it sees by the results, all of them tensors, that a gradient is required.

    PyTorch connects them with the arguments, except for those in lists of optionals or of lists.
    Fakes that the author wrote in Python are known for `f` alone, and raise exceptions that C++ would lose.
    """
    is_plain = all(r.type == BaseType(BaseTy.Tensor) for r in f.func.returns)
    is_connected = not any(
        "Tensor?[" in str(a.type) or "[][" in str(a.type) for a in f.func.arguments.flat_all
    )
    is_traced = key_of_fake(context.registry, f) is not None
    is_refused = gradient_function(context, f) == "refuse"
    return has_form_below(f) and is_plain and is_connected and is_traced and is_refused


def _key_of_view(context: Context, f: NativeFunction) -> str:
    key = key_of_fake(context.registry, f)
    return ", None" if key is None else f', b"{key.name}"'


def _list(items: Iterable[str]) -> Iterator[str]:
    yield "["
    yield from (f"    {item}" for item in items)
    yield "],"


def _dispatched(f: NativeFunction) -> NativeFunction:
    """The operator that PyTorch calls for `f`: the hidden one, if `f` takes numbers."""
    return with_words(f) if takes_numbers(f) else f


def _quoted(f: NativeFunction) -> str:
    return f'"{f.namespace}::{f.func.name}"'


def _replaced(f: NativeFunction, functional: NativeFunction) -> Item:
    """The call for an operator that its functional variant replaces."""
    by = by_functional(f, functional)
    return _call_of(
        "_functional.replace",
        f"{_quoted(_dispatched(f))},",
        f"{_quoted(_dispatched(functional))},",
        *(f"{list(part)!r}," for part in (by.given, by.written, by.returned)),
    )


def _twin(context: Context, twin: Twin) -> Iterator[Item]:
    """The calls that define the hidden operators of a twin and replace its operator."""
    f = twin.function
    if twin.form is TwinForm.copy:
        key = key_of_fake(context.registry, f)
        # Without a kernel for tensors without data, PyTorch's own error says what is missing.
        if key is not None:
            name = f"{_quoted(_dispatched(f))},"
            yield _call_of("_functional.replace_view", f'b"{key.name}",', name)
        return
    by = by_twin(twin)
    yield _call_of(
        "_functional.replace_by_twin",
        f"{_quoted(_dispatched(f))},",
        f'"{_dispatched(twin.functional).func}",',
        *(f"{list(part)!r}," for part in (by.written, by.returned)),
    )
