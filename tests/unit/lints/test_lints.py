"""Cases that lints do not report, and comments that suppress warnings. The warnings are in tests/golden/errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from opgen.diagnostics import Diagnostics
from opgen.pipeline import checking
from support.inputs import aten_inputs

_RENAMED = "- func: foo.out(Tensor self, *, Tensor(a!) result) -> Tensor(a!)\n"
_OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"


def lints_of(text: str, folder: Path, *, target: str = "runtime") -> list[str]:
    """Return the codes that `opgen lint` reports for a file of this text, in their order."""
    file = folder / "native_functions.yaml"
    file.write_bytes(text.encode())
    diagnostics = Diagnostics()
    checking.inspect(aten_inputs((file,), target=target), diagnostics)
    return [item.code for item in diagnostics]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "- func: foo_(Tensor(a!) self) -> Tensor(a!)\n  dispatch:\n    CPU: foo_\n"
            "  autogen: foo, foo.out\n",
            id="W1002-functional-is-generated",
        ),
        pytest.param(
            "- func: foo(Tensor self) -> Tensor[]\n"
            "- func: foo.Other(Tensor self, Tensor other) -> Tensor\n"
            "- func: foo.Other_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)\n",
            id="W1003-a-list-is-returned",
        ),
        pytest.param(
            f"- func: foo(int[] size, *, {_OPTIONS}) -> Tensor\n"
            "  dispatch:\n    CompositeExplicitAutograd: foo\n"
            "- func: foo.out(int[] size, *, Tensor(a!) out) -> Tensor(a!)\n",
            id="W1003-the-out-has-the-options",
        ),
        pytest.param(
            "- func: foo.Scalar(Tensor self, Scalar other) -> Tensor\n", id="W1004-one-type"
        ),
        pytest.param(
            "- func: foo.Tensor_mode(Tensor self, Tensor other, str mode) -> Tensor\n",
            id="W1004-a-type-and-a-meaning",
        ),
        pytest.param(
            "- func: foo.out(Tensor self, *, Tensor(a!) values, Tensor(b!) indices)"
            " -> (Tensor(a!) values, Tensor(b!) indices)\n",
            id="W1005-names-of-results",
        ),
        pytest.param(
            "- func: foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo_fast\n"
            "    CompositeExplicitAutograd: foo_any\n  autogen: foo.out\n",
            id="W1007-reached-on-Meta",
        ),
        pytest.param(
            "- func: foo(Tensor self) -> Tensor\n  dispatch:\n    CPU, Meta: foo_fast\n"
            "    CompositeImplicitAutograd: foo\n",
            id="W1007-reached-by-new-backends",
        ),
        pytest.param(
            "- func: cpu_count(Tensor self) -> Tensor\n", id="W1008-the-operator-is-called-so"
        ),
        pytest.param(
            f"- func: foo(int size, *, {_OPTIONS}) -> Tensor\n  dispatch:\n    CPU: foo\n"
            "  autogen: foo.out\n",
            id="W1011-a-factory",
        ),
        pytest.param(
            "- func: foo(Tensor self) -> (Tensor values, Tensor indices)\n", id="W1010-all-named"
        ),
        pytest.param(
            "- func: foo(Tensor self) -> Tensor\n  dispatch:\n    CPU, Meta: foo\n"
            "  autogen: foo.out\n",
            id="W1013-one-row",
        ),
        pytest.param(
            "- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
            "  structured_inherits: Halving\n  dispatch:\n    CPU: foo_out\n"
            "- func: foo(Tensor self) -> Tensor\n  structured_delegate: foo.out\n",
            id="W1034-a-class-of-ones-own",
        ),
    ],
)
def test_near_misses_are_left_alone(text: str, tmp_path: Path) -> None:
    """Protects people from warnings about correct entries."""
    assert lints_of(text, tmp_path) == []


def test_a_target_with_all_backends_has_no_key_without_one(tmp_path: Path) -> None:
    text = "- func: foo(Tensor self) -> Tensor\n  dispatch:\n    CUDA: foo\n  autogen: foo.out\n"
    assert lints_of(text, tmp_path) == ["W1009"]
    assert lints_of(text, tmp_path, target="torch") == []


def test_a_renamed_argument_is_not_reported_as_a_missing_sibling_too(tmp_path: Path) -> None:
    """Protects against two warnings about one mistake: foo exists, with another name for its argument."""
    text = "- func: foo(Tensor input) -> Tensor\n- func: foo_(Tensor(a!) self) -> Tensor(a!)\n"
    assert lints_of(text, tmp_path) == ["W1006"]


def test_conventions_are_not_checked_while_there_are_errors(tmp_path: Path) -> None:
    assert lints_of(_RENAMED + "- func: bar(Tensr self) -> Tensor\n", tmp_path) == ["E0307"]


@pytest.mark.parametrize(
    "text",
    [
        f"# opgen: allow(W1005) why\n{_RENAMED}",
        f"# Another comment.\n# opgen: allow(W1005) why\n# One more.\n{_RENAMED}",
        _RENAMED.replace("\n", "  # opgen: allow(W1005) why\n"),
        f"{_RENAMED}  # opgen: allow(W1005) why\n",
        f"{_RENAMED}  variants: function  #opgen:allow( W1005 ) why\n",
        f"{_RENAMED}# opgen: allow(W1005) why\n",
        f"# opgen: allow(W1005) why\n\n- func: bar(Tensor self) -> Tensor\n\n{_RENAMED}",
        f"# opgen: allow(W1005) why\n{_RENAMED}".replace("\n", "\r\n"),
        f"\ufeff# opgen: allow(W1005) wäre ein \U0001f600\n{_RENAMED}",
    ],
    ids=[
        "above",
        "among-comments-above",
        "on-the-line",
        "on-its-own-line",
        "on-another-line",
        "below",
        "of-the-file",
        "crlf",
        "bom",
    ],
)
def test_a_comment_silences_the_entry_or_the_file(text: str, tmp_path: Path) -> None:
    assert lints_of(text, tmp_path) == []


@pytest.mark.parametrize(
    "text",
    [
        '- func: \'foo.out(Tensor self, str x="# opgen: allow(W1005) no", *, Tensor(a!) result)'
        " -> Tensor(a!)'\n",
        '- func: |-\n    foo.out(Tensor self, str x="\\n # opgen: allow(W1005) no", *,'
        " Tensor(a!) result) -> Tensor(a!)\n",
        f"# see opgen: allow(W1005) why\n\n{_RENAMED}",
    ],
    ids=["quoted", "block", "prose"],
)
def test_other_comments_silence_nothing(text: str, tmp_path: Path) -> None:
    """Protects warnings from text that only looks like such a comment."""
    assert lints_of(text, tmp_path) == ["W1005"]


@pytest.mark.parametrize(
    "comment", ["# opgen: allow W1005", "# opgen: allow() why", "#opgen:allow"]
)
def test_a_comment_that_names_no_code_is_reported(comment: str, tmp_path: Path) -> None:
    assert lints_of(f"{comment}\n{_RENAMED}", tmp_path) == ["W1014", "W1005"]


def test_a_comment_for_one_target_is_not_unused(tmp_path: Path) -> None:
    """Protects a file that is linted for two targets: W1009 is reported for only one of them."""
    text = "- func: foo(Tensor self) -> Tensor\n  dispatch:\n    CUDA: foo\n  autogen: foo.out\n"
    text = f"# opgen: allow(W1009) comes with the plug-in\n{text}"
    assert lints_of(text, tmp_path) == []
    assert lints_of(text, tmp_path, target="torch") == []


def test_a_comment_is_for_its_own_entry(tmp_path: Path) -> None:
    other = _RENAMED.replace("foo", "bar")
    text = f"{_RENAMED}\n# opgen: allow(W1005) why\n{other}"
    file = tmp_path / "native_functions.yaml"
    file.write_text(text)
    diagnostics = Diagnostics()
    checking.inspect(aten_inputs((file,)), diagnostics)
    assert [item.message for item in diagnostics] == [
        "the out argument 'result' of 'foo.out' is not named 'out'"
    ]


def test_one_comment_may_allow_several(tmp_path: Path) -> None:
    text = "- func: foo.Tensor_Tensor(Tensor self, *, Tensor(a!) result) -> Tensor(a!)\n"
    text = text.replace("Tensor self", "Tensor self, Tensor other")
    assert lints_of(text, tmp_path) == ["W1004", "W1005"]
    assert lints_of(f"# opgen: allow(W1004, W1005) why\n{text}", tmp_path) == []
    assert lints_of(f"# opgen: allow(W1004, W1010) why\n{text}", tmp_path) == ["W1016", "W1005"]


def test_the_page_has_every_lint_of_libraries() -> None:
    """For each lint, docs/reference/lints.md says why it exists, and what to do."""
    page = (Path(__file__).parents[3] / "docs" / "reference" / "lints.md").read_text()
    for code in (*range(1019, 1034), 1035, 1036, 1037, 1038):
        (row,) = [line for line in page.splitlines() if line.startswith(f"| W{code} |")]
        _, what, why, remedy = (cell.strip() for cell in row.strip("|").split(" | "))
        assert what and why and remedy


_TRACED = {
    "a kernel for CPU alone": ("(Tensor x) -> Tensor", "CPU: foo", ["W1030"]),
    "a kernel of a device of others": ("(Tensor x) -> Tensor", "PrivateUse1: foo", ["W1030"]),
    "a view": ("(Tensor(a) x) -> Tensor(a)", "CPU: foo", ["W1030"]),
    "tensors and a number": ("(Tensor x) -> (Tensor, int)", "CPU: foo", ["W1030"]),
    "a row for Meta": ("(Tensor x) -> Tensor", "CPU, Meta: foo", []),
    "one for all backends": ("(Tensor x) -> Tensor", "CompositeExplicitAutograd: foo", []),
    "it returns what it writes": ("(Tensor! x) -> ()", "CPU: foo", []),
    "it writes, and returns more": ("(Tensor! x) -> Tensor", "CPU: foo", ["W1030"]),
    "no kernel at all": ("(Tensor x) -> Tensor", "Autograd: fallthrough", []),
    "nothing, with effects": (
        "(Tensor x, str[] out) -> ()",
        "CPU: foo\n  effects: ordered",
        ["W1036"],
    ),
    "tensors, with effects": ("(Tensor x) -> Tensor", "CPU: foo\n  effects: ordered", ["W1030"]),
    "what W1024 says": ("(Tensor x, int[] sizes, float[] xs) -> ()", "CPU: foo", ["W1024"]),
    "what W1025 says": ("(Tensor x) -> int", "CPU: foo", ["W1025"]),
}


@pytest.mark.parametrize(("schema", "row", "codes"), _TRACED.values(), ids=_TRACED)
def test_operators_that_cannot_be_traced(
    schema: str, row: str, codes: list[str], tmp_path: Path
) -> None:
    text = f"- func: lib::foo{schema}\n  dispatch:\n    {row}\n"
    assert lints_of(text, tmp_path, target="torch") == codes
    assert "W1030" not in lints_of(text, tmp_path), "of PyTorch alone"
    allowed = f"# opgen: allow(W1030) Python registers its fake\n{text}"
    assert lints_of(allowed, tmp_path, target="torch") == [c for c in codes if c != "W1030"]
    assert "W1016" not in lints_of(allowed, tmp_path), "linted for both targets"


def test_a_fake_can_be_traced(tmp_path: Path) -> None:
    text = "- func: lib::foo(Tensor x) -> Tensor\n  dispatch:\n    CPU: foo\n  fake: x.clone()\n"
    assert lints_of(text, tmp_path, target="torch") == []


_EXISTING = "- func: lib::{}\n  dispatch:\n    {}: ::lib::f\n"


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        pytest.param(_EXISTING.format("f(Tensor! x) -> ()", "CPU"), 1, id="writes"),
        pytest.param(_EXISTING.format("f(Tensor x) -> Tensor", "CPU"), 0, id="pytorch-warns"),
        pytest.param(
            _EXISTING.format("f(Tensor! x) -> ()", "CompositeImplicitAutograd"), 0, id="composite"
        ),
        pytest.param(
            _EXISTING.format("f(Tensor! x) -> ()", "CPU") + "    Autograd: ::lib::g\n",
            0,
            id="own-autograd",
        ),
        pytest.param(
            _EXISTING.format("f(Tensor! x) -> ()", "CPU") + "  strict_autograd: True\n",
            0,
            id="strict",
        ),
        pytest.param(
            _EXISTING.format("f(Tensor! x) -> ()", "CPU") + "    CUDA: own\n", 0, id="own-kernel"
        ),
    ],
)
def test_writes_that_autograd_does_not_notice(text: str, reported: int, tmp_path: Path) -> None:
    """Once for a file, on the target that has the key, and only where neither author nor PyTorch says anything."""
    twice = text + text.replace("lib::f(", "lib::h(")
    assert lints_of(twice, tmp_path, target="torch").count("W1038") == reported
    assert "W1038" not in lints_of(twice, tmp_path, target="torch-stable")


@pytest.mark.parametrize(
    ("schema", "kind", "reported"),
    [
        ("f(Tensor x) -> Tensor", "conservative", 1),
        ("f(Tensor[] x) -> ()", "conservative", 1),
        ("f(int x) -> int", "conservative", 0),
        ("f(Tensor x) -> Tensor", "pure_function", 0),
    ],
)
def test_schemas_that_do_not_say_what_is_written(
    schema: str, kind: str, reported: int, tmp_path: Path
) -> None:
    """Once for a file, on the target whose TorchScript goes by it."""
    text = _EXISTING.format(schema, "CPU") + f"  alias_analysis: {kind}\n"
    twice = text + text.replace("lib::f(", "lib::h(")
    assert lints_of(twice, tmp_path, target="torch").count("W1039") == reported


def test_a_write_with_a_formula_is_not_reported(tmp_path: Path) -> None:
    (tmp_path / "derivatives.yaml").write_text(
        "- name: lib::f(Tensor(a!) x) -> Tensor(a!)\n  x: non_differentiable\n"
    )
    text = _EXISTING.format("f(Tensor(a!) x) -> Tensor(a!)", "CPU")
    assert "W1038" not in lints_of(text, tmp_path, target="torch")
