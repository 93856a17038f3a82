"""The tools accept any bytes as input: for up to 10 MB, they answer with diagnostics within 5 s of CPU time and 512 MB
of memory.

The system enforces both limits (RLIMIT_CPU, RLIMIT_AS). A traceback, a signal, or an exit code other than 0 and 1 is a
failure. tests/RESULTS.md has the counts.
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from robust.shapes import OTHERS, SCHEMAS
from support.selection import some

SECONDS = 10
MEMORY = 512 << 20
GOOD = "- func: foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo\n"
BACKEND = "backend: XLA\ncpp_namespace: torch_xla\nsupported:\n- foo\n"

# The inputs for runs by default and with `-m slow`: those that once took too long.
_QUICK = {"laughs in merges", "nulls", "UTF-16", "merges of lists", "a deep block"}
_LONGER = {
    *("empty lines", "empty items", "one key again and again", "bad types, folded"),
    *("100,000 arguments", "unknown tags"),
}


def _mark(shape: str) -> tuple[pytest.MarkDecorator, ...]:
    if shape in _QUICK:
        return ()
    return (pytest.mark.slow if shape in _LONGER else pytest.mark.nightly,)


RecordProperty = Callable[[str, object], None]


def run_within_limits(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run opgen in a process that the system ends if it exceeds a limit."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))

    command = [sys.executable, "-c", "from opgen.cli.main import main; main()", *arguments]
    return subprocess.run(
        command,
        cwd=folder,
        preexec_fn=limit,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
        check=False,
    )


def check_answer(*arguments: str, folder: Path) -> None:
    """Check that the command succeeds, or reports what is wrong."""
    result = run_within_limits(*arguments, folder=folder)
    assert "Traceback" not in result.stderr, result.stderr[-2000:]
    assert result.returncode in (0, 1), (result.returncode, result.stderr[-500:])
    assert (result.returncode == 1) == ("error[" in result.stderr), result.stderr[:500]
    assert len(result.stderr) < 20_000_000


def write(path: Path, content: str | bytes) -> Path:
    data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    assert len(data) <= 10_000_000, f"{len(data)} bytes"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    "shape",
    [pytest.param(s, marks=_mark(s)) for s in SCHEMAS],
)
def test_a_schema_file_of_any_shape_is_answered(
    shape: str, tmp_path: Path, record_property: RecordProperty
) -> None:
    write(tmp_path / "any.yaml", SCHEMAS[shape]())
    check_answer("lint", "any.yaml", folder=tmp_path)
    record_property("any bytes: shapes of up to 10 MB", 1)


# Inputs that are written back take longest: many entries, and errors that can be fixed.
_CHANGED = ("commas without a space", "a misspelt type and a misspelt key", "documents")


@pytest.mark.slow
@pytest.mark.parametrize(
    "shape",
    [pytest.param(s, marks=() if s in _CHANGED else pytest.mark.nightly) for s in SCHEMAS],
)
@pytest.mark.parametrize("command", [("format",), ("lint", "--fix")], ids=" ".join)
def test_a_file_of_any_shape_is_fixed_or_rejected(
    command: tuple[str, ...], shape: str, tmp_path: Path, record_property: RecordProperty
) -> None:
    write(tmp_path / "any.yaml", SCHEMAS[shape]())
    check_answer(*command, "any.yaml", folder=tmp_path)
    record_property("any bytes: shapes of up to 10 MB", 1)


@pytest.mark.parametrize(
    ("option", "shape"),
    [pytest.param(*s, marks=() if s[1] == "repeats" else pytest.mark.nightly) for s in OTHERS],
)
def test_every_other_file_of_any_shape_is_answered(
    option: str, shape: str, tmp_path: Path, record_property: RecordProperty
) -> None:
    write(tmp_path / "good.yaml", GOOD)
    write(tmp_path / "backend.yaml", BACKEND)
    write(tmp_path / "any", OTHERS[option, shape]())
    command = {
        "--allow": ("compat", "good.yaml", "good.yaml"),
        "--extends": ("generate", "good.yaml", "-o", "out"),
        "--impl-path": ("lint", "good.yaml", "--backend-yaml", "backend.yaml"),
    }.get(option, ("lint", "good.yaml"))
    check_answer(*command, option, "any", folder=tmp_path)
    record_property("any bytes: shapes of up to 10 MB", 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "start", "line"),
    some(
        [
            (
                "--backend-yaml",
                "backend: XLA\ncpp_namespace: a\nsupported:\n",
                "- opreator_{}_wiht\n",
            ),
            ("--select", "operators:\n", "  foo::opreator_{}_wiht: {{}}\n"),
            (
                "--derivatives",
                "",
                "- name: opreator_{}_wiht(Tensor self) -> Tensor\n  self: grad\n",
            ),
        ],
        3,
    ),
)
def test_a_thousand_misspelt_operators_of_a_large_library_are_answered(
    option: str, start: str, line: str, tmp_path: Path
) -> None:
    entry = "- func: foo::operator_{}_with_a_name(Tensor self) -> Tensor\n"
    write(tmp_path / "large.yaml", "".join(entry.format(i) for i in range(6000)))
    write(tmp_path / "any", start + "".join(line.format(i) for i in range(2000, 3000)))
    check_answer("lint", "large.yaml", option, "any", folder=tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "shape", ["nulls", "laughs in merges", "empty items", "unknown tags", "open quotes", "keys"]
)
@pytest.mark.parametrize(
    "command",
    [
        ("generate", "any.yaml", "-o", "out"),
        ("check", "any.yaml", "-o", "out"),
        ("build", "any.yaml", "-o", "out"),
        ("dump", "any.yaml"),
        ("stub", "foo", "any.yaml"),
        ("explain", "foo", "any.yaml"),
        ("compat", "any.yaml", "any.yaml"),
        ("lint", "any.yaml", "--format", "sarif"),
        ("lint", "good.yaml", "--select", "any.yaml"),
        ("lint", "good.yaml", "--backend-yaml", "any.yaml"),
        ("lint", "good.yaml", "--tags", "any.yaml"),
        ("lint", "good.yaml", "--derivatives", "any.yaml"),
        ("compat", "good.yaml", "good.yaml", "--allow", "any.yaml"),
        ("generate", "good.yaml", "-o", "out", "--extends", "any.yaml"),
    ],
    ids=lambda command: " ".join(command[:1] + command[2:]),
)
def test_every_command_answers_any_file(
    shape: str, command: tuple[str, ...], tmp_path: Path, record_property: RecordProperty
) -> None:
    write(tmp_path / "good.yaml", GOOD)
    write(tmp_path / "any.yaml", SCHEMAS[shape]())
    result = run_within_limits(*command, folder=tmp_path)
    assert "Traceback" not in result.stderr, result.stderr[-2000:]
    assert result.returncode in (0, 1), (result.returncode, result.stderr[-500:])
    record_property("any bytes: shapes of up to 10 MB", 1)


def test_an_endless_file_is_rejected(tmp_path: Path) -> None:
    result = run_within_limits("lint", "/dev/zero", folder=tmp_path)
    assert (result.returncode, "E0912" in result.stderr) == (1, True)


@pytest.mark.slow
def test_a_file_twice_the_size_of_pytorchs_is_read(tmp_path: Path) -> None:
    """The limits are far from what people write: 5,000 operators with every key of an entry."""
    entry = (
        "- func: op@.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)\n"
        "  structured: True\n  dispatch:\n    CPU: op@_out_cpu\n    CUDA: op@_out_cuda\n"
        "- func: op@(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor\n"
        "  structured_delegate: op@.out\n  variants: function, method\n  tags: [core, pointwise]\n"
    )
    text = "".join(entry.replace("@", str(i)) for i in range(2_500))
    write(tmp_path / "large.yaml", text)
    result = run_within_limits("lint", "large.yaml", "--namespace", "aten", folder=tmp_path)
    assert (
        result.stdout == "5000 entries, 5000 operators: no errors, 1 warning in 1 file\n"
    ), result.stderr[-500:]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_damaged_real_files_are_answered(
    seed: int, tmp_path: Path, record_property: RecordProperty
) -> None:
    """Our own file with pieces removed, doubled, exchanged and overwritten, many times each."""
    original = (Path(__file__).parents[2] / "native_functions.yaml").read_bytes()
    chance = random.Random(seed)
    data = bytearray(original)
    for _ in range(4 ** (seed + 1)):
        at = chance.randrange(len(data))
        size = chance.choice((1, 1, 5, 80))
        other = chance.randrange(len(data))
        data[at : at + size] = chance.choice(
            (bytes(data[other : other + size]), chance.randbytes(size), b"\n", b": ", b"[")
        )
    write(tmp_path / "any.yaml", bytes(data[:10_000_000]))
    check_answer("lint", "any.yaml", folder=tmp_path)
    record_property("any bytes: damaged real files", 1)
