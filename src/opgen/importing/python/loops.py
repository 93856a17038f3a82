"""Replace loops over constant lists and dictionaries, whose bodies may register, by their iterations."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from types import MappingProxyType
from typing import Any

from opgen.importing.python.values import Value, evaluate, expression

CUSTOM_OPS = frozenset({"custom_op", "triton_op"})
# Functions that register something in Python, with its description for messages.
FAKE, META_KERNEL = "a fake kernel", "a kernel for Meta"
IN_PYTHON: Mapping[str, str] = MappingProxyType(
    {
        "register_fake": FAKE,
        "_register_fake": FAKE,
        "impl_abstract": FAKE,
        "register_meta": FAKE,
        "register_kernel": "a kernel",
        "register_autograd": "a backward formula",
        "register_autocast": "an autocast rule",
        "register_vmap": "a rule for vmap",
        "register_torch_dispatch": "a rule for __torch_dispatch__",
    }
)
METHODS = frozenset({"define", "impl", "fallback", *IN_PYTHON})
HELPER = "direct_register_custom_op"
# What `getattr` names may be any of them.
_ALL = METHODS | CUSTOM_OPS | {HELPER, "getattr"}


def may_register(node: ast.AST) -> bool:
    """Return whether a part of a module has one of the names."""
    for one in ast.walk(node):
        if isinstance(one, ast.Name | ast.Attribute):
            name = one.id if isinstance(one, ast.Name) else one.attr
            if name in _ALL:
                return True
    return False


# The most nodes of the iterations of all loops of a module.
_MOST_NODES = 100_000
# Methods that leave a list or a dictionary as it is.
_READS = frozenset({"items", "keys", "values", "get", "copy", "index", "count", "split"})
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp)


def unroll(tree: ast.Module) -> None:
    """Replace the loops of a module in place. Others remain: what they register is known only at run time."""
    _Unroller(_constants(tree)).visit(tree)


def _constants(tree: ast.Module) -> Mapping[str, ast.expr]:
    """Return the values of the names that are bound once in the whole module, and whose values do not change."""
    bound: Counter[str] = Counter()
    values: dict[str, ast.expr] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                values[name] = value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                values[name] = value
            case ast.arg(arg=name):
                bound[name] += 1
            case ast.Call(func=ast.Attribute(value=owner, attr=attr)) if attr not in _READS:
                bound[_root(owner)] += 2
            case ast.Subscript(value=owner, ctx=ast.Store() | ast.Del()):
                bound[_root(owner)] += 2
            case ast.alias(name=name, asname=other):
                bound[other or name.partition(".")[0]] += 2
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                bound[name] += 2
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound[node.id] += 2 if isinstance(node.ctx, ast.Del) else 1
    for name, value in values.items():
        # Another name of the same list, through which it changes.
        if isinstance(value, ast.Name) and bound[name] != 1:
            bound[value.id] += 2
    return {name: value for name, value in values.items() if bound[name] == 1}


def _root(node: ast.expr) -> str:
    """Return the name that `a` is in `a.b["c"]`; empty if something else is there."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


class _Unroller(ast.NodeTransformer):
    def __init__(self, constants: Mapping[str, ast.expr]) -> None:
        self._constants = constants
        self._nodes_left = _MOST_NODES

    def visit(self, node: ast.AST) -> Any:
        is_plain = isinstance(node, ast.expr) and not isinstance(node, _COMPREHENSIONS)
        # Expressions may be deep: a sum of a thousand strings.
        if is_plain and not any(isinstance(one, _COMPREHENSIONS) for one in ast.walk(node)):
            return node
        return super().visit(node)

    def visit_For(self, node: ast.For) -> ast.AST | list[ast.stmt]:
        if not may_register(node) or _chooses(node.target, node.body):
            return self.generic_visit(node)
        bindings = self._bindings(node.target, node.iter, node.body)
        if bindings is None:
            return self.generic_visit(node)
        iterations: list[ast.stmt] = []
        for number, binding in enumerate(bindings):
            own = _Bound({**_own_names(node, number), **binding})
            iterations += [self.visit(own.visit(deepcopy(one))) for one in node.body]
        return _flat([*iterations, *map(self.visit, node.orelse)])

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> ast.AST:
        generator, *others = node.generators
        bindings = None
        is_plain = not others and not generator.ifs and may_register(node.elt)
        if is_plain and not _chooses(generator.target, [node.elt]):
            bindings = self._bindings(generator.target, generator.iter, [node.elt])
        if bindings is None:
            return self.generic_visit(node)
        items = [self.visit(_Bound(binding).visit(deepcopy(node.elt))) for binding in bindings]
        return ast.copy_location(ast.List(items, ast.Load()), node)

    visit_ListComp = visit_SetComp = visit_GeneratorExp = _comprehension

    def _bindings(
        self, target: ast.expr, listed: ast.expr, body: Sequence[ast.AST]
    ) -> list[dict[str, ast.expr]] | None:
        """Return the values of the loop's variables in each iteration; None if they are known only at run time."""
        items = evaluate(listed, self._find)
        items = list(items) if isinstance(items, dict) else items
        if not isinstance(items, list):
            return None
        own = {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
        nodes = [n for one in body for n in ast.walk(one)]
        uses = sum(1 for n in nodes if isinstance(n, ast.Name) and n.id in own)
        self._nodes_left -= len(items) * len(nodes)
        sizes = (1 for item in items for _ in ast.walk(expression(item, listed)))
        self._nodes_left -= uses * sum(sizes)
        if self._nodes_left < 0:
            return None
        bindings = [_bind(target, item, listed) for item in items]
        known = [binding for binding in bindings if binding is not None]
        return known if len(known) == len(items) else None

    def _find(self, name: ast.Name | ast.Attribute) -> ast.expr | None:
        return self._constants.get(name.id) if isinstance(name, ast.Name) else None


def _bind(target: ast.expr, value: Value, place: ast.expr) -> dict[str, ast.expr] | None:
    if isinstance(target, ast.Name):
        return {target.id: expression(value, place)}
    if not isinstance(target, ast.Tuple | ast.List) or not isinstance(value, list):
        return None
    parts = [_bind(one, part, place) for one, part in zip(target.elts, value)]
    bound = {name: one for part in parts for name, one in (part or {}).items()}
    return bound if len(value) == len(target.elts) and None not in parts else None


class _Bound(ast.NodeTransformer):
    """Replaces names by their values."""

    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.AST:
        value = self._values.get(node.id)
        if value is None or not (isinstance(node.ctx, ast.Load) or isinstance(value, ast.Name)):
            return node
        copy = deepcopy(value)
        if isinstance(copy, ast.Name):
            copy.ctx = node.ctx
        return copy


def _own_names(loop: ast.For, number: int) -> dict[str, ast.expr]:
    """Return another name for each name that the body assigns, so that iterations do not share it."""
    return {
        node.id: ast.copy_location(ast.Name(f"{node.id} {number}", ast.Load()), node)
        for one in loop.body
        for node in ast.walk(one)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _chooses(target: ast.expr, body: Sequence[ast.AST]) -> bool:
    """Return whether a loop may leave out some of its iterations, decides by its variables, or binds them again."""
    own = {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}
    nodes = [node for one in body for node in _walk_outside_functions(one)]
    bound = {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    if own & bound:
        return True
    for node in nodes:
        match node:
            case ast.Break() | ast.Continue() | ast.Return() | ast.Raise() | ast.Assert():
                return True
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                tests = [test]
            case ast.Match(subject=test):
                tests = [test]
            case ast.BoolOp(values=tests) if may_register(node):
                pass
            case _:
                continue
        if any(isinstance(n, ast.Name) and n.id in own | bound for t in tests for n in ast.walk(t)):
            return True
    return _carries(body, bound)


def _walk_outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all nodes in it, but not those of functions that it defines."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _walk_outside_functions(child)


def _carries(body: Sequence[ast.AST], bound: Collection[str]) -> bool:
    """Return whether an iteration may read a name of `bound` that an earlier one has assigned."""
    names = [node for one in body for node in ast.walk(one) if isinstance(node, ast.Name)]
    first: dict[str, int] = {}
    for node in names:
        if node.id in bound and not isinstance(node.ctx, ast.Load):
            first[node.id] = min(node.lineno, first.get(node.id, node.lineno))
    return any(
        isinstance(node.ctx, ast.Load) and node.lineno <= first.get(node.id, -1) for node in names
    )


def _flat(statements: Sequence[ast.stmt | list[ast.stmt]]) -> list[ast.stmt]:
    flat: list[ast.stmt] = []
    for one in statements:
        flat += one if isinstance(one, list) else [one]
    return flat
