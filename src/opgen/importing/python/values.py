"""Evaluate expressions of a Python source that are known before it runs: strings, numbers, lists and dictionaries."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import islice, product
from types import MappingProxyType
from typing import TypeAlias

from opgen.importing.common.schema_text import MAX_SCHEMA

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
            return _item(inner(owner), inner(key))
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


def _item(owner: Value, key: Value) -> Value:
    if isinstance(owner, list) and isinstance(key, int) and key >= 0:
        return owner[key]
    if isinstance(owner, dict) and isinstance(key, str):
        return owner[key]
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
