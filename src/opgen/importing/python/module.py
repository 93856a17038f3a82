"""A Python source as a syntax tree, with the positions of nodes and the values of names."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from opgen.diagnostics import Source, Span
from opgen.importing.python.values import Value, evaluate, unroll

# The most steps from an expression to its value.
_MAX_DEPTH = 12

Function = ast.FunctionDef | ast.AsyncFunctionDef
# The functions and classes around a node, from the outermost.
Around = tuple[ast.AST, ...]


class Assigned(Struct, frozen=True):
    """`target = value`. `target` is a name, or one with attributes such as `self.lib`."""

    target: str
    value: ast.expr
    around: Around
    line: int


class PythonModule(Struct, frozen=True, eq=False):
    """A parsed module. `nodes` are all its nodes, in order; `imports` maps local names to full ones."""

    source: Source
    nodes: tuple[tuple[ast.AST, Around], ...]
    imports: Mapping[str, str]
    assigned: Mapping[str, tuple[Assigned, ...]]
    functions: Mapping[str, tuple[Function, ...]]
    line_starts: Sequence[int]

    def __repr__(self) -> str:
        return f"PythonModule({self.source!r})"

    def span(self, node: ast.AST) -> Span:
        """Return the span of a node."""
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        last, end = getattr(node, "end_lineno", line), getattr(node, "end_col_offset", column)
        return Span(self.source, self._offset(line, column), self._offset(last, end))

    def _offset(self, line: int, column: int) -> int:
        """Convert a line and a column, which counts bytes of UTF-8, to an offset of characters."""
        start = self.line_starts[min(line, len(self.line_starts)) - 1]
        end = self.line_starts[line] if line < len(self.line_starts) else len(self.source.text)
        text = self.source.text[start:end]
        if text.isascii():
            return start + min(column, len(text))
        return start + len(text.encode("utf-8", "replace")[:column].decode("utf-8", "ignore"))

    # Names

    def dotted(self, node: ast.AST, depth: int = _MAX_DEPTH) -> str:
        """Return the full name of a name with attributes, such as `torch.library.define`; "" for other nodes."""
        parts: list[str] = []
        while (found := self.attribute(node)) is not None:
            node, name = found
            parts.append(name)
        if not isinstance(node, ast.Name) or not all(parts):
            return ""
        return ".".join((self.full_name(node.id, depth), *reversed(parts)))

    def attribute(self, node: ast.AST, around: Around = ()) -> tuple[ast.expr, str] | None:
        """Return the parts of `owner.name` and of `getattr(owner, "name")`; None for other nodes.

        A name that is known only at run time is empty.
        """
        match node:
            case ast.Attribute(value=owner, attr=name):
                return owner, name
            case ast.Call(func=ast.Name(id="getattr"), args=[owner, attribute, *_]):
                return owner, self.find_string(attribute, around) or ""
        return None

    def full_name(self, name: str, depth: int = _MAX_DEPTH) -> str:
        """Return the full name for which a name of the module stands, by an import or as `name = torch.library`.

        Also as `name = getattr(torch.ops.mylib, "f")`.
        """
        if name in self.imports or depth <= 0:
            return self.imports.get(name, name)
        for assigned in self.assigned.get(name, ()):
            names = {node.id for node in ast.walk(assigned.value) if isinstance(node, ast.Name)}
            if not assigned.around and name not in names:
                full = self.dotted(assigned.value, depth - 1)
                if full.startswith("torch."):
                    return full
        return name

    def find_assigned(self, target: str, around: Around, line: int) -> Assigned | None:
        """Return the last assignment of a name before `line`: in the function around it, or else in the module."""
        # Attributes are visible everywhere.
        every = self.assigned.get(target, ())
        visible = [a for a in every if a.around == around[: len(a.around)] or "." in target]
        earlier = [a for a in visible if a.line <= line or a.around != around] or visible
        return max(
            earlier, key=lambda assigned: (len(assigned.around), assigned.line), default=None
        )

    def find_function(self, name: str, line: int) -> Function | None:
        """Return the function that is defined last before `line`, or else first after it."""
        functions = self.functions.get(name, ())
        earlier = [function for function in functions if function.lineno <= line]
        return earlier[-1] if earlier else next(iter(functions), None)

    # Constants

    def value(self, node: ast.expr, around: Around) -> Value:
        """Return the value of an expression; what is known only at run time is an expression."""

        def find(name: ast.Name | ast.Attribute) -> ast.expr | None:
            # A table that other code fills, too, is not known.
            is_filled = f"{ast.unparse(name)}[]" in self.assigned
            return None if is_filled else self.find_value(name, around)

        return evaluate(node, find)

    def find_string(self, node: ast.expr | None, around: Around) -> str | None:
        """Return the string that an expression evaluates to; None if it is known only at run time."""
        value = None if node is None else self.value(node, around)
        return value if isinstance(value, str) else None

    def find_value(self, node: ast.Name | ast.Attribute, around: Around) -> ast.expr | None:
        """Return the expression that was last assigned to a name; None if there is none."""
        assigned = self.find_assigned(ast.unparse(node), around, node.lineno)
        return None if assigned is None else assigned.value


class NotPython(Exception):
    """A source that Python cannot parse: the reason, and the place."""

    def __init__(self, reason: str, span: Span) -> None:
        super().__init__(reason)
        self.span = span


def read_python(source: Source) -> PythonModule:
    """Parse a source. Raises NotPython."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source.text)
        unroll(tree)
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
        {target: tuple(assignments) for target, assignments in assigned.items()},
        {name: tuple(definitions) for name, definitions in functions.items()},
        _line_starts(source.text),
    )


def _walk(tree: ast.AST) -> Iterator[tuple[ast.AST, Around]]:
    """Yield all nodes in the order of the source, with the functions and classes around each."""
    pending: list[tuple[ast.AST, Around]] = [(tree, ())]
    while pending:
        node, around = pending.pop()
        yield node, around
        is_around = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        inner = (*around, node) if is_around else around
        children = []
        for child in ast.iter_child_nodes(node):
            # Decorators and defaults are evaluated outside of the function.
            is_body = isinstance(child, ast.stmt) or not is_around
            children.append((child, inner if is_body else around))
        pending.extend(reversed(children))


def _imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the names that an import defines, with their full names."""
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
            yield from _assigned(target, node.value, around, node.lineno)
    elif isinstance(node, ast.For | ast.AsyncFor | ast.AugAssign):
        yield from _assigned(node.target, None, around, node.lineno)
    elif isinstance(node, Function | ast.Lambda):
        inner = (*around, node)
        given = node.args
        for one in (*given.posonlyargs, *given.args, *given.kwonlyargs):
            yield Assigned(one.arg, _UNKNOWN, inner, node.lineno)
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
        yield Assigned(ast.unparse(node.target), node.value, around, node.lineno)
    elif isinstance(node, ast.With | ast.AsyncWith):
        for item in node.items:
            if item.optional_vars is not None:
                named = ast.unparse(item.optional_vars)
                yield Assigned(named, item.context_expr, around, node.lineno)


# The value of a name that is known only at run time.
_UNKNOWN: ast.expr = ast.Constant(value=...)


def _assigned(
    target: ast.expr, value: ast.expr | None, around: Around, line: int
) -> Iterator[Assigned]:
    """Yield the names that a target has, with their values."""
    if isinstance(target, ast.Name | ast.Attribute):
        yield Assigned(ast.unparse(target), value or _UNKNOWN, around, line)
    elif isinstance(target, ast.Subscript):
        yield Assigned(f"{ast.unparse(target.value)}[]", _UNKNOWN, around, line)
    elif isinstance(target, ast.Tuple | ast.List):
        values: Sequence[ast.expr | None] = [None] * len(target.elts)
        if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
            values = value.elts
        for one, own in zip(target.elts, values):
            yield from _assigned(one, own, around, line)


def _line_starts(text: str) -> list[int]:
    """Return the starts of lines by the rules of Python's parser: a form feed does not end a line."""
    starts, position = [0], 0
    for line in text.splitlines(keepends=True):
        position += len(line)
        if line.endswith(("\n", "\r")):
            starts.append(position)
    return starts
