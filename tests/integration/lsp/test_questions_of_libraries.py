"""Hover, navigation and completion in files of libraries: a head, their keys, existing functions, their types."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from lsp_session import Session, Start

HEAD = """\
- namespace: vf
  include: vf/kernels.h
  classes:
    vf.Queue:
      type: vf::Queue
      header: vf/queue.h
"""
TEXT = f"""\
{HEAD}
- func: norm(Tensor! result, Tensor input, Any why) -> ()
  dispatch:
    CPU: ::vf::norm
    CUDA: norm_cuda
    Autograd: fallthrough
    AutocastCUDA: norm_autocast

- func: push(__torch__.torch.classes.vf.Queue q, Dict(str, Tensor) table) -> Tensor
  dispatch:
    CompositeExplicitAutograd: ::vf::push

- func: aten::own(Tensor self) -> Tensor
  dispatch:
    CPU: own_cpu
"""
CPP = """\
#include "kernels.h"
namespace vf {
void norm(at::Tensor& result, const at::Tensor& input);
static at::Tensor twice(const at::Tensor& x) { return norm(x, f(1)); }
void norm(at::Tensor& result,
          const at::Tensor& input) {
  norm(result, input);
}
at::Tensor push(Queue q, int n = f(3));
}  // namespace vf
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    root = tmp_path_factory.mktemp("libraries")
    (root / "existing.cpp").write_text(CPP)
    session = Session(root, {"delay": 10, "target": "torch"})
    yield session
    assert session.end() == 0


@pytest.fixture
def uri(server: Session) -> str:
    uri = server.open("ops.yaml", TEXT)
    assert [p.message for p in server.problems(uri) if p.severity == 1] == []
    return uri


@pytest.mark.parametrize(
    ("place", "begins"),
    [
        ("- name|space", "**namespace**: The namespace of the operators in this file"),
        ("incl|ude", "**include**: The headers"),
        ("    vf.Queue:\n      ty|pe", "**type**: The C++ class"),
        ("head|er: vf/q", "**header**: The header that declares"),
        ("func: no|rm", "**vf::norm**: mutable"),
        ("CPU: ::vf::no|rm", "Function `::vf::norm` of `vf::norm`: An existing C++ function"),
        ("CUDA: norm|_cuda", "Kernel `norm_cuda` of `vf::norm`"),
        ("Autograd: fall|through", "**fallthrough**: No kernel"),
        ("    Auto|grad:", "**Autograd**: The kernel computes gradients on every backend."),
        ("    Autocast|CUDA:", "**AutocastCUDA**: The kernel that casts arguments"),
        ("input, An|y why", "**Any**: A value of any type"),
        ("Ten|sor! result", "**Tensor**: A tensor."),
        (
            "classes.vf.Qu|eue q",
            "**__torch__.torch.classes.vf.Queue**: The custom class `vf.Queue`",
        ),
        ("Di|ct(str", "**Dict**: A dictionary"),
    ],
)
def test_hover(server: Session, uri: str, place: str, begins: str) -> None:
    assert (server.hover(uri, place) or "").startswith(begins)


def test_hover_shows_additional_registrations(server: Session, uri: str) -> None:
    text = server.hover(uri, "func: no|rm") or ""
    assert "| Meta | `opgen::MetaOfWritten<" in text
    assert "| ADInplaceOrView | `opgen::count_writes` |" in text


def test_nothing_where_nothing_is(server: Session, uri: str) -> None:
    for place in ("- namespace: v|f", "include: vf/ker|nels.h", "type: vf::Que|ue"):
        assert server.hover(uri, place) is None
        assert server.definitions(uri, place) == []


def test_navigation(server: Session, uri: str) -> None:
    """An existing function leads to its definition, or else to its declaration; never to a call."""
    assert server.definitions(uri, "CPU: ::vf::no|rm") == ["existing.cpp:5:6"]
    assert server.definitions(uri, "Autograd: ::vf::pu|sh") == ["existing.cpp:9:12"]
    assert server.definitions(uri, "Autograd: fall|through") == []
    assert server.references(uri, "CPU: ::vf::no|rm") == ["ops.yaml:10:10"]
    assert [s.name for s in server.document_symbols(uri)] == ["vf", "norm", "push", "aten::own"]
    assert server.workspace_symbols("VF::") == ["vf::norm", "vf::push"]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("- func: f(|) -> ()\n", ["Tensor", "Tensor?", "Tensor[]", "Tensor(a!)", "Tensor(a)"]),
        ("- func: f(Tensor! x, |) -> ()\n", ["Tensor", "Tensor?"]),
        ("- func: f() -> |\n", ["Tensor", "Tensor(a!)"]),
        ("- func: f(Tensor x) -> Tensor\n  dispatch:\n    |", ["CPU", "CUDA"]),
        ("- func: f(Tensor x) -> Tensor\n  dispatch:\n    CPU: |", ["f", "f_cpu"]),
        (
            "- func: f.x(Tensor self) -> Tensor\n  structured: True\n  autogen: |",
            ["f.x_out, f_.x", "f.x_out", "f_.x"],
        ),
        ("- func: f(Tensor x) -> Tensor\n  structured: True\n  autogen: |", ["f.out"]),
    ],
)
def test_completion(server: Session, uri: str, text: str, first: list[str]) -> None:
    server.change(uri, TEXT + "\n" + text.replace("|", ""))
    assert server.labels(uri, text)[: len(first)] == first


def test_completion_of_forms_that_only_libraries_have(server: Session, uri: str) -> None:
    rows = "- func: {}f(Tensor x) -> Tensor\n  dispatch:\n    {}"
    offered = {}
    for name in ("", "aten::"):
        for row in ("|", "CPU: |"):
            text = rows.format(name, row)
            server.change(uri, TEXT + "\n" + text.replace("|", ""))
            offered[name, row] = set(server.labels(uri, text))
    keys = {"Autograd", "PrivateUse1", "AutocastCUDA", "Functionalize"}
    assert keys <= offered["", "|"] and not keys & offered["aten::", "|"]
    values = {"fallthrough", "::vf::norm", "::vf::push"}
    assert values <= offered["", "CPU: |"] and not values & offered["aten::", "CPU: |"]
    types = {}
    for name in ("", "aten::"):
        server.change(uri, TEXT + f"\n- func: {name}f() -> ()\n")
        types[name] = set(server.labels(uri, f"\n- func: {name}f(|"))
    words = {"Tensor!", "Dict(str, Tensor)", "Any", "__torch__.torch.classes.vf.Queue"}
    assert words <= types[""] and not words & types["aten::"]


def test_completion_of_a_head(server: Session) -> None:
    func = "\n- func: vf::f(__torch__.torch.classes.vf.Queue q) -> ()\n"
    uri = server.open("native_functions_of_vf.yaml", func)
    server.problems(uri)
    new = server.labels(uri, "|\n- func")
    words = ("func", "classes", "fake_module", "fragment", "include", "namespace")
    assert new == [f"- {word}: " for word in words]
    server.change(uri, "- namespace: \n  \n" + func)
    assert server.labels(uri, "- namespace: |") == ["vf"]
    assert server.labels(uri, "namespace: \n  |") == [
        *("classes", "fake_module", "fragment", "include")
    ]
    server.change(uri, "- namespace: vf\n  classes:\n    \n" + func)
    assert server.labels(uri, "classes:\n    |") == ["vf.Queue"]
    server.change(uri, "- namespace: vf\n  classes:\n    vf.Queue:\n      \n" + func)
    assert server.labels(uri, "Queue:\n      |") == ["type", "header", "define"]
    # A second head is not offered.
    server.change(uri, "- namespace: vf\n" + func)
    assert server.labels(uri, "Queue q) -> ()\n|") == ["- func: "]


@pytest.mark.slow
def test_the_setting_namespace(start: Start, tmp_path: Path) -> None:
    text = "- func: f(Tensor! x) -> ()\n  dispatch:\n    CPU: f_cpu\n"
    session = start({"delay": 10, "namespace": "own", "target": "torch"})
    uri = session.open("ops.yaml", text)
    assert session.problems(uri) == []
    assert (session.hover(uri, "func: |f") or "").startswith("**own::f**: mutable")
    assert "Tensor!" in session.labels(uri, "f(|")
    # The head decides for its own file.
    session.change(uri, "- namespace: other\n" + text)
    assert session.problems(uri) == []
    assert (session.hover(uri, "func: |f") or "").startswith("**other::f**: mutable")
    session.configure({"opgen": {"namespace": "third", "target": "torch"}})
    session.change(uri, text)
    session.problems(uri)
    assert session.workspace_symbols("f") == ["third::f"]


@pytest.mark.slow
def test_format_and_fix(server: Session) -> None:
    text = "- include: k.h\n  namespace: vf\n- dispatch:\n    CPU: f_cpu\n  func: f( Tensor (a!) x,int  n )->()\n"
    uri = server.open("native_functions_loose.yaml", text)
    (problem,) = server.problems(uri)
    assert problem.code == "W1019"
    made = "- func: f(Tensor(a!) x, int n) -> ()\n  dispatch:\n    CPU: f_cpu\n"
    assert server.format(uri) == f"- namespace: vf\n  include: k.h\n{made}"
    server.close(uri)
