"""`opgen format` and `opgen lint --fix` on files of any layout: nothing is lost, and a second run changes nothing.

Entries with their keys in any order, in block and flow style, quoted or not, with comments and blank lines everywhere,
with every kind of line end; intact, and with random damage.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opgen.cli.main import main
from opgen.diagnostics import Diagnostics
from opgen.pipeline.loading import load
from support.inputs import aten_inputs

KEYS = (
    "tags: core",
    "tags: [core, pointwise]",
    "tags:\n  - core  # one\n  - pointwise",
    "'variants': function, method",
    'variants: "function,\n    method"',
    "variants: >-\n    function",
    "dispatch:\n    CPU: f_cpu  # first\n    # between\n    CUDA: f_cuda",
    "dispatch: {CPU: f_cpu,\n    CUDA: f_cuda}",
    "device_check: NoCheck   # why",
    "python_module: nn",
    "autogen: f.out",
    "device_guard: False",
)
MISTAKES = (
    *("vairants: function", "tags: poinwise", "dispatch:\n    CPO: f_cpu", "device_chek: NoCheck"),
    *("dispatch:\n    CompositeImplicitAutograd: f", "variants: functon"),
)
SCHEMAS = (
    *("f@(Tensor self) -> Tensor", "f@.o(Tensor self, int x=1) -> (Tensor a, Tensor b)"),
    *("f@(Tensor self,  Tensor other)  -> Tensor", "f@(Tensr self, str x='a # b') -> Tensor"),
)
COMMENTS = (
    "",
    "",
    "",
    "  # above\n",
    "\n",
    "# left\n",
    "    # deep é😀\n",
    "  \n",
    "# opgen: allow(W1002) x\n",
)
PIECES = (
    *("\n", "\r", "\r\n", "\t", " ", "'", '"', "[", "]", "{", "}", "# ", ": ", "- ", "&a ", "*a"),
    *(
        "<<: *a",
        "|\n",
        ">-\n",
        "é",
        "\u2028",
        "\x85",
        "\ufeff",
        "\x00",
        "  tags: core\n",
        ", ",
        "??",
    ),
)


@st.composite
def entries(draw: st.DrawFn, number: int) -> str:
    """Return an entry with some keys in some order."""
    schema = draw(st.sampled_from(SCHEMAS)).replace("@", str(number))
    func = draw(
        st.sampled_from(
            ("func: {}", 'func: "{}"', "func: >-\n    {}", "'func':   {}", "func: |-\n    {}")
        )
    ).format(schema)
    more = draw(st.lists(st.sampled_from(KEYS + MISTAKES), max_size=4, unique_by=_key))
    lines = draw(st.permutations([func, *more]))
    if draw(st.integers(0, 9)) == 0 and not any("\n" in line or "#" in line for line in lines):
        return "- {" + ", ".join(lines[:1]) + "}\n"
    margin = draw(st.sampled_from(("- ", "- ", "-   ", "-\n  ")))
    indent = " " * len(margin.rpartition("\n")[2])
    text = ""
    for place, line in enumerate(lines):
        comment = draw(st.sampled_from(COMMENTS)) if place else ""
        text += f"{comment}{margin if not place else indent}{line}\n".replace("\n  ", f"\n{indent}")
    return text


def _key(line: str) -> str:
    return re.sub(r"\W.*", "", line.strip("'"), flags=re.DOTALL)


@st.composite
def files(draw: st.DrawFn, damage: bool) -> bytes:
    parts = [draw(entries(number)) for number in range(draw(st.integers(1, 3)))]
    text = draw(st.sampled_from(("", "\n", "# between\n"))).join(parts)
    for _ in range(draw(st.integers(1, 4)) if damage else 0):
        at = draw(st.integers(0, len(text)))
        cut = draw(st.sampled_from((0, 0, 1, 6)))
        text = text[:at] + draw(st.sampled_from(PIECES)) + text[at + cut :]
    if draw(st.booleans()):
        text = text.rstrip("\n")
    text = text.replace("\n", draw(st.sampled_from(("\n", "\n", "\r\n", "\r"))))
    return (b"\xef\xbb\xbf" if draw(st.integers(0, 4)) == 0 else b"") + text.encode()


def invoke(*arguments: str) -> Result:
    result = CliRunner().invoke(main, list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code in (0, 1)
    return result


def meaning(content: bytes) -> object:
    """Return the operators of a file without errors with all their fields; None for other files."""
    path = Path("f.yaml")
    registry = load(aten_inputs((path,), overlay={path: content}), Diagnostics())
    if registry is None:
        return None
    return [
        (str(f.func), f.dispatch, f.tags, f.variants, f.device_check, f.device_guard, f.autogen)
        for f in registry.functions
    ]


def comments(content: bytes) -> Counter[str]:
    """Return comments that follow white space; in damaged files, other text may look like a comment."""
    return Counter(re.findall(r"(?:^|(?<=\s))#[^\r\n]*", content.decode("utf-8-sig"), re.MULTILINE))


def characters(content: bytes) -> Counter[str]:
    """Return all characters except white space and dashes, which may move to another line."""
    return Counter(re.sub(r"[\s-]", "", content.decode()))


def check_format(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    result = invoke("format", str(path))
    made = path.read_bytes()
    if result.exit_code:
        assert made == content, "a file with errors was touched"
        return
    assert characters(made) == characters(content)
    assert comments(made) == comments(content)
    # None: the file had errors, and all of them were about white space.
    assert meaning(content) in (None, meaning(made))
    assert invoke("format", "--check", str(path)).exit_code == 0
    assert path.read_bytes() == made


def check_fix(path: Path, content: bytes, *, damage: bool) -> None:
    path.write_bytes(content)
    shown = invoke("lint", "--diff", str(path))
    assert path.read_bytes() == content, "--diff wrote"
    fixed = invoke("lint", "--fix", str(path))
    made = path.read_bytes()
    assert (made != content) == bool(shown.stdout)
    assert made.startswith(b"\xef\xbb\xbf") == content.startswith(b"\xef\xbb\xbf")
    text = made.decode()
    lost = [c for c, count in comments(content).items() if text.count(c) < count]
    assert damage or not lost, "a comment was lost"
    if meaning(content) is not None:
        assert meaning(made) is not None, "a fix caused an error"
    again = invoke("lint", "--fix", str(path))
    assert (path.read_bytes(), again.exit_code) == (made, fixed.exit_code)
    assert "0 problems fixed" in again.stderr


BUDGET = settings(
    max_examples=25,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@BUDGET
@given(files(damage=False))
def test_any_layout_is_rewritten_well(tmp_path: Path, content: bytes) -> None:
    check_format(tmp_path / "f.yaml", content)
    check_fix(tmp_path / "f.yaml", content, damage=False)


@BUDGET
@given(files(damage=True))
def test_any_damage_is_rewritten_well(tmp_path: Path, content: bytes) -> None:
    check_format(tmp_path / "f.yaml", content)
    check_fix(tmp_path / "f.yaml", content, damage=True)


@pytest.mark.nightly
@settings(BUDGET, max_examples=1_500)
@given(st.booleans().flatmap(lambda damage: st.tuples(files(damage=damage), st.just(damage))))
def test_many_files_are_rewritten_well(tmp_path: Path, case: tuple[bytes, bool]) -> None:
    content, damage = case
    check_format(tmp_path / "f.yaml", content)
    check_fix(tmp_path / "f.yaml", content, damage=damage)
