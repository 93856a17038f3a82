"""Every fix in the cases of tests/golden/errors is certain: it removes its problem and causes no other."""

from __future__ import annotations

import codecs
import itertools
import re
from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace

from opgen.diagnostics import Diagnostic, Diagnostics, Edit
from opgen.edits import apply_edits, encode_like, fix_all
from opgen.pipeline.checking import inspect
from opgen.pipeline.inputs import Overlay
from support.error_cases import SCHEMA, Case, Read, schema_cases
from support.inputs import aten_inputs
from support.pytorch import packaged_native_functions
from support.selection import some

# Not in the current folder, which may have a derivatives.yaml.
PATH = Path("mylib/f.yaml")
CASES = schema_cases()


def problems(content: bytes, read: Read = SCHEMA) -> Diagnostics:
    diagnostics = Diagnostics()
    inputs = aten_inputs((PATH,), target=read.target, overlay={PATH: content})
    inspect(replace(inputs, python="--python" in read.words), diagnostics)
    return diagnostics


def reported(items: Diagnostics) -> Counter[tuple[str, str]]:
    return Counter((item.code, item.message) for item in items)


def stage(code: str) -> int:
    """Return the number of the stage that reports `code`. An entry rejected by one stage is not seen by later ones.

    White space (E0302) is compared once the schema is understood.
    """
    if code == "E0302":
        return 1
    return {"E02": 0, "E03": 0, "E04": 2, "E05": 2, "E06": 2}.get(code[:3], 3)


def check_every_fix(content: bytes, read: Read = SCHEMA) -> set[str]:
    before = problems(content, read)
    fixable = [item for item in before if item.fix is not None]
    for item in fixable:
        after = problems(fixed_alone(content, item), read)
        removed, new = reported(before) - reported(after), reported(after) - reported(before)
        assert removed[item.code, item.message] >= 1, f"{item.code} is still there"
        # Without this mistake, later stages see the entry for the first time.
        assert all(stage(code) > stage(item.code) for code, _ in new), new
    return {item.code for item in fixable}


def fixed_alone(content: bytes, item: Diagnostic) -> bytes:
    assert item.fix is not None
    text, made = apply_edits(item.fix.span.source.text, [item.fix])
    assert made == 1
    return encode_like(text, content)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_fixes_of_a_case(case: Case) -> None:
    check_every_fix(case.content, case.read)


GROUP = """\
- func: foo(Tensor self) -> Tensor{functional}

- func: foo_(Tensor(a!) self) -> Tensor(a!)
  structured_delegate: foo.out

- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: foo_out
"""
DELEGATING = "\n  structured_delegate: foo.out"
VIEW = "- func: foo(Tensor(a) self) -> Tensor(a)\n  dispatch:\n    CPU: foo_cpu\n"
TABLE = "  dispatch:\r\n    CompositeExplicitAutogradNonFunctional: foo_copy\r\n"
LINE = "- func: foo(Tensor self) -> Tensor\n"


@pytest.mark.parametrize(
    ("code", "before", "after"),
    [
        ("E0514", GROUP.format(functional=""), GROUP.format(functional=DELEGATING)),
        (
            "E0402",
            GROUP.format(functional="\n  structured_delegate: wrong.name"),
            GROUP.format(functional=DELEGATING),
        ),
        (
            "E0511",
            "- func: foo_(Tensor(a!) self) -> Tensor(a!)  # why\n  dispatch:\n    CPU: foo_\n\n"
            "- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"
            "  dispatch:\n    CPU: foo_out\n",
            "- func: foo_(Tensor(a!) self) -> Tensor(a!)  # why\n  autogen: foo\n  dispatch:\n"
            "    CPU: foo_\n\n"
            "- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"
            "  dispatch:\n    CPU: foo_out\n",
        ),
        (
            "E0511",
            "- func: foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo\n  autogen: foo.out\n\n"
            "- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"
            "  dispatch:\n    CPU: foo_out\n",
            "- func: foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo\n\n"
            "- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"
            "  dispatch:\n    CPU: foo_out\n",
        ),
        (
            "E0212",
            f"{LINE}  dispatch:\n    CompositeImplicitAutograd: foo\n  tags: core\n",
            f"{LINE}  tags: core\n",
        ),
        # The last line of a file without a final line end.
        ("E0212", f"{LINE}  dispatch:\n    CompositeImplicitAutograd: foo", LINE.strip()),
        (
            "E0212",
            f"{LINE}  dispatch:\n    CompositeImplicitAutograd: foo".replace("\n", "\r\n"),
            LINE.strip(),
        ),
        (
            "E0247",
            "- func: foo_rand(Tensor self) -> Tensor\r\n  tags: core\r\n",
            "- func: foo_rand(Tensor self) -> Tensor\r\n  tags: [core, nondeterministic_seeded]\r\n",
        ),
        (
            "E0247",
            "- func: foo_rand(Tensor self) -> Tensor\r  tags: [core]\r",
            "- func: foo_rand(Tensor self) -> Tensor\r  tags: [core, nondeterministic_seeded]\r",
        ),
        (
            "E0247",
            "-   func: foo_rand(Tensor self) -> Tensor\n    tags:\n    - core # why\n",
            "-   func: foo_rand(Tensor self) -> Tensor\n    tags:\n    - core # why\n"
            "    - nondeterministic_seeded\n",
        ),
        (
            "E0247",
            "- func: foo_rand(Tensor self) -> Tensor",
            "- func: foo_rand(Tensor self) -> Tensor\n  tags: nondeterministic_seeded",
        ),
        (
            "E0302",
            "- func: >2+ # why\r\n    foo(Tensor self) -> Tensor\r\n\r\n  tags: core\r\n",
            "- func: >2- # why\r\n    foo(Tensor self) -> Tensor\r\n\r\n  tags: core\r\n",
        ),
        (
            "E0601",
            f"{VIEW}- func: foo_(Tensor(a!) self, Tensor(b -> *) other) -> Tensor(a!)  # why\n",
            f"{VIEW}- func: foo_(Tensor(a!) self, Tensor(b -> *) other) -> Tensor(a!)  # why\n"
            "  tags: inplace_view\n",
        ),
        (
            "E0607",
            f"{VIEW}- func: foo_copy(Tensor self) -> Tensor\r\n{TABLE}  # why\r\n  tags: [core]\r\n",
            f"{VIEW}- func: foo_copy(Tensor self) -> Tensor\r\n{TABLE}  # why\r\n"
            "  tags: [core, view_copy]\r\n",
        ),
        (
            "E0609",
            f"{VIEW}- func: foo_copy(Tensor self) -> Tensor  # why\n  tags: view_copy\n",
            f"{VIEW}- func: foo_copy(Tensor self) -> Tensor  # why\n"
            "  dispatch:\n    CompositeExplicitAutogradNonFunctional: foo_copy\n"
            "  tags: view_copy\n",
        ),
        (
            "E0246",
            "-   func: _foreach_foo(Tensor[] self) -> ()\r\n",
            "-   func: _foreach_foo(Tensor[] self) -> ()\r\n    device_check: NoCheck\r\n",
        ),
    ],
)
def test_the_result_of_a_fix(code: str, before: str, after: str) -> None:
    """The expected result for each key: the rest of the text is unchanged, and new lines end like the others."""
    items = problems(before.encode())
    (item,) = (item for item in items if item.code == code)
    assert fixed_alone(before.encode(), item).decode() == after
    check_every_fix(before.encode())


@pytest.mark.parametrize(
    "text",
    [
        # A fix would lose comments.
        f"{LINE}  dispatch:\n    # why\n    CompositeImplicitAutograd: foo\n",
        f"{LINE}  dispatch:\n    CompositeImplicitAutograd: foo # why\n",
        # The line contains other things, too.
        "- {func: foo(Tensor self) -> Tensor, dispatch: {CompositeImplicitAutograd: foo}}\n",
        "- {func: foo_rand(Tensor self) -> Tensor}\n",
        "- func: >-\n    foo_rand(Tensor self) -> Tensor\n",
        # Two names are equally near.
        f"{LINE}  dispatch:\n    APU: foo\n",
        "- func: foo(Tensor self) -> Tensor\n  tags: xyz\n",
        "- func: foo(Te\\x6esr self) -> Tensor\n".replace("- func: ", '- func: "').replace(
            "> Tensor", '> Tensor"'
        ),
    ],
)
def test_problems_without_a_fix(text: str) -> None:
    items = problems(text.encode())
    assert [item.fix for item in items] == [None] * len(items) != []


@pytest.mark.slow
def test_the_codes_that_have_fixes() -> None:
    """Protects against a fix that gets lost; the exceptions are in the table above."""
    found: set[str] = set()
    for case in CASES:
        found |= check_every_fix(case.content, case.read)
    assert " ".join(sorted(found)) == (
        "E0201 E0204 E0205 E0208 E0209 E0212 E0220 E0222 E0225 E0240 E0246 E0247 E0252 E0258 E0260 E0302 E0307 E0311"
        " E0322 E0334 E0337 E0338 E0402 E0511 E0517 E0525 E0534 E0535 E0607 E0703 W1019 W1026"
    )


def as_written(case: Case, newline: str, mark: bytes) -> bytes | None:
    """Return the case with a comment above each entry, other line ends and a byte order mark; None if it is not UTF-8."""
    try:
        text = case.content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    lines = re.split(r"\r\n|\r|\n", text)
    for i, line in enumerate(lines):
        if line.startswith("- "):
            lines[i] = f"# entry {i} \U0001d54f{newline}{line}"
    return mark + newline.join(lines).encode()


def untouched(before: str, edits: list[Edit]) -> list[str]:
    """Return the lines in which no edit begins, ends or lies."""
    kept, start = [], 0
    for line in before.splitlines(keepends=True):
        end = start + len(line)
        if not any(e.span.start < end and e.span.end > start for e in edits):
            kept.append(line)
        start = end
    return kept


@pytest.mark.slow
@pytest.mark.parametrize(
    ("newline", "mark"),
    some([("\r\n", b"\xef\xbb\xbf"), ("\n", b""), ("\r", b""), ("\n", b"\xef\xbb\xbf")], 4),
)
def test_fixes_change_only_their_lines_and_are_applied_once(newline: str, mark: bytes) -> None:
    """No round changes any other line; comments, line ends and the byte order mark stay; a second run changes nothing."""
    contents = ((case, as_written(case, newline, mark)) for case in CASES)
    changed = [
        check_all_fixes(case, content, newline, mark) for case, content in contents if content
    ]
    assert sum(changed) > 40


def check_all_fixes(case: Case, content: bytes, newline: str, mark: bytes) -> bool:
    """Check the fixes of one case; return whether there were any."""
    rounds: list[tuple[bytes, list[Edit]]] = []

    def check(contents: Overlay) -> tuple[Diagnostics, None]:
        found = problems(contents[PATH], case.read)
        rounds.append((contents[PATH], [i.fix for i in found if i.fix is not None]))
        return found, None

    fixed = fix_all({PATH: content}, check).contents.get(PATH, content)
    for (old, edits), (new, _) in itertools.pairwise(rounds):
        rest = iter(new.decode("utf-8-sig").splitlines(keepends=True))
        kept = untouched(old.decode("utf-8-sig"), edits)
        assert all(line in rest for line in kept), str(case)
    marks = fixed.count(codecs.BOM_UTF8)
    assert fixed.startswith(mark) and marks == content.count(codecs.BOM_UTF8), str(case)
    comments = re.compile(rb"# entry \d+ \xf0\x9d\x95\x8f")
    assert comments.findall(fixed) == comments.findall(content), str(case)
    others = {"\n": rb"\r", "\r\n": rb"\r(?!\n)|(?<!\r)\n", "\r": rb"\n"}[newline]
    assert not re.search(others, fixed), str(case)
    assert fix_all({PATH: fixed}, check).contents == {}, str(case)
    return fixed != content


@pytest.mark.slow
def test_misspellings_in_pytorchs_file_are_fixed() -> None:
    """Swap two letters in words all over the file; the fixes restore its bytes."""
    path = packaged_native_functions()
    tags = path.with_name("tags.yaml")
    good = path.read_bytes()
    bad, count = good, 0
    for word in (
        *(b"variants: ", b"dispatch:", b"structured_delegate: ", b"autogen: ", b"device_check: "),
        *(b"python_module: ", b"pointwise", b"nondeterministic_seeded", b"SparseCsrCUDA: "),
        *(b"CompositeExplicitAutograd: ", b"(Tensor self", b"MemoryFormat? ", b"NoCheck"),
    ):
        at = bad.index(word, bad.index(b"\n\n- func: ", len(bad) // 3))
        bad = bad[: at + 2] + bad[at + 3 : at + 4] + bad[at + 2 : at + 3] + bad[at + 4 :]
        count += 1

    def check(contents: Overlay) -> tuple[Diagnostics, None]:
        found = Diagnostics()
        inspect(aten_inputs((path,), tags=tags, target="torch", overlay=contents), found)
        return found, None

    fixed = fix_all({path: bad}, check)
    assert fixed.count == count and not fixed.last[0].has_errors
    assert fixed.contents == {path: good}
