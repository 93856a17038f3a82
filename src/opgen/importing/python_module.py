"""A Python source as its syntax tree: where its nodes stand, what its names and constants are."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping, Sequence

from opgen.dataclasses import dataclass, field
from opgen.diagnostics import Source, Span

# Constants of constants: deeper than anybody writes.
_DEEPEST = 12
# Texts are not joined to longer ones.
_LONGEST = 60_000

Function = ast.FunctionDef | ast.AsyncFunctionDef
# What a node stands in: functions and classes, from the outermost on.
Around = tuple[ast.AST, ...]


@dataclass(frozen=True, slots=True)
class Assigned:
    """`target = value` somewhere; `target` is a name, or one with attributes such as `self.lib`."""

    target: str
    value: ast.expr
    around: Around
    line: int


@dataclass(frozen=True, slots=True, eq=False)
class PythonModule:
    source: Source
    nodes: tuple[tuple[ast.AST, Around], ...] = field(repr=False)
    imports: Mapping[str, str] = field(repr=False)
    assigned: Mapping[str, tuple[Assigned, ...]] = field(repr=False)
    functions: Mapping[str, tuple[Function, ...]] = field(repr=False)
    line_starts: Sequence[int] = field(repr=False)

    def span(self, node: ast.AST) -> Span:
        """Where a node stands."""
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        last, end = getattr(node, "end_lineno", line), getattr(node, "end_col_offset", column)
        return Span(self.source, self._offset(line, column), self._offset(last, end))

    def _offset(self, line: int, column: int) -> int:
        """Columns of the syntax tree count bytes of UTF-8."""
        start = self.line_starts[min(line, len(self.line_starts)) - 1]
        end = self.line_starts[line] if line < len(self.line_starts) else len(self.source.text)
        text = self.source.text[start:end]
        if text.isascii():
            return start + min(column, len(text))
        return start + len(text.encode("utf-8", "replace")[:column].decode("utf-8", "ignore"))

    # Names

    def dotted(self, node: ast.AST) -> str:
        """`torch.library.define` of a name with attributes, whatever it was imported as; "" of anything else."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        return ".".join((self.imports.get(node.id, node.id), *reversed(parts)))

    def find_assigned(self, target: str, around: Around, line: int) -> Assigned | None:
        """The last assignment of a name before a place: in the function around it, or else in the module."""
        found = [one for one in self.assigned.get(target, ()) if _is_seen(one, around)]
        earlier = [one for one in found if one.line <= line or one.around != around] or found
        return max(earlier, key=lambda one: (len(one.around), one.line), default=None)

    def find_function(self, name: str, line: int) -> Function | None:
        """The function of a name that is defined last before a line, or else first after it."""
        found = self.functions.get(name, ())
        earlier = [one for one in found if one.lineno <= line]
        return earlier[-1] if earlier else next(iter(found), None)

    # Constants

    def find_text(self, node: ast.AST | None, around: Around, depth: int = _DEEPEST) -> str | None:
        """The text that an expression is; None if it is not known before the program runs."""
        if node is None or depth <= 0:
            return None
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.JoinedStr(values=parts):
                return self._joined([self._part(part, around, depth) for part in parts])
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                sides = (left, right)
                return self._joined([self.find_text(s, around, depth - 1) for s in sides])
            case ast.Call(
                func=ast.Attribute(value=of, attr="strip" | "lstrip" | "rstrip"), args=[]
            ):
                inner = self.find_text(of, around, depth - 1)
                return None if inner is None else inner.strip()
            case ast.Call(args=[given]) if self.dotted(node.func).endswith("dedent"):
                return self.find_text(given, around, depth - 1)
            case ast.Name() | ast.Attribute():
                value = self.find_value(node, around)
                return None if value is None else self.find_text(value, around, depth - 1)
            case _:
                return None

    def _part(self, node: ast.expr, around: Around, depth: int) -> str | None:
        is_plain = isinstance(node, ast.FormattedValue) and node.format_spec is None
        inner = node.value if isinstance(node, ast.FormattedValue) and is_plain else node
        return self.find_text(inner, around, depth - 1)

    def _joined(self, parts: Sequence[str | None]) -> str | None:
        known = [part for part in parts if part is not None]
        text = "".join(known)
        return text if len(known) == len(parts) and len(text) <= _LONGEST else None

    def find_value(self, node: ast.Name | ast.Attribute, around: Around) -> ast.expr | None:
        """What a name was last assigned."""
        found = self.find_assigned(ast.unparse(node), around, node.lineno)
        return None if found is None else found.value


class NotPython(Exception):
    """A source that Python cannot parse: why, and where if that is known."""

    def __init__(self, why: str, span: Span) -> None:
        super().__init__(why)
        self.span = span


def read_python(source: Source) -> PythonModule:
    """The module of a source. Raises NotPython."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source.text)
        nodes = tuple(_walk(tree))
    except SyntaxError as error:
        line = min(max(error.lineno or 1, 1), len(source.line_starts()))
        start = source.line_starts()[line - 1]
        offset = min(start + max((error.offset or 1) - 1, 0), len(source.text))
        raise NotPython(error.msg, Span(source, offset, offset)) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise NotPython(str(error) or "it is nested too deeply", source.start) from None
    imports: dict[str, str] = {}
    assigned: dict[str, list[Assigned]] = {}
    functions: dict[str, list[Function]] = {}
    for node, around in nodes:
        imports.update(_imported(node))
        for one in _assignments(node, around):
            assigned.setdefault(one.target, []).append(one)
        if isinstance(node, Function):
            functions.setdefault(node.name, []).append(node)
    return PythonModule(
        source,
        nodes,
        imports,
        {target: tuple(found) for target, found in assigned.items()},
        {name: tuple(found) for name, found in functions.items()},
        _line_starts(source.text),
    )


def _walk(tree: ast.AST) -> Iterator[tuple[ast.AST, Around]]:
    """All nodes in the order of the source, with what they stand in."""
    left: list[tuple[ast.AST, Around]] = [(tree, ())]
    while left:
        node, around = left.pop()
        yield node, around
        is_around = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        inner = (*around, node) if is_around else around
        children = []
        for child in ast.iter_child_nodes(node):
            # Decorators and defaults are of what is around the function.
            is_body = isinstance(child, ast.stmt) or not is_around
            children.append((child, inner if is_body else around))
        left.extend(reversed(children))


def _imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The names that an import makes, and what they stand for."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.asname is not None:
                yield alias.asname, alias.name
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            module = f"{'.' * node.level}{node.module or ''}"
            yield alias.asname or alias.name, f"{module}.{alias.name}"


def _assignments(node: ast.AST, around: Around) -> Iterator[Assigned]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name | ast.Attribute):
                yield Assigned(ast.unparse(target), node.value, around, node.lineno)
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
        yield Assigned(ast.unparse(node.target), node.value, around, node.lineno)
    elif isinstance(node, ast.With | ast.AsyncWith):
        for item in node.items:
            if item.optional_vars is not None:
                named = ast.unparse(item.optional_vars)
                yield Assigned(named, item.context_expr, around, node.lineno)


def _is_seen(one: Assigned, around: Around) -> bool:
    """Whether what stands in `around` sees an assignment. Attributes are seen everywhere."""
    return one.around == around[: len(one.around)] or "." in one.target


def _line_starts(text: str) -> list[int]:
    """Where lines begin for Python's parser, which ends none at a form feed."""
    starts, position = [0], 0
    for line in text.splitlines(keepends=True):
        position += len(line)
        if line.endswith(("\n", "\r")):
            starts.append(position)
    return starts
