"""Evaluate what is known before a Python source runs: strings, numbers, lists, dictionaries, and loops over these.

Loops whose bodies may register are replaced by their iterations.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import partial
from itertools import islice, product
from types import MappingProxyType
from typing import Any, TypeAlias

from opgen.importing.common.registrations import MAX_SCHEMA

# The most steps from an expression to its value, and the most items of a list.
_MAX_DEPTH = 12
_MOST_ITEMS = 1000
# A list stands for a tuple or a set, too. What is known only at run time is an expression.
Value: TypeAlias = "str | int | float | list[Value] | dict[Value, Value] | ast.expr | None"
# Returns what a name stands for; None if that is not known.
Find: TypeAlias = Callable[[ast.Name | ast.Attribute], ast.expr | None]

_FUNCTIONS: Mapping[str, Callable[..., Iterable[object]]] = MappingProxyType(
    {
        **dict.fromkeys(("list", "tuple", "set", "frozenset", "sorted", "iter"), list),
        "range": range,
        "reversed": reversed,
        "enumerate": enumerate,
        "zip": zip,
        "product": product,
    }
)
_METHODS = frozenset(("items", "keys", "values"))
_METHODS_OF_STRINGS = frozenset(("split", "strip", "lstrip", "rstrip", "lower", "upper", "format"))
# Templates without widths and other formats.
_PERCENT = re.compile(r"(?:[^%]|%s)*")
_BRACES = re.compile(r"(?:[^{}]|\{\w*\})*")


class _Unknown(Exception):
    """A value that is known only at run time."""


def evaluate(node: ast.expr, find: Find, depth: int = _MAX_DEPTH) -> Value:
    """Return the value of an expression; its parts, or the whole, are expressions if they are known only at run time."""
    try:
        value = _evaluate(node, find, depth)
    except (_Unknown, AttributeError, LookupError, TypeError, ValueError):
        return node
    most = MAX_SCHEMA if isinstance(value, str) else _MOST_ITEMS
    return node if isinstance(value, str | list) and len(value) > most else value


def expression(value: Value, place: ast.expr) -> ast.expr:
    """Return an expression that has a value, located at `place`."""
    if isinstance(value, ast.expr):
        return value
    made: ast.expr
    if isinstance(value, list):
        made = ast.Tuple([expression(one, place) for one in value], ast.Load())
    elif isinstance(value, dict):
        keys, values = (
            [expression(one, place) for one in side] for side in (value, value.values())
        )
        made = ast.Dict(list[ast.expr | None](keys), values)
    else:
        made = ast.Constant(value)
    return ast.copy_location(made, place)


def _evaluate(node: ast.expr, find: Find, depth: int) -> Value:
    inner = partial(evaluate, find=find, depth=depth - 1)
    if depth <= 0:
        raise _Unknown
    match node:
        case ast.Constant(value=str() | int() | float() | None as value):
            return value
        case ast.JoinedStr(values=parts):
            return "".join(str(_plain(inner(part))) for part in parts)
        case ast.FormattedValue(value=formatted, conversion=-1 | 115, format_spec=None):
            return str(_plain(inner(formatted)))
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return _items(items, inner)
        case ast.Dict():
            return _pairs(node, inner)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _sum(inner(left), inner(right))
        case ast.BinOp(left=left, op=ast.Mod(), right=right):
            given = inner(right)
            values = given if isinstance(given, list) else [given]
            return _template(inner(left), _PERCENT) % tuple(map(_plain, values))
        case ast.Subscript(value=owner, slice=key):
            whole, place = inner(owner), inner(key)
            if isinstance(whole, list) and isinstance(place, int) and place >= 0:
                return whole[place]
            if isinstance(whole, dict) and isinstance(place, str):
                return whole[place]
        case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in _METHODS_OF_STRINGS:
            text = _template(inner(owner), _BRACES) if name == "format" else inner(owner)
            words = {one.arg or "": _plain(inner(one.value)) for one in node.keywords}
            made: Value = getattr(text, name)(*(_plain(inner(one)) for one in node.args), **words)
            return made
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=[]) if name in _METHODS:
            return _listed(getattr(inner(owner), name)())
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), keywords=[]):
            return _called(name, [inner(one) for one in node.args])
        case ast.Name() | ast.Attribute():
            found = find(node)
            known = None if found is None else inner(found)
            if found is None or isinstance(known, ast.expr):
                raise _Unknown
            return known
    raise _Unknown


def _plain(value: Value) -> str | int:
    if not isinstance(value, str | int):
        raise _Unknown
    return value


def _template(value: Value, pattern: re.Pattern[str]) -> str:
    if not isinstance(value, str) or pattern.fullmatch(value) is None:
        raise _Unknown
    return value


def _items(nodes: Iterable[ast.expr], inner: Callable[[ast.expr], Value]) -> list[Value]:
    items: list[Value] = []
    for node in nodes:
        value = inner(node.value if isinstance(node, ast.Starred) else node)
        items += _listed(value) if isinstance(node, ast.Starred) else [value]
    return items


def _pairs(node: ast.Dict, inner: Callable[[ast.expr], Value]) -> dict[Value, Value]:
    pairs: dict[Value, Value] = {}
    for key, one in zip(node.keys, node.values):
        value = inner(one)
        if key is not None:
            pairs[inner(key)] = value
        elif isinstance(value, dict):
            pairs |= value
        else:
            raise _Unknown
    return pairs


def _sum(left: Value, right: Value) -> Value:
    if isinstance(left, str) and isinstance(right, str):
        return left + right
    if isinstance(left, list) and isinstance(right, list):
        return left + right
    raise _Unknown


def _called(name: str, given: list[Value]) -> Value:
    if name.endswith("dedent") and len(given) == 1:
        return given[0]
    wanted = int if name == "range" else (list, dict)
    if name == "dict" and not given:
        return {}
    if name not in _FUNCTIONS or not all(isinstance(one, wanted) for one in given):
        raise _Unknown
    return _listed(_FUNCTIONS[name](*given))


def _listed(values: object) -> list[Value]:
    """Return the items of an iterable; at most one more than a list may have."""
    if isinstance(values, str | ast.expr) or not isinstance(values, Iterable):
        raise _Unknown
    items = islice(values, _MOST_ITEMS + 1)
    return [list(one) if isinstance(one, tuple) else one for one in items]


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
        visited = (*iterations, *map(self.visit, node.orelse))
        return [one for some in visited for one in (some if isinstance(some, list) else [some])]

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
