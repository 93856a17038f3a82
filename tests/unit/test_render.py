"""Rendering is strict: a name that a view lacks is an error, and a path is made once."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import CodeType

import jinja2
import pytest

from opgen import compiling, render
from opgen.compiling import compile_template
from opgen.render import Renderer
from opgen.resources import templates_dir
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


@pytest.mark.parametrize("template", ["{{ file.txt }}", "{% if file.no %}{% endif %}"])
def test_an_unknown_field_is_an_error(tmp_path: Path, template: str) -> None:
    """And the traceback shows the line of the template."""
    with pytest.raises(AttributeError) as caught:
        rendered(tmp_path, f"one\ntwo\n{template}\n")
    assert (caught.traceback[-1].path, caught.traceback[-1].lineno) == (tmp_path / "t.j2", 2)


@pytest.mark.parametrize(
    "template",
    [
        "{{ view }}",
        "{{ loop }}",
        "{{ loop.first }}",
        "{% for c in file.text %}{% endfor %}{{ c }}",
        "{% for c in file.text %}{{ loop }}{% endfor %}",
    ],
)
def test_an_unknown_name_is_an_error(tmp_path: Path, template: str) -> None:
    with pytest.raises(jinja2.UndefinedError, match=r"t\.j2, line 2: no name '\w+'"):
        rendered(tmp_path, f"\n{template}\n")


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
        "{% for c, d in file.text %}{% endfor %}",
        "{% include file.text %}",
        "{% macro a() %}{% endmacro %}",
        "{% if %}",
    ],
)
def test_what_no_template_may_say(tmp_path: Path, template: str) -> None:
    """A decision in a template is a field that a view lacks: no filters, no calls, no assignments, no arithmetic."""
    with pytest.raises(jinja2.TemplateSyntaxError) as caught:
        rendered(tmp_path, f"\n{template}\n")
    assert caught.value.lineno == 2


# All that templates may say, of which some is easily got wrong: loops of one name, their ends, `else`, braces.
EVERYTHING = """\
{# not this #}
{{ '{{' }}{}}{ {{ file.text }}{{ file.flag }}{{ 1 }}{{ file.path }}\t"'\\
{% for c in file.text %}
{% if not loop.first %}, {% endif %}{{ c }}
{% for c in file.path %}
  {{ c }}{% if loop.first and file.flag or c %}!{% elif file.flag %}?{% else %}.{% endif %}

{% for c in file.path %}
{% endfor %}
{% else %}
  none
{% endfor %}
  {{ c }}
{% if not loop.first %}+{% endif %}
{% else %}
nothing
{% endfor %}
{% include "other.j2" %}
{% if file.flag %}
{% endif %}"""


@pytest.mark.parametrize("text", ["", "a", "xyz"])
@pytest.mark.parametrize("flag", [False, True])
def test_templates_say_what_jinja_says(tmp_path: Path, text: str, flag: bool) -> None:
    (tmp_path / "other.j2").write_text(
        "{{ file.text }}\n{% for c in file.path %}{{ c }}{% endfor %}\n"
    )
    ours = rendered(tmp_path, EVERYTHING, text, flag)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(tmp_path),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    view = View("path", "t.j2", text, flag)
    assert ours == environment.get_template("t.j2").render(file=view)


def test_every_template_is_one() -> None:
    for path in sorted(templates_dir().rglob("*.j2")):
        compile_template(path.read_text(), str(path))


def test_a_template_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Renderer(tmp_path).render(FileView("path", "none.j2"))


def test_a_path_is_made_once(tmp_path: Path) -> None:
    (tmp_path / "t.j2").write_text("{{ file.text }}")
    one, two = View("a", "t.j2", "1"), View("b", "t.j2", "2")
    assert Renderer(tmp_path).render_all([one, two]) == {"a": "1", "b": "2"}
    with pytest.raises(AssertionError, match="a is made by two views"):
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
    """Where Python would keep modules, and a Renderer the templates that it compiled."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "prefix"))
    folder = Path(importlib.util.cache_from_source(render.__file__)).parent
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were compiled."""
    asked: list[str] = []

    def compile_and_tell(source: str, path: str) -> CodeType:
        asked.append(source)
        return compile_template(source, path)

    monkeypatch.setattr(compiling, "compile_template", compile_and_tell)
    return asked


def test_a_compiled_template_is_kept(tmp_path: Path, kept: Path, compiled: list[str]) -> None:
    assert rendered(tmp_path, "a {{ file.text }}") == "a x"
    assert len(list(kept.iterdir())) == 1
    assert rendered(tmp_path, "a {{ file.text }}", "y") == "a y"
    assert compiled == ["a {{ file.text }}"]


def test_what_is_kept_is_never_stale(
    tmp_path: Path, kept: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another text, or the same by another Jinja, is compiled: even one of the same size and time."""
    assert rendered(tmp_path, "{% if 1 %}\n{{ file.text }}{% endif %}") == "x"
    assert rendered(tmp_path, "{% if 1 %}\n{{ file.path }}{% endif %}") == "path"
    monkeypatch.setattr(render, "state_of", lambda _: (1, 2, 3))
    assert rendered(tmp_path, "{% if 1 %}\n{{ file.path }}{% endif %}") == "path"
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
