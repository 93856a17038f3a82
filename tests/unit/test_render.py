"""Rendering is strict: a name that the file lacks is an error, and each path is generated once."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jinja2
import pytest
from jinja2 import nodes

from opgen.data import templates_dir
from opgen.emit.common.base import GeneratedFile, blocks, cpp_string, group_by, unique
from opgen.templating import environment
from opgen.templating.environment import compile_templates, make_environment
from opgen.templating.render import Renderer


class OneFile(GeneratedFile, frozen=True):
    text: str
    flag: bool = False


def rendered(folder: Path, template: str, text: str = "x", flag: bool = False) -> str:
    (folder / "t.j2").write_text(template)
    return Renderer(folder).render(OneFile("path", "t.j2", text, flag))


def test_a_template_sees_its_file_as_file(tmp_path: Path) -> None:
    assert rendered(tmp_path, "a {{ file.text }} b\n") == "a x b\n"


def test_nothing_is_escaped(tmp_path: Path) -> None:
    assert rendered(tmp_path, "{{ file.text }}", "<&>'\"") == "<&>'\""


def test_statement_lines_leave_no_output(tmp_path: Path) -> None:
    template = "{\n  {% if file.flag %}\n  yes\n  {% endif %}\n}\n"
    assert rendered(tmp_path, template, flag=True) == "{\n  yes\n}\n"
    assert rendered(tmp_path, template, flag=False) == "{\n}\n"


@pytest.mark.parametrize("template", ["{{ file.txt }}", "{% if file.no %}{% endif %}"])
def test_an_unknown_field_is_an_error(tmp_path: Path, template: str) -> None:
    """The traceback shows the line of the template."""
    with pytest.raises(AttributeError) as caught:
        rendered(tmp_path, f"one\ntwo\n{template}\n")
    place = caught.traceback[-1]
    assert (Path(place.path), place.lineno) == (tmp_path / "t.j2", 2)


@pytest.mark.parametrize(
    "template",
    [
        "{{ other }}",
        "{{ other.text }}",
        "{{ loop }}",
        "{{ loop.first }}",
        "{% for c in file.text %}{% endfor %}{{ c }}",
        "{% if other %}{% endif %}",
        "{% for c in other %}{% endfor %}",
    ],
)
def test_an_unknown_name_is_an_error(tmp_path: Path, template: str) -> None:
    with pytest.raises((jinja2.UndefinedError, AttributeError)):
        rendered(tmp_path, f"\n{template}\n")


def test_forbidden_parts_of_templates() -> None:
    """Templates decide nothing: filters, calls, assignments, arithmetic and choices between two texts are forbidden; a
    decision becomes a field of the file. An `if` without `else` leaves out a section.
    """
    for path in sorted(templates_dir().rglob("*.j2")):
        found = list(forbidden(path.read_text()))
        if path.name in _CHOOSES:
            found = [part for part in found if not part.endswith(": else")]
        assert not found, path


# Templates that still choose between two texts.
_CHOOSES = frozenset({"Derivatives.cpp.j2"})


ALLOWED = (
    *(nodes.Template, nodes.Output, nodes.TemplateData, nodes.If, nodes.For, nodes.Include),
    *(nodes.Name, nodes.Tuple, nodes.Getattr, nodes.Const, nodes.Not, nodes.And, nodes.Or),
)


def forbidden(template: str) -> Iterator[str]:
    """Return the forbidden parts of a template, and the unknown names."""
    tree = make_environment([templates_dir()]).parse(template)
    yield from unknown_names(tree, frozenset({"file"}))
    for node in (tree, *tree.find_all(nodes.Node)):
        if isinstance(node, nodes.If | nodes.For) and (node.else_ or getattr(node, "elif_", ())):
            yield f"line {node.lineno}: else"
        match node:
            case nodes.For(target=nodes.Name() | nodes.Tuple(), test=None, recursive=False):
                pass
            case nodes.Include(template=nodes.Const(value=str())):
                pass
            case nodes.For() | nodes.Include():
                yield f"line {node.lineno}: {node}"
            case _ if not isinstance(node, ALLOWED):
                yield f"line {node.lineno}: {type(node).__name__}"


def unknown_names(node: nodes.Node, known: frozenset[str]) -> Iterator[str]:
    if isinstance(node, nodes.Name) and node.name not in known:
        yield f"line {node.lineno}: no name {node.name}"
    if isinstance(node, nodes.For):
        targets = node.target.items if isinstance(node.target, nodes.Tuple) else [node.target]
        yield from unknown_names(node.iter, known)
        for child in node.body:
            yield from unknown_names(
                child, known | {name.name for name in targets if isinstance(name, nodes.Name)}
            )
        for child in node.else_:
            yield from unknown_names(child, known)
        return
    for child in node.iter_child_nodes():
        yield from unknown_names(child, known)


@pytest.mark.parametrize(
    "template",
    [
        "{{ file.text | upper }}",
        "{{ file.text() }}",
        "{{ file.text + '1' }}",
        "{{ file.text[0] }}",
        "{{ file.text == '1' }}",
        "{% set a = 1 %}",
        "{% for c in file.text if c %}{% endfor %}",
        "{% for c in file.text %}{{ loop.last }}{% endfor %}",
        "{% for c in file.text %}{% endfor %}{{ c }}",
        "{% include file.text %}",
        "{% macro a() %}{% endmacro %}",
        "{{ other }}",
        "{{ loop.first }}",
        "{% for c in file.text %}{{ loop.first }}{% endfor %}",
        "{% for c in file.text %}{% else %}none{% endfor %}",
        "{% if file.text %}{% else %}none{% endif %}",
        "{% if file.text %}{% elif file.other %}{% endif %}",
    ],
)
def test_the_rule_finds_forbidden_parts(template: str) -> None:
    assert list(forbidden(f"\n{template}\n"))


def test_the_rule_allows_loops_tests_and_includes() -> None:
    template = (
        "{% for c, d in file.a %}{% if file.b and not c.d %}{{ c }}{{ d }}{% endif %}{{ '{{' }}"
    )
    assert not list(forbidden(template + "{% endfor %}{% include 'x.j2' %}"))


def test_a_template_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(jinja2.TemplateNotFound):
        Renderer(tmp_path).render(GeneratedFile("path", "none.j2"))


def test_a_path_is_rendered_once(tmp_path: Path) -> None:
    (tmp_path / "t.j2").write_text("{{ file.text }}")
    one, two = OneFile("a", "t.j2", "1"), OneFile("b", "t.j2", "2")
    assert Renderer(tmp_path).render_all([one, two]) == {"a": "1", "b": "2"}
    with pytest.raises(AssertionError, match="a is made twice"):
        Renderer(tmp_path).render_all([one, one])


def test_helpers_keep_the_order_of_first_appearance() -> None:
    assert group_by("banana", lambda c: c) == {"b": ["b"], "a": ["a"] * 3, "n": ["n"] * 2}
    assert list(unique("banana")) == ["b", "a", "n"]
    found = blocks([("n", 1), ("m", 2), ("n", 3)])
    assert [(block.namespace, block.items) for block in found] == [("n", (1, 3)), ("m", (2,))]


def test_a_string_literal_is_escaped() -> None:
    assert cpp_string('a "b"\\\n\t\r') == 'a \\"b\\"\\\\\\n\\t\\r'


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which Python would store bytecode, where the bytecode cache of templates is, too."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "prefix"))
    folder = Path(importlib.util.cache_from_source(environment.__file__)).parent
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the templates that Jinja compiled."""
    names: list[str] = []
    compile_template = jinja2.Environment.compile

    def compile_and_note(self: jinja2.Environment, source: Any, name: Any, *rest: Any) -> Any:
        names.append(name)
        return compile_template(self, source, name, *rest)

    monkeypatch.setattr(jinja2.Environment, "compile", compile_and_note)
    return names


def test_bytecode_is_kept(tmp_path: Path, kept: Path, compiled: list[str]) -> None:
    assert rendered(tmp_path, "a {{ file.text }}") == "a x"
    assert len(list(kept.iterdir())) == 1
    assert rendered(tmp_path, "a {{ file.text }}", "y") == "a y"
    assert compiled == ["t.j2"]


def test_bytecode_of_another_text_or_another_jinja_is_not_used(
    tmp_path: Path, kept: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert rendered(tmp_path, "{% if 1 %}\n{{ file.text }}{% endif %}") == "x"
    assert rendered(tmp_path, "{% if 1 %}\n{{ file.path }}{% endif %}") == "path"
    monkeypatch.setattr(environment, "jinja_version", lambda: "2.0")
    assert rendered(tmp_path, "{% if 1 %}\n{{ file.path }}{% endif %}") == "path"
    assert len(compiled) == 3
    assert len(list(kept.iterdir())) == 1


@pytest.mark.parametrize("damaged", [b"", b"?", b"j2\x80\x04.", None])
def test_damaged_bytecode_is_replaced(
    tmp_path: Path, kept: Path, compiled: list[str], damaged: bytes | None
) -> None:
    rendered(tmp_path, "{{ file.text }}")
    (path,) = kept.iterdir()
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] if damaged is None else damaged)
    assert rendered(tmp_path, "{{ file.text }}") == "x"
    assert len(compiled) == 2
    assert path.read_bytes() == whole


def test_nothing_is_kept_where_python_keeps_nothing(
    tmp_path: Path, kept: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert rendered(tmp_path, "{{ file.text }}") == "x"
    assert not list(kept.iterdir())
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    kept.rmdir()
    assert rendered(tmp_path, "{{ file.text }}") == "x"
    assert not kept.exists()
    assert len(compiled) == 2


def test_modules_of_a_wheel_render_the_same_text_as_templates(
    tmp_path: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir(), second.mkdir()
    (second / "t.j2").write_text("no")
    (second / "other.j2").write_text("{{ file.path }}")
    (first / "t.j2").write_text(
        "{% for c in file.text %}\n{{ c }},\n{% endfor %}\n{% include 'other.j2' %}\n"
    )
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    compile_templates([first, second], tmp_path / "ready")
    compiled.clear()
    texts = [
        make_environment([first, second], ready)
        .get_template("t.j2")
        .render(file=OneFile("path", "t.j2", "ab"))
        for ready in (tmp_path / "ready", None)
    ]
    assert texts[0] == texts[1] == "a,\nb,\npath"
    assert compiled == ["t.j2", "other.j2"]
    monkeypatch.setattr(environment, "jinja_version", lambda: "2.0")
    other = make_environment([first, second], tmp_path / "ready")
    assert other.get_template("t.j2").render(file=OneFile("path", "t.j2", "ab")) == texts[0]
    assert len(compiled) == 4
