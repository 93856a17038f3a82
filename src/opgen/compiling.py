"""Templates into Python functions: the only module that knows Jinja.

Jinja reads them. What they may say is little: print, loop, test, include. It becomes the Python that one would write by
hand, an f-string up to the next loop or test, which takes a third of the time of what Jinja makes of it. And it needs
no Jinja: where a template was compiled before (`render.py`), nobody imports it, which would take 20 ms.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from types import CodeType
from typing import TypeVar

import jinja2
from jinja2 import nodes

from opgen.dataclasses import dataclass

_JINJA = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
_Placed = TypeVar("_Placed", bound=ast.stmt | ast.expr)


def compile_template(source: str, path: str) -> CodeType:
    """A module with the function `render(file, write, template)`, whose lines are those of the template.

    It writes texts; `template` is asked for the function of an included template. Raises jinja2.TemplateError for a
    template that is no template, knows a name besides `file`, or says what no template may say.
    """
    module = ast.parse("def render(file, _write, _template): pass")
    (function,) = module.body
    assert isinstance(function, ast.FunctionDef)
    scope = _Scope(path, {"file": "file"})
    function.body = scope.statements(_JINJA.parse(source, filename=path).body)
    return compile(ast.fix_missing_locations(module), path, "exec")


@dataclass(frozen=True, slots=True)
class _Scope:
    """A part of a template; `names` are those that it knows, and what the function calls them."""

    path: str
    names: Mapping[str, str]
    depth: int = 0

    def statements(self, given: Sequence[nodes.Node]) -> list[ast.stmt]:
        return [made for node in given for made in self._statement(node)] or [ast.Pass()]

    def _statement(self, node: nodes.Node) -> list[ast.stmt]:
        match node:
            case nodes.Output(nodes=parts):
                texts = ast.JoinedStr([self._text(part) for part in parts])
                call = ast.Call(ast.Name("_write", ast.Load()), [texts], [])
                return [_placed(ast.Expr(call), node)]
            case nodes.If():
                otherwise = self.statements(node.else_) if node.else_ else []
                for branch in reversed(node.elif_):
                    otherwise = [self._if(branch, otherwise)]
                return [self._if(node, otherwise)]
            case nodes.For(target=nodes.Name(), test=None, recursive=False):
                return self._for(node)
            case nodes.Include(template=nodes.Const(value=name)):
                return _parsed(f"_template({name!r})(file, _write, _template)", node)
            case _:
                raise self._refused(node)

    def _if(self, node: nodes.If, otherwise: list[ast.stmt]) -> ast.stmt:
        made = ast.If(self._value(node.test), self.statements(node.body), otherwise)
        return _placed(made, node)

    def _for(self, node: nodes.For) -> list[ast.stmt]:
        assert isinstance(node.target, nodes.Name)
        # Numbered: what an inner loop gives the same name is another variable.
        item, first = f"{node.target.name}_{self.depth}", f"_first_{self.depth}"
        names = {**self.names, node.target.name: item, "loop": first}
        body = _Scope(self.path, names, self.depth + 1).statements(node.body)
        before = []
        if any(name.name == "loop" for name in node.find_all(nodes.Name)):
            before = _parsed(f"{first} = True", node)
            body += _parsed(f"{first} = False", node)
        items = self._value(node.iter)
        loop = _placed(ast.For(ast.Name(item, ast.Store()), items, body, []), node)
        if not node.else_:
            return [*before, loop]
        return [*before, _placed(ast.If(items, [loop], self.statements(node.else_)), node)]

    def _text(self, node: nodes.Node) -> ast.expr:
        match node:
            case nodes.TemplateData(data=text) | nodes.Const(value=str(text)):
                return ast.Constant(text)
            case _:
                return _placed(ast.FormattedValue(self._value(node), ord("s"), None), node)

    def _value(self, node: nodes.Node) -> ast.expr:
        match node:
            case nodes.Getattr(node=nodes.Name(name="loop"), attr="first") if "loop" in self.names:
                return ast.Name(self.names["loop"], ast.Load())
            case nodes.Name(name=name) if name in self.names and name != "loop":
                return ast.Name(self.names[name], ast.Load())
            case nodes.Getattr(node=of, attr=name):
                return _placed(ast.Attribute(self._value(of), name, ast.Load()), node)
            case nodes.Not(node=of):
                return ast.UnaryOp(ast.Not(), self._value(of))
            case nodes.And(left=left, right=right):
                return ast.BoolOp(ast.And(), [self._value(left), self._value(right)])
            case nodes.Or(left=left, right=right):
                return ast.BoolOp(ast.Or(), [self._value(left), self._value(right)])
            case nodes.Const(value=value):
                return ast.Constant(value)
            case _:
                raise self._refused(node)

    def _refused(self, node: nodes.Node) -> jinja2.TemplateError:
        if isinstance(node, nodes.Name):
            return jinja2.UndefinedError(f"{self.path}, line {node.lineno}: no name '{node.name}'")
        what = f"a template may not say {type(node).__name__}"
        return jinja2.TemplateSyntaxError(what, node.lineno, filename=self.path)


def _parsed(statement: str, node: nodes.Node) -> list[ast.stmt]:
    return [ast.increment_lineno(made, node.lineno - 1) for made in ast.parse(statement).body]


def _placed(made: _Placed, node: nodes.Node) -> _Placed:
    """`made` on the line of the node that it was made of."""
    made.lineno = made.end_lineno = node.lineno
    made.col_offset = made.end_col_offset = 0
    return made
