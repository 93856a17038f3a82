"""The same input gives the same bytes: in another process, in another order, in another folder."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from cli_support import Opgen, snapshot

EXAMPLE = """\
- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  structured_delegate: add.out
  variants: function, method
  tags: [pointwise, core]

- func: add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)
  structured_delegate: add.out
  variants: method

- func: add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: TensorIteratorBase
  dispatch:
    SparseCPU: add_out_sparse
    CPU: add_out_cpu
    CUDA: add_out_cuda

- func: fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)
  dispatch:
    CompositeExplicitAutograd: fill_
  autogen: fill.Scalar, fill.Scalar_out

- func: zeros(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
  dispatch:
    CPU: zeros_cpu
    Meta: zeros_meta
  autogen: zeros.out

- func: t(Tensor(a) self) -> Tensor(a)
  dispatch:
    CompositeExplicitAutograd: t

- func: t_copy(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutogradNonFunctional: t_copy
  tags: view_copy
"""


def generated(seed: str, folder: str) -> dict[str, str]:
    program = "from opgen.cli.main import main; main()"
    command = [
        sys.executable,
        "-c",
        program,
        "generate",
        "example.yaml",
        "-o",
        folder,
        "--shards",
        "2",
    ]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": seed})
    return {path: text for path, (text, _) in snapshot(folder).items()}


def test_two_processes_write_the_same_bytes(opgen: Opgen) -> None:
    Path("example.yaml").write_text(EXAMPLE)
    assert generated("1", "one") == generated("2", "two")
    assert not any(str(Path.cwd()) in text for text in generated("3", "three").values())


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_entries_moves_lines_within_files_and_nothing_else(
    opgen: Opgen, seed: int
) -> None:
    entries = EXAMPLE.split("\n\n")
    random.Random(seed).shuffle(entries)
    Path("example.yaml").write_text(EXAMPLE)
    Path("shuffled.yaml").write_text("\n\n".join(entry.strip() for entry in entries) + "\n")
    opgen("generate", "example.yaml", "-o", "one")
    assert opgen("generate", "shuffled.yaml", "-o", "two").exit_code == 0
    assert_same_words(snapshot("one"), snapshot("two"))


def assert_same_words(one: dict[str, tuple[str, int]], two: dict[str, tuple[str, int]]) -> None:
    assert set(one) == set(two)
    for path, (text, _) in one.items():
        if path != "opgen_manifest.json":
            assert words(text) == words(two[path][0]), path


def words(text: str) -> list[str]:
    """What is in a file whatever the order: stubs are numbered in theirs, lists have commas between."""
    separators = str.maketrans(dict.fromkeys("0123456789,;()[]", " "))
    return sorted(text.translate(separators).split())


def test_the_order_of_keys_and_dispatch_rows_moves_as_little(opgen: Opgen) -> None:
    Path("example.yaml").write_text(EXAMPLE)
    opgen("generate", "example.yaml", "-o", "one")
    entries = yaml.safe_load(EXAMPLE)
    backwards = []
    for entry in entries:
        if "dispatch" in entry:
            entry["dispatch"] = dict(reversed(entry["dispatch"].items()))
        backwards.append(dict(reversed(entry.items())))
    Path("backwards.yaml").write_text(yaml.safe_dump(backwards, sort_keys=False))
    assert opgen("generate", "backwards.yaml", "-o", "two").exit_code == 0
    assert_same_words(snapshot("one"), snapshot("two"))
