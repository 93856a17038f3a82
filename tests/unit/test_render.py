"""Rendering is strict: a name that a view lacks is an error, and a path is made once."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import jinja2
import pytest

from opgen import render
from opgen.render import Renderer
from opgen.resources import templates_dir
from opgen.targets import TARGETS
from opgen.views.base import FileView, blocks, cpp_string, group_by, unique, view


@view
class View(FileView):
    text: str
    flag: bool = False


def rendered(folder: Path, template: str, text: str = "x", flag: bool = False) -> str:
    (folder / "t.j2").write_text(template)
    return Renderer(folder).render(View("path", "t.j2", text, flag))


def test_a_view_is_called_file(tmp_path: Path) -> None:
    assert rendered(tmp_path, "a {{ file.text }} b\n") == "a x b\n"


def test_nothing_is_escaped(tmp_path: Path) -> None:
    assert rendered(tmp_path, "{{ file.text }}", "<&>'\"") == "<&>'\""


def test_lines_of_statements_leave_no_trace(tmp_path: Path) -> None:
    template = "{\n  {% if file.flag %}\n  yes\n  {% endif %}\n}\n"
    assert rendered(tmp_path, template, flag=True) == "{\n  yes\n}\n"
    assert rendered(tmp_path, template, flag=False) == "{\n}\n"


@pytest.mark.parametrize(
    "template", ["{{ file.txt }}", "{{ view }}", "{% if file.no %}{% endif %}"]
)
def test_an_unknown_name_is_an_error(tmp_path: Path, template: str) -> None:
    with pytest.raises(jinja2.UndefinedError):
        rendered(tmp_path, template)


def test_a_path_is_made_once(tmp_path: Path) -> None:
    (tmp_path / "t.j2").write_text("{{ file.text }}")
    one, two = View("a", "t.j2", "1"), View("b", "t.j2", "2")
    assert Renderer(tmp_path).render_all([one, two]) == {"a": "1", "b": "2"}
    with pytest.raises(AssertionError, match="a is made by two views"):
        Renderer(tmp_path).render_all([one, one])


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_templates_only_print_loop_test_and_include(target: str) -> None:
    """A decision in a template is a field that a view lacks: no filters, no calls, no assignments, no arithmetic."""
    allowed = (
        *(jinja2.nodes.Template, jinja2.nodes.Output, jinja2.nodes.TemplateData, jinja2.nodes.For),
        *(jinja2.nodes.If, jinja2.nodes.Include, jinja2.nodes.Getattr, jinja2.nodes.Name),
        *(jinja2.nodes.Const, jinja2.nodes.Not, jinja2.nodes.And, jinja2.nodes.Or),
    )
    environment = jinja2.Environment()
    for path in sorted((templates_dir() / target).rglob("*.j2")):
        for node in environment.parse(path.read_text()).find_all(jinja2.nodes.Node):
            assert isinstance(
                node, allowed
            ), f"{path.name}: {type(node).__name__}, line {node.lineno}"


def test_helpers_keep_the_order_of_first_appearance() -> None:
    assert group_by("banana", lambda c: c) == {"b": ["b"], "a": ["a"] * 3, "n": ["n"] * 2}
    assert list(unique("banana")) == ["b", "a", "n"]
    found = blocks([("n", 1), ("m", 2), ("n", 3)])
    assert [(block.namespace, block.items) for block in found] == [("n", (1, 3)), ("m", (2,))]


def test_a_string_literal_is_escaped() -> None:
    assert cpp_string('a "b"\\\n\t\r') == 'a \\"b\\"\\\\\\n\\t\\r'


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where Python would keep modules, and a Renderer the templates that it compiled."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "prefix"))
    folder = Path(importlib.util.cache_from_source(render.__file__)).parent
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that Jinja was asked to compile."""
    asked: list[str] = []
    compiles = jinja2.Environment.compile

    def compile(self: jinja2.Environment, source: str, *names: str | None) -> object:
        asked.append(source)
        return compiles(self, source, *names)

    monkeypatch.setattr(jinja2.Environment, "compile", compile)
    return asked


def test_a_compiled_template_is_kept(tmp_path: Path, kept: Path, compiled: list[str]) -> None:
    assert rendered(tmp_path, "a {{ file.text }}") == "a x"
    assert len(list(kept.iterdir())) == 1
    assert rendered(tmp_path, "a {{ file.text }}", "y") == "a y"
    assert compiled == ["a {{ file.text }}"]


def test_what_is_kept_is_never_stale(
    tmp_path: Path, kept: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another text, or the same by other options, is compiled: even one of the same size and time."""
    assert rendered(tmp_path, "{% if 1 %}\n{{ file.text }}{% endif %}") == "x"
    assert rendered(tmp_path, "{% if 1 %}\n{{ file.path }}{% endif %}") == "path"
    monkeypatch.setattr(render, "_OPTIONS", {**render._OPTIONS, "trim_blocks": False})
    assert rendered(tmp_path, "{% if 1 %}\n{{ file.path }}{% endif %}") == "\npath"
    assert len(compiled) == 3
    assert len(list(kept.iterdir())) == 1


@pytest.mark.parametrize("spoiled", [b"", b"?", None])
def test_what_is_spoiled_is_compiled(
    tmp_path: Path, kept: Path, compiled: list[str], spoiled: bytes | None
) -> None:
    """Nothing, something else, or the half of it."""
    rendered(tmp_path, "{{ file.text }}")
    (path,) = kept.iterdir()
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] if spoiled is None else spoiled)
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
