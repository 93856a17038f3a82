"""The same input gives the same bytes: in another process, in another order, in another folder."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Mapping
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


# Differences that must not matter, each in a process and a folder of its own.
ENVIRONMENTS = (
    {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "UTC"},
    {"PYTHONHASHSEED": "2", "LC_ALL": "C.UTF-8", "TZ": "Asia/Kathmandu", "COLUMNS": "20"},
    {"PYTHONHASHSEED": "3", "LC_ALL": "tr_TR.UTF-8", "TZ": "America/St_Johns", "PYTHONUTF8": "0"},
    {"PYTHONHASHSEED": "random", "LANG": "POSIX", "PYTHONOPTIMIZE": "2", "NO_COLOR": "1"},
)


def generated(variables: Mapping[str, str], folder: Path, *yaml: str) -> dict[str, bytes]:
    """Return every file that is generated in a new process that works in `folder`."""
    folder.mkdir(parents=True)
    program = "from opgen.cli.main import main; main()"
    command = [
        sys.executable,
        "-c",
        program,
        "generate",
        *yaml,
        "-o",
        "out",
        "--shards",
        "2",
        "--python",
    ]
    command += ["--namespace", "aten"]
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG"))}
    done = subprocess.run(
        [*command, "--name", "aten", "--output-list", "listed"],
        cwd=folder,
        env={**kept, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    files = [path for path in sorted((folder / "out").rglob("*")) if path.is_file()]
    made = {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
    # The stamp is not an output: it describes one folder, and no file depends on it.
    del made["out/.opgen_stamp"]
    return {**made, "listed": (folder / "listed").read_bytes()}


@pytest.mark.slow
def test_processes_folders_locales_and_time_zones_write_the_same_bytes(tmp_path: Path) -> None:
    """Protects reproducible builds: no file depends on the process, its environment or its folder."""
    yaml = tmp_path / "example.yaml"
    yaml.write_text(EXAMPLE)
    folders = [tmp_path / ("a" * (i + 1)) / f"folder {i}" for i in range(len(ENVIRONMENTS))]
    trees = [generated(env, f, str(yaml)) for env, f in zip(ENVIRONMENTS, folders, strict=True)]
    assert all(tree == trees[0] for tree in trees)
    assert len(trees[0]) > 20
    assert not any(str(tmp_path).encode() in text for text in trees[0].values())


@pytest.mark.slow
def test_the_order_in_which_files_are_given_moves_nothing(tmp_path: Path) -> None:
    """Protects builds that glob: the order in which a file system lists files does not matter. Variants may be in
    different files.
    """
    entries = EXAMPLE.split("\n\n")
    texts = {"one.yaml": entries[::2], "two.yaml": entries[1::2]}
    for name, half in texts.items():
        (tmp_path / name).write_text("\n\n".join(entry.strip() for entry in half) + "\n")
    given = [str(tmp_path / name) for name in texts]
    forwards = generated(ENVIRONMENTS[0], tmp_path / "forwards", *given)
    assert forwards == generated(ENVIRONMENTS[0], tmp_path / "backwards", *reversed(given))


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
    """Return the words of a file without what depends on the order: numbers of stubs, and commas between items."""
    separators = str.maketrans(dict.fromkeys("0123456789,;()[]", " "))
    return sorted(text.translate(separators).split())


def test_the_order_of_keys_and_dispatch_rows_moves_only_lines(opgen: Opgen) -> None:
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
