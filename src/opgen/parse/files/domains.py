"""Parse domains.yaml: what the author of operators says about their arguments, for opgen.verify."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any

import yaml
from msgspec import Struct

from opgen.diagnostics import Diagnostics, Source, Span, until_too_many
from opgen.diagnostics.suggestions import shorten
from opgen.model.backend import WrittenName
from opgen.model.domains import Between, Domain, OneOf, Values, shape_problem
from opgen.parse.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode, compose
from opgen.parse.yaml.values import ValueReader

_KEYS = ("values", "shapes", "dtypes", "skip", "unspecified", "non_differentiable", "why")
# The keys that contain names, with what defines them.
_NAMES = MappingProxyType(
    {
        "values": "argument",
        "shapes": "argument",
        "non_differentiable": "argument",
        "skip": "property",
        "dtypes": "dtype",
    }
)
_VALUE_KEYS = ("between", "away_from", "by", "one_of")
_SPAN, _BY = 2.0, 0.1


class Word(Struct, frozen=True):
    """A name in a file of domains, which something else defines. `kind`: operator, argument, property or dtype."""

    kind: str
    operator: str
    text: str
    span: Span


class DomainsFile(Struct, frozen=True):
    """The domains of operators, by their names with namespaces, and all names that the file contains."""

    domains: Mapping[str, Domain] = {}
    words: tuple[Word, ...] = ()


@until_too_many(DomainsFile)
def parse_domains(source: Source, diagnostics: Diagnostics) -> DomainsFile:
    """Parse the domains of operators. Parts with errors are reported and left out."""
    before = len(diagnostics)
    root = compose(source, diagnostics)
    if isinstance(root, MappingNode):
        domains = {
            name.value: found
            for name, value in root.pairs
            if (found := _domain(value, diagnostics)) is not None
        }
        words = [word for name, value in root.pairs for word in _words(name, value)]
        return DomainsFile(domains, tuple(words))
    if len(diagnostics) == before and root is not None:
        message = "a file of domains maps names of operators to what is drawn for them"
        diagnostics.error("E0851", message, root.span)
    return DomainsFile()


def _words(name: ScalarNode, value: Node) -> Iterator[Word]:
    """Yield the names that the domain of one operator contains."""
    yield Word("operator", name.value, name.value, name.span)
    if not isinstance(value, MappingNode):
        return
    for key, kind in _NAMES.items():
        node = value.get(key)
        items = node.items if isinstance(node, SequenceNode) else ()
        found = [key for key, _ in node.pairs] if isinstance(node, MappingNode) else items
        for each in found:
            if isinstance(each, ScalarNode):
                yield Word(kind, name.value, each.value, each.span)


def _domain(value: Node, diagnostics: Diagnostics) -> Domain | None:
    if not isinstance(value, MappingNode):
        empty = MappingNode(value.source, (), value.start, value.end)
        reader = ValueReader(empty, "E0853", diagnostics)
        reader.report_type(value, "the domain of an operator is a mapping")
        return None
    reader = ValueReader(value, "E0853", diagnostics)
    reader.check_keys(_KEYS, "E0852")
    dtypes = reader.scalars("dtypes")
    why = reader.name("why")
    domain = Domain(
        dtypes=dtypes or None,
        skip=_texts(reader, "skip"),
        unspecified=reader.flag("unspecified", False),
        non_differentiable=reader.scalars("non_differentiable"),
        why="" if why is None else why.text,
        shapes=_shapes(reader),
    )
    domain.arguments = _values(reader)
    return domain


def _texts(reader: ValueReader, key: str) -> dict[str, str]:
    found = {}
    for name, value in reader.pairs(key):
        text = reader.scalar(value, f"'{key}' maps names to reasons", None)
        if text is not None:
            found[name.value] = text.text
    return found


def _shapes(reader: ValueReader) -> dict[str, tuple[int | str, ...]]:
    found: dict[str, tuple[int | str, ...]] = {}
    for name, value in reader.pairs("shapes"):
        rule = "a shape is a list of numbers and letters"
        sizes = tuple(map(_size, reader.list_of(value, rule, rule, None)))
        if problem := shape_problem(sizes):
            reader.diagnostics.error("E0853", problem, value.span)
            continue
        found[name.value] = sizes
    return found


def _size(item: WrittenName) -> int | str:
    """Return a number, or what stands for one. Long digits are no number that Python reads."""
    text = item.text.replace("_", "")
    is_number = text.removeprefix("-").isdecimal() and len(text) < 100
    return int(text) if is_number else item.text


def _values(reader: ValueReader) -> dict[str, Values]:
    found: dict[str, Values] = {}
    for name, value in reader.pairs("values"):
        if not isinstance(value, MappingNode):
            reader.report_type(value, "the values of an argument are a mapping")
            continue
        own = ValueReader(value, "E0853", reader.diagnostics)
        own.check_keys(_VALUE_KEYS, "E0852")
        read = _value(own)
        if read is not None:
            found[name.value] = read
    return found


def _value(reader: ValueReader) -> Values | None:
    node = reader.node
    choices = node.get("one_of")
    if choices is not None:
        if not isinstance(choices, SequenceNode) or not choices.items:
            reader.report_type(choices, "'one_of' takes a list of values")
            return None
        return OneOf(*map(_plain, choices.items))
    ends = _numbers(reader, "between")
    points = _numbers(reader, "away_from")
    by = node.get("by")
    gap = _number(reader, by, "'by' takes a finite number") if by is not None else _BY
    low, high = -_SPAN, _SPAN
    between = node.get("between")
    if ends is not None and between is not None:
        if len(ends) != 2:
            reader.report_type(between, "'between' takes two numbers")
            return None
        low, high = ends
        if low >= high:
            message = f"no number is above {low} and below {high}"
            reader.diagnostics.error("E0854", message, between.span)
            return None
    return Between(low, high, points or (), (gap or 0.0) if points else 0.0)


def _numbers(reader: ValueReader, key: str) -> tuple[float, ...] | None:
    value = reader.node.get(key)
    if value is None:
        return None
    rule = f"'{key}' takes a list of finite numbers"
    if not isinstance(value, SequenceNode):
        reader.report_type(value, rule)
        return None
    found = [_number(reader, item, rule) for item in value.items]
    numbers = tuple(number for number in found if number is not None)
    return numbers if len(numbers) == len(found) else None


def _number(reader: ValueReader, value: Node, rule: str) -> float | None:
    number = _as_number(value)
    with suppress(OverflowError):
        if number is not None and math.isfinite(number):
            return float(number)
    if isinstance(value, ScalarNode):
        message = f"{rule}, but this is '{shorten(value.value)}'"
        reader.diagnostics.error("E0853", message, value.span)
    else:
        reader.report_type(value, rule)
    return None


def _as_number(node: Node) -> int | float | None:
    """Return the value of a number as YAML defines it: `0x1F`, `1_000`, `1:30`, `.inf`; None for anything else."""
    if not isinstance(node, ScalarNode) or node.kind not in ("int", "float"):
        return None
    construct = getattr(yaml.constructor.SafeConstructor(), f"construct_yaml_{node.kind}")
    try:
        number: int | float = construct(yaml.ScalarNode(node.kind, node.value))
    except (ValueError, IndexError, OverflowError):
        # The tag says that it is a number, or it has more digits than Python reads.
        return None
    return number


def _plain(node: Node) -> Any:
    """Return the value of a node: a number, a string, a list."""
    if isinstance(node, SequenceNode):
        return [_plain(item) for item in node.items]
    if isinstance(node, ScalarNode):
        match node.kind:
            case "int" | "float":
                number = _as_number(node)
                return node.value if number is None else number
            case "bool":
                return node.is_true
            case "null":
                return None
        return node.value
    return None
