"""The types of numbers that an existing function may have, `CPU: ::ns::fn`: those that PyTorch takes.

Protects values: a narrower type would lose digits without a word.
"""

from __future__ import annotations

import re
import subprocess
import sysconfig
from collections.abc import Sequence
from pathlib import Path

import pytest

from support.build import INCLUDE, default_compiler, one_torch_unit, require_headers
from support.pytorch import torch_folder

# The type of the parameter, the dispatcher's type of the argument, whether PyTorch takes the function.
TYPES = (
    ("std::int64_t", "int64_t", True),
    ("const std::int64_t&", "int64_t", True),
    ("std::int8_t", "int64_t", True),
    ("int", "int64_t", False),
    ("unsigned", "int64_t", False),
    ("std::int16_t", "int64_t", False),
    ("std::uint8_t", "int64_t", False),
    ("std::size_t", "int64_t", False),
    ("long long", "int64_t", False),
    ("std::optional<std::int64_t>", "std::optional<int64_t>", True),
    # The compiler reports each type of number once.
    ("std::optional<unsigned short>", "std::optional<int64_t>", False),
    ("std::vector<std::int64_t>", "IntArrayRef", True),
    # Elements that do not fit are an error when they come; PyTorch drops their high bits.
    ("std::vector<int>", "IntArrayRef", True),
    ("std::array<std::int64_t, 2>", "IntArrayRef", True),
    ("std::array<int, 2>", "IntArrayRef", True),
    ("double", "double", True),
    ("float", "double", False),
    ("std::optional<double>", "std::optional<double>", True),
    ("std::vector<double>", "ArrayRef<double>", True),
    ("std::vector<float>", "ArrayRef<double>", True),
    ("bool", "bool", True),
)
# The same for results.
RESULTS = (
    ("std::int64_t", "int64_t", True),
    ("double", "double", True),
    ("bool", "bool", True),
    ("int", "int64_t", False),
    ("std::uint8_t", "int64_t", False),
    ("float", "double", False),
    ("std::tuple<std::int64_t, double>", "std::tuple<int64_t, double>", True),
    ("std::tuple<>", "void", True),
)
REFUSED = {given for given, _, is_taken in TYPES if not is_taken}
REFUSED_RESULTS = {given for given, _, is_taken in RESULTS if not is_taken}


def refused(
    head: str, line: str, flags: Sequence[str], folder: Path, *, results: bool = False
) -> set[str]:
    """Compile one line for each type, and return the types of the lines that errors were required from."""
    types = RESULTS if results else TYPES
    lines = [line.format(number=n, argument=argument) for n, (_, argument, _) in enumerate(types)]
    declared = [
        f"{given} f{n}();" if results else f"void f{n}({given});"
        for n, (given, _, _) in enumerate(types)
    ]
    source = folder / "types.cpp"
    source.write_text("\n".join([head, *declared, '#line 1 "lines"', *lines, ""]))
    command = [default_compiler().path, "-std=c++20", "-fsyntax-only", "-w", *flags, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    # Each error follows the line that required it.
    found = set()
    required = ""
    for text in done.stderr.splitlines():
        if match := re.match(r"lines:(\d+):\d+:   required from here", text):
            required = types[int(match[1]) - 1][0]
        elif "error: static assertion failed" in text and required:
            found.add(required)
    return found


@pytest.mark.slow
def test_our_registration(tmp_path: Path) -> None:
    head = "#include <opgen/existing.h>\n#include <optional>\nusing namespace opgen;"
    line = "struct Op{number} {{ using schema = %s; }}; auto p{number} = &Existing<Op{number}, &f{number}>::call;"
    flags = [f"-I{INCLUDE}"]
    assert refused(head, line % "void({argument})", flags, tmp_path) == REFUSED
    results = refused(head, line % "{argument}()", flags, tmp_path, results=True)
    assert results == REFUSED_RESULTS


@pytest.mark.slow
def test_pytorchs_registration(tmp_path: Path) -> None:
    """Protects the tables."""
    require_headers()
    torch = torch_folder() / "include"
    flags = [f"-I{torch}", f"-I{torch}/torch/csrc/api/include"]
    flags.append(f"-I{sysconfig.get_path('include')}")
    head = "#include <torch/library.h>"
    line = 'static void r{number}(torch::Library& m) {{ m.impl("f", &f{number}); }}'
    with one_torch_unit():
        assert refused(head, line, flags, tmp_path) == REFUSED
        assert refused(head, line, flags, tmp_path, results=True) == REFUSED_RESULTS
