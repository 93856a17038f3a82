"""No command ends in a traceback, whatever the files hold that it reads: deep, long, many and extreme.

Each command is run on each file that it reads, in a process of the tests. `support/inputs` and test_any_bytes.py draw random
bytes; here are the inputs that a limit of Python or of a stage meets.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from opgen.cli.main import main

GOOD = "- func: my::neg(Tensor self) -> Tensor\n  dispatch: {CPU: neg}\n"
HUGE = "9" * 5000
# Texts that replace a value in a file.
VALUES: Mapping[str, str] = {
    "deep lists": "[" * 3000,
    "closed lists": "[" * 900 + "]" * 900,
    "closed mappings": "{a: " * 900 + "}" * 900,
    "deep brackets": '"' + "(" * 3000 + '"',
    "closed brackets": '"' + "(" * 3000 + "1" + ")" * 3000 + '"',
    "signs": '"' + "-" * 5000 + '1"',
    "a long sum": '"' + "+".join(["grad"] * 3000) + '"',
    "members": '"grad' + ".neg()" * 3000 + '"',
    "a long word": "a" * 200_000,
    "many words": " ".join(["a"] * 50_000),
    "a huge number": HUGE,
    "a quoted number": f'"{HUGE}"',
    "infinity": ".inf",
    "no number": ".nan",
    "an exponent": "1e999999",
    "numbers": "[.inf, -.inf, .nan, 1e999, 0x1F, 1:30, 9223372036854775808]",
    "a wrong tag": "!!int x",
    "a date": "0000-00-00",
    "null": "null",
    "nothing": '""',
    "characters": '"\\0\\x1b[2J\\u202e\\n::error::x"',
    "a schema": '"my::neg(Tensor(a|b|c|d!)[' + HUGE + "] self=" + HUGE + ') -> Tensor"',
    "types": '"my::neg(' + "Tensor?[]" * 2000 + ' self) -> Tensor"',
}
# Files by name, each with the place of the value; and the commands that read the file.
FILES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "ops.yaml": (
        "- func: @\n",
        (
            *("lint ops.yaml", "lint --fix ops.yaml", "format --check ops.yaml", "stub ops.yaml"),
            *(
                "dump ops.yaml",
                "explain ops.yaml neg",
                "select ops.yaml neg",
                "compat ops.yaml ops.yaml",
            ),
            "generate ops.yaml -o out",
        ),
    ),
    "keys.yaml": (
        GOOD + "  variants: @\n  tags: @\n  autogen: @\n  precomputed: @\n  doc: @\n  fake: @\n",
        ("lint keys.yaml", "generate keys.yaml -o out --target torch", "format --check keys.yaml"),
    ),
    "derivatives.yaml": (
        "- name: my::neg\n  self: @\n  output_differentiability: @\n",
        (
            "lint good.yaml",
            "lint good.yaml --target torch-stable",
            "generate good.yaml -o out --target torch-stable --python",
            "explain good.yaml neg",
        ),
    ),
    "tags.yaml": ("- tag: @\n  desc: @\n", ("lint good.yaml", "schema --tags tags.yaml")),
    "domains.yaml": (
        "my::neg:\n  values:\n    self: {between: [@, 1]}\n  shapes: {self: @}\n  skip: @\n",
        ("verify good.yaml --load x --domains domains.yaml",),
    ),
    "backend.yaml": (
        "backend: @\ncpp_namespace: @\nsupported: @\nautograd:\n- @\n",
        (
            "coverage backend.yaml good.yaml",
            "generate good.yaml -o out --backend-yaml backend.yaml",
        ),
    ),
    "selected.yaml": (
        "include_all_operators: @\noperators:\n  my::neg: @\nkernel_metadata: @\n",
        ("generate good.yaml -o out --select selected.yaml",),
    ),
    "base.json": ('{"format": @, "files": @}', ("generate good.yaml -o out --extends base.json",)),
    "list.txt": (
        "@\n",
        (
            "compat good.yaml good.yaml --allow list.txt",
            "coverage backend.yaml good.yaml --against list.txt",
            "select good.yaml --from-trace list.txt",
            "select good.yaml --from-registrations list.txt",
        ),
    ),
    "x.cpp": (
        "#define A(x) @\nTORCH_LIBRARY(@, m) { m.def(@); m.impl(A(@), @); }\n",
        ("import x.cpp", "lint good.yaml --kernels x.cpp"),
    ),
    "x.py": (
        "import torch\nlib = torch.library.Library(@, 'DEF')\nlib.define(@)\n",
        ("import x.py",),
    ),
}
RUNS = [(name, command) for name, (_, commands) in FILES.items() for command in commands]
_FAST = ("closed lists", "closed brackets", "a huge number", "numbers", "characters")


def answer(command: str) -> None:
    """Run a command; it ends with a code of its own, and what it prints is safe for a terminal and a log."""
    result = CliRunner().invoke(main, command.split())
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code in (0, 1, 2)
    assert "Traceback" not in result.output and "\x1b" not in result.stderr
    assert not any(line.startswith("::") for line in result.stderr.splitlines())


def check(folder: Path, name: str, command: str, value: str) -> None:
    for other, text in {"good.yaml": GOOD, "backend.yaml": "backend: XLA\nsupported: []\n"}.items():
        (folder / other).write_text(text)
    (folder / name).write_text(FILES[name][0].replace("@", VALUES[value]))
    answer(command)


@pytest.mark.parametrize("value", _FAST)
@pytest.mark.parametrize(
    "name", ["derivatives.yaml", "domains.yaml", "list.txt"], ids=lambda name: str(name)
)
def test_extreme_inputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.chdir(tmp_path)
    check(tmp_path, name, FILES[name][1][0], value)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "command"), RUNS, ids=[command for _, command in RUNS])
def test_every_command_with_every_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for value in VALUES:
        check(tmp_path, name, command, value)


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "lint many.yaml",
        "compat many.yaml good.yaml",
        "compat good.yaml many.yaml",
        "dump many.yaml",
    ],
)
def test_many_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.chdir(tmp_path)
    rows = (f"- func: my::f{i}(Tensor self) -> Tensor\n" for i in range(3000))
    (tmp_path / "many.yaml").write_text("".join(rows))
    (tmp_path / "good.yaml").write_text(GOOD)
    answer(command)
