"""Measure compile times with shards for target torch, where each shard is a unit that reads ATen's headers.

    python benchmarks/torch_shards.py FOLDER [--write]

Compiles the units that opgen_add_operators generates from two schema files, one after the other, with optimisation and with stubs as kernels:
the five operators of torch/five.yaml, and a slice of PyTorch's own file (tests/support/aten_slice.py). Prints a Markdown
table of processor seconds; `--write` puts it into RESULTS.md. Takes ten minutes. Needs torch.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from pathlib import Path

from results import write_between

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from support.aten_slice import GROUPS, native_functions, slice_of  # noqa: E402
from support.build import RUNTIME, run, tool  # noqa: E402
from support.pytorch import packaged_native_functions  # noqa: E402


def schema_files(folder: Path) -> dict[str, Path]:
    packaged = packaged_native_functions()
    sliced = folder / "slice.yaml"
    sliced.write_text(slice_of(native_functions(packaged), GROUPS))
    shutil.copy(packaged.parent / "tags.yaml", folder)
    return {"five": HERE / "torch" / "five.yaml", "slice": sliced}


def seconds_of_units(yaml: Path, shards: int, folder: Path) -> list[float]:
    """Return the processor seconds of each unit of the library of `yaml`."""
    tree, built = folder / "tree", folder / "built"
    generate = [tool("opgen"), "generate", yaml, "--target", "torch", "-o", tree]
    run([*generate, "--shards", str(shards)])
    configure = [
        tool("cmake"),
        "-S",
        tree,
        "-B",
        built,
        "-G",
        "Ninja",
        "-DCMAKE_BUILD_TYPE=Release",
    ]
    configure += [f"-Dopgen_torch_DIR={RUNTIME / 'cmake'}", f"-DPython_EXECUTABLE={sys.executable}"]
    configure += [f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]
    # One unit at a time, without a cache.
    configure += ["-DCMAKE_CXX_COMPILER_LAUNCHER="]
    run(configure)
    taken = []
    for unit in json.loads((built / "compile_commands.json").read_text()):
        if "/Unity/" not in unit["file"]:
            continue
        before = os.times()
        run(shlex.split(unit["command"]), cwd=unit["directory"])
        after = os.times()
        taken.append(
            after.children_user
            + after.children_system
            - before.children_user
            - before.children_system
        )
    return taken


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1]).resolve()
    folder.mkdir()
    lines = [
        "| library | entries | shards | units | total, s | longest, s |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, yaml in schema_files(folder).items():
        entries = yaml.read_text().count("func:")
        for shards in (1, 2, 4, 8):
            taken = seconds_of_units(yaml, shards, folder / f"{name}-{shards}")
            cells = f"{len(taken)} | {sum(taken):.0f} | {max(taken):.0f} |"
            lines.append(f"| {name} | {entries} | {shards} | {cells}")
            print(lines[-1], file=sys.stderr)
    text = "\n".join(lines)
    print(text)
    if "--write" in sys.argv:
        write_between("torch_shards.py", text)


if __name__ == "__main__":
    main()
