"""Hover, navigation and completion, also in texts that do not parse at the moment."""

from __future__ import annotations

import pytest
from lsp_session import Session

TEXT = """\
- func: add(Tensor self, Tensor other) -> Tensor
  structured_delegate: add.out
  variants: function, method
  tags: pointwise

- func: add_(Tensor(a!) self, Tensor other) -> Tensor(a!)
  structured_delegate: add.out
  variants: method

- func: add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: TensorIteratorBase
  dispatch:
    CPU: add_out_cpu

- func: neg(Tensor self) -> Tensor
  autogen: neg.out
  dispatch:
    CPU: neg_cpu
"""


@pytest.fixture
def uri(session: Session) -> str:
    uri = session.open("native_functions.yaml", TEXT)
    assert [p.message for p in session.problems(uri)] == []
    return uri


@pytest.mark.parametrize("place", ["func: ad|d(", "struct|ured_delegate"])
def test_hover(session: Session, uri: str, place: str) -> None:
    """For an operator, hover shows what opgen derived from it; for a key, its purpose."""
    text = session.hover(uri, place) or ""
    if place.startswith("func"):
        assert text.startswith("**aten::add**: functional")
        assert "group add, add.out, add_ (structured)" in text
        assert "Tensor add(const Tensor& self, const Tensor& other);" in text
        assert "| CPU | " in text and "structured_add_out_cpu" in text
    else:
        assert text.startswith("**structured_delegate**: The structured operator")


def test_hover_over_a_structured_view(session: Session) -> None:
    """For an operator without an out variant, hover says that meta makes its views, and for which keys."""
    text = "- func: foo(Tensor(a) self) -> (Tensor(a), Tensor(a))\n  structured: True\n"
    shown = session.hover(session.open("views.yaml", text), "func: fo|o(") or ""
    assert "group foo (structured without an out variant: meta makes views)" in shown
    assert "| CPU | " in shown and "opgen::Bases<0, 0>" in shown


@pytest.mark.parametrize(
    ("place", "begins"),
    [
        ("structured_delegate: add.o|ut\n  variants: f", "**aten::add.out**: out"),
        ("autogen: neg|.out", "**aten::neg.out**: out, generated"),
        ("CPU: neg|_cpu", "Kernel `neg_cpu` of `aten::neg`\n\n**aten::neg**"),
        ("    C|PU: neg", "**CPU**: The kernel for tensors of CPU."),
        ("tags: po|int", "**pointwise**: Each element for itself."),
        ("add(Ten|sor self", "**Tensor**: A tensor."),
    ],
)
def test_hover_on_single_words(session: Session, uri: str, place: str, begins: str) -> None:
    assert (session.hover(uri, place) or "").startswith(begins)


def test_hover_while_the_text_is_broken(session: Session, uri: str) -> None:
    """The results for the last valid text are shown until there is a new one."""
    session.change(uri, TEXT + "- func: [\n")
    assert session.problems(uri)
    assert "aten::neg" in (session.hover(uri, "func: ne|g(") or "")
    session.change(uri, TEXT)


def test_no_hover_where_nothing_is(session: Session, uri: str) -> None:
    assert session.hover(uri, "TensorIterator|Base") is None
    assert session.hover(uri, "Tensor se|lf) -> Tensor\n  autogen") is None


def test_definitions(session: Session, uri: str) -> None:
    """A delegate leads to its entry, a kernel to its C++, an operator to its meta and kernels."""
    assert session.definitions(uri, "structured_delegate: add|.out") == [
        "native_functions.yaml:10:9"
    ]
    assert session.definitions(uri, "CPU: add|_out_cpu") == ["arithmetic.cpp:2:17"]
    assert session.definitions(uri, "CPU: neg|_cpu") == ["arithmetic.cpp:3:16"]
    assert session.definitions(uri, "func: add|.out") == [
        "arithmetic.cpp:1:17",
        "arithmetic.cpp:2:17",
    ]
    assert session.definitions(uri, "variants: func|tion") == []


def test_kernels_that_are_written_later(session: Session, uri: str) -> None:
    """A changed file is read again."""
    path = session.root / "kernels" / "late.cpp"
    assert "late.cpp" not in str(session.definitions(uri, "CPU: neg|_cpu"))
    path.write_text("OPGEN_KERNEL(other)\n")
    session.definitions(uri, "CPU: neg|_cpu")
    path.write_text("\n\nOPGEN_KERNEL(neg_cpu)\n")
    assert "late.cpp:3:14" in session.definitions(uri, "CPU: neg|_cpu")
    path.unlink()
    assert session.definitions(uri, "CPU: neg|_cpu") == ["arithmetic.cpp:3:16"]


def test_references(session: Session, uri: str) -> None:
    """References of an operator: entries that delegate to it, and its C++."""
    assert session.references(uri, "func: add|.out") == [
        "native_functions.yaml:10:9",
        "arithmetic.cpp:1:17",
        "arithmetic.cpp:2:17",
        "native_functions.yaml:2:24",
        "native_functions.yaml:7:24",
    ]
    assert session.references(uri, "CPU: neg|_cpu") == [
        "native_functions.yaml:19:10",
        "arithmetic.cpp:3:16",
    ]


def test_symbols(session: Session, uri: str) -> None:
    """The outline of a document, and the search over all of them."""
    found = session.document_symbols(uri)
    assert [symbol.name for symbol in found] == ["add", "add_", "add.out", "neg"]
    assert [child.name for child in found[2].children or ()] == ["add_out_cpu"]
    assert "aten::add.out" in session.workspace_symbols("ADD.O")


def test_completion_of_keys(session: Session, uri: str) -> None:
    """Keys that the entry has already are not offered."""
    session.change(uri, TEXT + "  de\n")
    labels = session.labels(uri, "neg_cpu\n  de|")
    assert "device_check" in labels and "variants" in labels
    assert not {"func", "dispatch", "autogen"} & set(labels)


@pytest.mark.parametrize(
    ("added", "first"),
    [
        ("- func: add.more(Tensor self) -> Tensor\n  structured_delegate: |", ["add.out"]),
        ("- func: sub(Tensor self) -> Tensor\n  variants: |", ["function", "function, method"]),
        ("- func: sub(Tensor self) -> Tensor\n  dispatch:\n    C|", ["CPU", "CUDA"]),
        ("- func: neg.x(Tensor self) -> Tensor\n  dispatch:\n    CPU: |", ["neg_cpu", "neg"]),
        ("- func: sub(Tensor self) -> Tensor\n  tags: [core, |", ["pointwise"]),
        ("- func: sub(Tensor self) -> Tensor\n  tags:\n  - |", ["core", "pointwise"]),
        ("- func: sub(Tensor self) -> Tensor\n  python_module: |", ["fft", "linalg"]),
        ("- func: sub(Tensor self) -> Tensor\n  manual_cpp_binding: |", ["False", "True"]),
        ("- func: sub(Tensor self) -> Tensor\n  device_check: |", ["ExactSame", "NoCheck"]),
        ("- func: a::log(Tensor self) -> ()\n  effects: |", ["ordered"]),
        (
            "- func: a::log(Tensor self) -> ()\n  alias_analysis: |",
            ["conservative", "from_schema", "pure_function"],
        ),
        ("- func: sub(Tensor self) -> Tensor\n  structured_inherits: |", ["TensorIteratorBase"]),
        ("- func: sub.x(Tensor self) -> Tensor\n  autogen: |", ["sub.x_out"]),
        ("- func: sub(|", ["Tensor", "Tensor?", "Tensor[]"]),
        ("- func: sub(Tensor(a!) self, Te|", ["Tensor", "Tensor?", "Tensor[]"]),
        ("- func: sub(Tensor self, bool x=|", ["False", "True"]),
        ("- func: sub(Tensor self, int? x=|", ["None"]),
        ("- func: sub(Tensor self) -> |", ["Tensor", "Tensor(a!)"]),
        ("|", ["- func: "]),
    ],
)
def test_completion(session: Session, uri: str, added: str, first: list[str]) -> None:
    """Completion works in a text that is not valid YAML or not a valid schema yet."""
    session.change(uri, TEXT + "\n" + added.replace("|", "") + "\n")
    if added == "|":
        session.change(uri, TEXT + "\n")
        added = "neg_cpu\n|"
    assert session.labels(uri, added)[: len(first)] == first


def test_completion_replaces_the_typed_text(session: Session, uri: str) -> None:
    """The edit replaces the beginning of the word."""
    session.change(uri, TEXT + "- func: sub(Tensor self) -> Tensor\n  dispatch:\n    Me")
    (item,) = [i for i in session.complete(uri, "    Me|") if i.label == "Meta"]
    assert session.applied(uri, [item.text_edit]).endswith("    Meta: ")


def test_nothing_is_offered_in_comments_and_other_files(session: Session, uri: str) -> None:
    session.change(uri, TEXT + "# te")
    assert session.labels(uri, "# te|") == []
    other = session.open("settings.yaml", "a: 1\nb: \n")
    assert session.labels(other, "b: |") == []
