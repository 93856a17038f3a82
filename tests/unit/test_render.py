"""Rendering is strict: a name that a view lacks is an error, and a path is made once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import jinja2
import pytest

from opgen.render import Renderer
from opgen.resources import templates_dir
from opgen.targets import TARGETS
from opgen.views.base import FileView, blocks, cpp_string, group_by, unique


@dataclass(frozen=True, slots=True)
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
