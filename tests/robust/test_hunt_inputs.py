"""Randomly changed inputs for every command and the language server: each gets an answer within seconds, and no
traceback.

The cases of tests/golden/errors, our own and the other kinds of files are cut, doubled, spliced and altered.
OPGEN_INPUTS is the number of inputs: few by default, 20,000 at night.
"""

from __future__ import annotations

import gc
import json
import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from opgen.cli.main import main
from opgen.diagnostics import Source
from opgen.lsp.completion import complete, in_entry, new_items
from opgen.lsp.navigation import KernelIndex, find_functions
from opgen.lsp.outline import build_outline, find_word
from support.error_cases import yaml_cases

RecordProperty = Callable[[str, object], None]
SECONDS = 10
GOOD = """\
- func: lib::foo(Tensor self, Tensor other, *, Scalar alpha=1, str mode="none") -> Tensor
  structured_delegate: foo.out
  variants: function, method
  tags: [core, pointwise]

- func: lib::foo.out(Tensor self, Tensor other, *, Scalar alpha=1, str mode="none", Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: foo_out

- func: lib::bar(Tensor(a) self, int[2] size, bool flag=False) -> (Tensor(a), Tensor)
  python_module: nn
  dispatch:
    CPU, CUDA: bar
    Meta: bar_meta
"""
CPP = """\
#include <torch/library.h>
Tensor foo(const Tensor& self, int64_t n) { return self; }
TORCH_LIBRARY(lib, m) { m.def("foo(Tensor self, int n) -> Tensor", &foo); m.impl("bar", torch::kCPU, &foo); }
OPGEN_KERNEL(foo_out)(const Tensor& self) { return self; }
"""
PYTHON = """\
import torch
@torch.library.custom_op("lib::foo", mutates_args=())
def foo(x: torch.Tensor, n: int = 1) -> torch.Tensor:
    return x
@foo.register_fake
def _(x, n=1):
    return torch.empty_like(x)
"""
# For each file that is altered, by name, its initial content and the commands that read it.
OTHERS = {
    "tags.yaml": "- tag: core\n  desc: A core operator.\n- tag: pointwise\n  desc: Each element.\n",
    "backend.yaml": "backend: XLA\ncpp_namespace: torch_xla\nsupported:\n- foo\nautograd:\n- bar\n",
    "select.yaml": "operators:\n  lib::foo:\n    is_root_operator: true\nkernel_metadata:\n  foo: [float]\n",
    "base.json": json.dumps({"name": "lib", "tensor": "lib::Tensor", "operators": {"lib::foo": {}}, "files": {}}),
    "allow.txt": "# of 2.0\nlib::foo.* 2030-01-01\n(bar|foo)_?(\\.out)?\n",
    "list.txt": "lib::foo\nlib::bar.out\naten::add.Tensor\n",
    "source.cpp": CPP,
    "source.py": PYTHON,
    "out/opgen_manifest.json": json.dumps({"format": 2, "files": ["a/b.h"], "pending": {}}),
    "out/.opgen_stamp": "opgen stamp 2 0 0\n{}",
}  # fmt: skip
COMMANDS = {
    "any.yaml": (
        ("generate", "any.yaml", "-o", "out"),
        ("generate", "any.yaml", "-o", "out", "--python", "--shards", "3"),
        ("generate", "any.yaml", "-o", "out", "--target", "torch", "--python"),
        ("check", "any.yaml", "-o", "out"),
        ("lint", "any.yaml", "--python"),
        ("lint", "--fix", "any.yaml"),
        ("lint", "--diff", "any.yaml"),
        ("format", "any.yaml"),
        ("format", "--diff", "any.yaml"),
        ("dump", "any.yaml"),
        ("stub", "foo", "any.yaml"),
        ("explain", "foo", "any.yaml"),
        ("compat", "good.yaml", "any.yaml", "--forward"),
        ("compat", "any.yaml", "good.yaml"),
        ("select", "foo", "any.yaml"),
        ("lint", "any.yaml", "--format", "sarif"),
        ("lint", "any.yaml", "--format", "github", "--strict-torchgen"),
    ),
    "tags.yaml": (("lint", "good.yaml", "--tags", "tags.yaml"),),
    "backend.yaml": (
        ("generate", "good.yaml", "-o", "out", "--backend-yaml", "backend.yaml"),
        ("coverage", "backend.yaml", "good.yaml"),
    ),
    "select.yaml": (
        ("generate", "good.yaml", "-o", "out", "--python", "--select", "select.yaml"),
        ("select", "foo", "good.yaml", "--select", "select.yaml"),
    ),
    "base.json": (("generate", "good.yaml", "-o", "out", "--extends", "base.json"),),
    "allow.txt": (("compat", "good.yaml", "other.yaml", "--allow", "allow.txt"),),
    "list.txt": (
        ("select", "good.yaml", "--from-trace", "list.txt"),
        ("select", "good.yaml", "--from-registrations", "list.txt"),
        ("coverage", "backend.yaml", "good.yaml", "--against", "list.txt"),
    ),
    "source.cpp": (
        ("import", "source.cpp"),
        ("select", "good.yaml", "--from-registrations", "source.cpp"),
    ),
    "source.py": (("import", "source.py"),),
    "out/opgen_manifest.json": (
        ("generate", "good.yaml", "-o", "out"),
        ("check", "good.yaml", "-o", "out"),
    ),
    "out/.opgen_stamp": (("generate", "good.yaml", "-o", "out"),),
}
PIECES = (
    *(b"\n", b"\r", b"\r\n", b"\t", b" ", b"'", b'"', b"[", b"]", b"{", b"}", b"# ", b": ", b"- "),
    *(b"&a ", b"*a", b"<<: *e", b"|\n", b">-\n", b"|+\n", b"!!str ", b"%YAML 1.1\n", b"---\n"),
    *(b"\xff", b"\xed\xa0\x80", b"\x00", b"\x1b[2J", "\u2028\x85é😀".encode(), b"\\ud800", b"../"),
    *(b"python_module: ", b"  structured: True\n", b"  autogen: foo.out\n", b"(a!)", b"?", b"[2]"),
    *(b"9" * 30, b"-1e999", b"a" * 300, b"None", b"1.5", b"->", b"()", b"::error::x", b"$(x)"),
    *(b"  # opgen: allow(W1001) x\n", b"  variants: method\n", b"    CUDA: x\n", b"0x", b"'\\''"),
    *(b"SymInt[]? x=None, ", b"Tensor(a!)[] y, ", b"Dimname", b"Generator? g=None", b"__torch__"),
)


def bent(content: bytes, others: list[bytes], chance: random.Random) -> bytes:
    for _ in range(chance.choice((1, 1, 2, 3, 8))):
        at, size = chance.randrange(len(content) + 1), chance.choice((0, 0, 1, 3, 40, 300))
        other = chance.choice(others)
        start = chance.randrange(len(other) + 1)
        new = chance.choice(
            (
                chance.choice(PIECES),
                chance.choice(PIECES),
                other[start : start + chance.choice((5, 40, 300))],
                content[at : at + size] * 2,
                chance.randbytes(2),
                b"",
            )
        )
        content = content[:at] + new + content[at + size :]
    return content


def ask_the_server(content: bytes, chance: random.Random, folder: Path) -> None:
    """Send the server every edit, and questions about positions."""
    source = Source("any.yaml", content.decode("utf-8", "replace"))
    outline = build_outline(source)
    for _ in range(3):
        offset = chance.randint(0, len(source.text))
        find_word(outline, offset)
        complete([outline], offset, None, new_items, in_entry, strict_torchgen=False)
    (folder / "any.cpp").write_bytes(content)
    KernelIndex().definitions([folder])
    find_functions([folder], "foo")
    (folder / "any.cpp").unlink()


@pytest.mark.slow
@pytest.mark.parametrize(
    "inputs",
    [
        pytest.param(int(os.environ.get("OPGEN_INPUTS", "120")), id="few"),
        pytest.param(20_000, id="20000", marks=pytest.mark.nightly),
    ],
)
def test_any_input_of_any_command_is_answered(
    inputs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: RecordProperty
) -> None:
    chance = random.Random(int(os.environ.get("OPGEN_SEED", inputs)))
    monkeypatch.chdir(tmp_path)
    schemas = [case.content for case in yaml_cases()] + [GOOD.encode()] * 200
    others = [text.encode() for text in OTHERS.values()]
    runner = CliRunner()
    Path("good.yaml").write_text(GOOD)
    Path("backend.yaml").write_text(OTHERS["backend.yaml"])
    Path("other.yaml").write_text(GOOD.replace("int[2] size", "int[] sizes"))
    refused = 0
    for count in range(inputs):
        name = "any.yaml" if chance.random() < 0.6 else chance.choice(list(OTHERS))
        first = chance.choice(schemas) if name == "any.yaml" else OTHERS[name].encode()
        content = bent(first, schemas + others, chance)
        path = Path(name)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        command = chance.choice(COMMANDS[name])
        started = time.process_time()
        options = () if command[0] in ("import", "coverage") else ("--namespace", "lib")
        result = runner.invoke(main, [*command, *options])
        if chance.random() < 0.3:
            ask_the_server(content, chance, tmp_path)
        taken = time.process_time() - started
        said = (command, content, result.output[-2000:])
        if result.exit_code == 2:
            assert "no such option" not in result.stderr, said
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise AssertionError(said) from result.exception
        assert result.exit_code in (0, 1, 2), said
        assert taken < SECONDS, (taken, said)
        refused += result.exit_code != 0
        Path("backend.yaml").write_text(OTHERS["backend.yaml"])
        for left in {"out", name} - {"backend.yaml"}:
            if Path(left).is_dir():
                shutil.rmtree(left)
            else:
                Path(left).unlink(missing_ok=True)
        if count % 100 == 0:
            gc.collect()
    record_property("hunt: inputs", inputs)
    record_property("hunt: of these refused", refused)
    assert 0 < refused < inputs
