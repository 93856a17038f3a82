"""Replace loops over constant lists and dictionaries, whose bodies may register, by their iterations."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import product
from types import MappingProxyType
from typing import Any

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


# The most iterations of one loop, and the most nodes of the iterations of all loops of a module.
_MOST_ITEMS = 1000
_MOST_NODES = 100_000
_MAX_DEPTH = 12
# Methods that leave a list or a dictionary as it is.
_READS = frozenset({"items", "keys", "values", "get", "copy", "index", "count", "split"})
_SAME_ITEMS = frozenset({"list", "tuple", "set", "frozenset", "sorted", "iter"})
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

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        return self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        return self._comprehension(node)

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

    def _bindings(
        self, target: ast.expr, listed: ast.expr, body: Sequence[ast.AST]
    ) -> list[dict[str, ast.expr]] | None:
        """Return the values of the loop's variables in each iteration; None if they are known only at run time."""
        items = self._items(listed, _MAX_DEPTH)
        if items is None:
            return None
        own = {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
        nodes = [n for one in body for n in ast.walk(one)]
        uses = sum(1 for n in nodes if isinstance(n, ast.Name) and n.id in own)
        self._nodes_left -= len(items) * len(nodes)
        self._nodes_left -= uses * sum(1 for item in items for _ in ast.walk(item))
        if len(items) > _MOST_ITEMS or self._nodes_left < 0:
            return None
        bindings = [self._bind(target, item) for item in items]
        known = [binding for binding in bindings if binding is not None]
        return known if len(known) == len(items) else None

    def _bind(self, target: ast.expr, value: ast.expr) -> dict[str, ast.expr] | None:
        if isinstance(target, ast.Name):
            return {target.id: value}
        if not isinstance(target, ast.Tuple | ast.List):
            return None
        parts = self._items(value, _MAX_DEPTH)
        if parts is None or len(parts) != len(target.elts):
            return None
        bound: dict[str, ast.expr] = {}
        for one, part in zip(target.elts, parts):
            inner = self._bind(one, part)
            if inner is None:
                return None
            bound |= inner
        return bound

    # What a loop goes through

    def _items(self, node: ast.expr, depth: int) -> list[ast.expr] | None:
        """Return the items of an iterable; None if they are known only at run time."""
        if depth <= 0:
            return None
        match node:
            case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
                return _joined(
                    self._items(one.value, depth - 1) if isinstance(one, ast.Starred) else [one]
                    for one in elements
                )
            case ast.Dict():
                pairs = self._pairs(node, depth)
                return None if pairs is None else [key for key, _ in pairs]
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                return _joined(self._items(side, depth - 1) for side in (left, right))
            case ast.Call(keywords=[]):
                return self._called(node, depth - 1)
            case ast.Name() | ast.Subscript():
                value = self._value(node, depth)
                return None if value is None else self._items(value, depth - 1)
        return None

    def _value(self, node: ast.expr, depth: int) -> ast.expr | None:
        """Return the value of a name, or of `TABLE["key"]`."""
        match node:
            case ast.Name(id=name):
                return self._constants.get(name)
            case ast.Subscript(value=owner, slice=ast.Constant(value=key)):
                for one, value in self._pairs(owner, depth - 1) or ():
                    if isinstance(one, ast.Constant) and one.value == key:
                        return value
        return None

    def _pairs(self, node: ast.expr, depth: int) -> list[tuple[ast.expr, ast.expr]] | None:
        """Return the keys and values of a dictionary."""
        if depth <= 0:
            return None
        if isinstance(node, ast.Name | ast.Subscript):
            value = self._value(node, depth)
            return None if value is None else self._pairs(value, depth - 1)
        if not isinstance(node, ast.Dict):
            return None
        pairs: list[tuple[ast.expr, ast.expr]] = []
        for key, value in zip(node.keys, node.values):
            inner = [(key, value)] if key is not None else self._pairs(value, depth - 1)
            if inner is None:
                return None
            pairs += inner
        return pairs

    def _called(self, node: ast.Call, depth: int) -> list[ast.expr] | None:
        match node:
            case ast.Call(
                func=ast.Attribute(value=owner, attr="items" | "keys" | "values" as part)
            ):
                pairs = None if node.args else self._pairs(owner, depth)
                if pairs is None:
                    return None
                if part == "items":
                    return [_tuple(key, value) for key, value in pairs]
                return [key if part == "keys" else value for key, value in pairs]
            case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="split")):
                return None if node.args else _located(node, text.split())
            case ast.Call(func=ast.Name(id="range")):
                bounds = [one.value for one in node.args if isinstance(one, ast.Constant)]
                numbers = [one for one in bounds if isinstance(one, int)]
                if (
                    len(numbers) != len(node.args)
                    or not 1 <= len(numbers) <= 3
                    or numbers[2:] == [0]
                ):
                    return None
                return _located(node, range(*numbers)[: _MOST_ITEMS + 1])
        function = node.func.id if isinstance(node.func, ast.Name) else ""
        function = node.func.attr if isinstance(node.func, ast.Attribute) else function
        lists = [self._items(one, depth) for one in node.args]
        known = [one for one in lists if one is not None]
        if len(known) != len(lists) or not known:
            return None
        if function in _SAME_ITEMS and len(known) == 1:
            return known[0]
        if function == "reversed" and len(known) == 1:
            return known[0][::-1]
        if function == "enumerate" and len(known) == 1:
            numbered = zip(_located(node, range(len(known[0]))), known[0])
            return [_tuple(number, item) for number, item in numbered]
        if function == "zip":
            return [_tuple(*items) for items in zip(*known)]
        if function == "product" and _product_size(known) <= _MOST_ITEMS:
            return [_tuple(*items) for items in product(*known)]
        return None


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


def _joined(parts: Iterable[list[ast.expr] | None]) -> list[ast.expr] | None:
    joined: list[ast.expr] = []
    for part in parts:
        if part is None or len(joined) + len(part) > _MOST_ITEMS:
            return None
        joined += part
    return joined


def _flat(statements: Sequence[ast.stmt | list[ast.stmt]]) -> list[ast.stmt]:
    flat: list[ast.stmt] = []
    for one in statements:
        flat += one if isinstance(one, list) else [one]
    return flat


def _tuple(*items: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Tuple(list(items), ast.Load()), items[0])


def _located(node: ast.AST, values: Sequence[str] | Sequence[int]) -> list[ast.expr]:
    return [ast.copy_location(ast.Constant(value), node) for value in values]


def _product_size(lists: Sequence[Sequence[ast.expr]]) -> int:
    size = 1
    for one in lists:
        size *= len(one)
    return size
