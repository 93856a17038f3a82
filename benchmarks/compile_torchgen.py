"""Time to compile what opgen and torchgen generate for the same operators: the CPU registrations of PyTorch's file.

    python benchmarks/compile_torchgen.py TORCHGEN OPGEN [SHARDS [FLAGS]]

TORCHGEN: the folder in which `python -m torchgen.gen --per-operator-headers -d TORCHGEN` wrote, of the installed torch's own file.
OPGEN: a tree that `opgen generate native_functions.yaml --ignore-keys MPS,SparseMPS,SparseCsrMPS,XPU,MTIA --shards 4` made of the
same file. Each is compiled against its own headers: ATen's, opgen's. Prints a Markdown table of processor seconds
(user and system, one run each). SHARDS, such as 0,1, are some of the four; both put the same operators into the same. FLAGS are
`-fsyntax-only`, or others.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from compile import processor_seconds

HERE = Path(__file__).resolve().parent


def torch_flags() -> list[str]:
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        sys.exit("torch is not installed: there are no headers of ATen")
    include = Path(spec.origin).parent / "include"
    return [f"-I{include}", f"-I{include}/torch/csrc/api/include", "-D_GLIBCXX_USE_CXX11_ABI=1"]


def row(what: str, source: Path, rows: int, flags: Sequence[str], folder: str) -> str:
    base = ["g++", "-std=c++20", "-w", *flags, "-o", f"{folder}/out"]
    whole = processor_seconds([*base, str(source)])
    # The headers alone, up to the first line that is neither an include nor a comment.
    head = Path(folder, "headers.cpp")
    head.write_text(
        "".join(line for line in source.open() if line.startswith(("#include <", "#define")))
    )
    headers = processor_seconds([*base, str(head)])
    each = (whole - headers) / rows * 1000
    return f"| {what} | {rows} | {whole:.1f} | {headers:.1f} | {each:.1f} |"


def main() -> None:
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    torchgen, opgen = map(Path, sys.argv[1:3])
    shards = sys.argv[3].split(",") if len(sys.argv) > 3 else ["0", "1", "2", "3"]
    flags = sys.argv[4:] or ["-fsyntax-only"]
    print("| source | rows | seconds | of them its headers | ms a row |")
    print("|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for n in shards:
            theirs, ours = torchgen / f"RegisterCPU_{n}.cpp", opgen / "src" / f"RegisterCPU_{n}.cpp"
            count = theirs.read_text().count("m.impl(")
            given = [*flags, *torch_flags()]
            print(row(f"torchgen, {theirs.name}", theirs, count, given, folder), flush=True)
            count = ours.read_text().count("    opgen::kernel<")
            given = [*flags, f"-I{opgen}/include", f"-I{HERE.parent}/runtime/include"]
            print(row(f"opgen, {ours.name}", ours, count, given, folder), flush=True)


if __name__ == "__main__":
    main()
