"""_formulas.py, the formulas of derivatives.yaml in Python; and which kernels of autograd Python registers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from opgen.autograd.derivative import DifferentiableFunction
from opgen.autograd.python_nodes import PythonNode, Refusal, python_node, recorded_info
from opgen.emit.common.base import GeneratedFile, Record
from opgen.emit.common.context import Context
from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import NativeFunction
from opgen.resolve.functional_forms import views_first_argument
from opgen.resolve.hidden_operators import has_default_gradient


class NodeClass(Record, frozen=True):
    """The class of a node: its lines."""

    comment: str
    name: str
    lines: tuple[str, ...]


class CalledFunction(Record, frozen=True):
    """A function of an operator, by the name that formulas have for it."""

    variable: str
    namespace: str
    name: str


class FormulasModule(GeneratedFile, frozen=True):
    library: str
    functions: tuple[CalledFunction, ...]
    nodes: tuple[NodeClass, ...]


def build_formulas(context: Context) -> Iterator[GeneratedFile]:
    """Build python/<library>/_formulas.py, if an operator has formulas."""
    recorded = [fn for fn in context.gradients if _is_recorded(context, fn)]
    if not recorded:
        return
    nodes = [(fn, _node(context, fn)) for fn in recorded]
    called = sorted({name for _, node in nodes for name in node.functions})
    yield FormulasModule(
        path=f"python/{context.library.name}/_formulas.py",
        template="formulas.py.j2",
        library=context.library.name,
        functions=tuple(
            CalledFunction(f"{namespace}_{name}", namespace, name)
            for namespace, _, name in (one.partition(".") for one in called)
        ),
        nodes=tuple(_class(context, fn, node) for fn, node in nodes),
    )


def node_name(f: NativeFunction) -> str:
    """Return the name of the class: `Node_mylib_mix_Tensor`."""
    return f"Node_{f.namespace}_{f.func.name.unambiguous_name}"


def _is_recorded(context: Context, fn: DifferentiableFunction) -> bool:
    return context.keeps(fn.func) and recorded_info(fn) is not None


def _node(context: Context, fn: DifferentiableFunction) -> PythonNode:
    info = recorded_info(fn)
    assert info is not None
    own = context.cpp_names[fn.func.namespace]
    node = python_node(fn, info, own, context.formula_files.declared)
    assert not isinstance(node, Refusal), node.message
    return node


def _class(context: Context, fn: DifferentiableFunction, node: PythonNode) -> NodeClass:
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
    return NodeClass(context.spell.schema(fn.func), node_name(fn.func), indented)


def _backward(node: PythonNode) -> Iterator[str]:
    yield from node.locals
    for gradient in node.gradients:
        yield f"if {' or '.join(f'call.computes({i})' for i in gradient.inputs)}:"
        if len(gradient.inputs) == 1:
            yield f"    call.give({gradient.inputs[0]}, {gradient.text})"
        else:
            yield f"    call.give_all({gradient.inputs!r}, {gradient.text})"


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


def is_recorded(context: Context) -> Callable[[NativeFunction], bool]:
    """Return the function that says whether an operator has formulas in Python."""
    names = {fn.func.full_name for fn in context.gradients if recorded_info(fn) is not None}
    return lambda f: f.full_name in names
