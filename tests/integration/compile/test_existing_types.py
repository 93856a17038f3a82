"""The types that an existing function may have, `CPU: ::ns::fn`: those that PyTorch takes for the schema, and no others.

Protects values: a narrower type would lose digits without a word, and None would be a number.
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

# The types of parameters that PyTorch takes, and the dispatcher's type of the argument.
TAKEN = (
    ("const Tensor&", "const Tensor&"),
    ("Tensor", "const Tensor&"),
    ("Tensor&", "const Tensor&"),
    ("Tensor&", "Tensor&"),
    ("Tensor&&", "const Tensor&"),
    ("std::optional<Tensor>", "const std::optional<Tensor>&"),
    ("const std::optional<Tensor>&", "const std::optional<Tensor>&"),
    ("TensorList", "TensorList"),
    ("const TensorList&", "TensorList"),
    ("std::vector<Tensor>", "TensorList"),
    ("const std::vector<Tensor>&", "TensorList"),
    ("List<Tensor>", "TensorList"),
    ("std::array<Tensor, 2>", "TensorList"),
    ("std::vector<std::optional<Tensor>>", "const List<std::optional<Tensor>>&"),
    ("const List<std::optional<Tensor>>&", "const List<std::optional<Tensor>>&"),
    ("List<std::optional<Tensor>>", "const List<std::optional<Tensor>>&"),
    ("const Scalar&", "const Scalar&"),
    ("Scalar", "const Scalar&"),
    ("std::optional<Scalar>", "const std::optional<Scalar>&"),
    ("const std::optional<Scalar>&", "const std::optional<Scalar>&"),
    ("ArrayRef<Scalar>", "ArrayRef<Scalar>"),
    ("std::vector<Scalar>", "ArrayRef<Scalar>"),
    ("int64_t", "int64_t"),
    ("const int64_t&", "int64_t"),
    ("int8_t", "int64_t"),
    ("ScalarType", "int64_t"),
    ("std::optional<int64_t>", "std::optional<int64_t>"),
    ("IntArrayRef", "IntArrayRef"),
    ("const IntArrayRef&", "IntArrayRef"),
    ("std::vector<int64_t>", "IntArrayRef"),
    ("const std::vector<int64_t>&", "IntArrayRef"),
    ("List<int64_t>", "IntArrayRef"),
    ("std::array<int64_t, 2>", "IntArrayRef"),
    # Elements that do not fit are an error when they come; PyTorch drops their high bits.
    ("std::vector<short>", "IntArrayRef"),
    ("ArrayRef<unsigned short>", "IntArrayRef"),
    ("OptionalIntArrayRef", "OptionalIntArrayRef"),
    ("std::optional<IntArrayRef>", "OptionalIntArrayRef"),
    ("std::optional<std::vector<int64_t>>", "OptionalIntArrayRef"),
    ("SymInt", "SymInt"),
    ("const SymInt&", "SymInt"),
    ("std::optional<SymInt>", "std::optional<SymInt>"),
    ("SymIntArrayRef", "SymIntArrayRef"),
    ("std::vector<SymInt>", "SymIntArrayRef"),
    ("int64_t", "SymInt"),
    ("IntArrayRef", "SymIntArrayRef"),
    ("std::vector<int64_t>", "SymIntArrayRef"),
    ("double", "double"),
    ("const double&", "double"),
    ("std::optional<double>", "std::optional<double>"),
    ("ArrayRef<double>", "ArrayRef<double>"),
    ("std::vector<double>", "ArrayRef<double>"),
    ("std::vector<float>", "ArrayRef<double>"),
    ("std::optional<ArrayRef<double>>", "std::optional<ArrayRef<double>>"),
    ("std::optional<std::vector<double>>", "std::optional<ArrayRef<double>>"),
    ("bool", "bool"),
    ("std::optional<bool>", "std::optional<bool>"),
    ("std::array<bool, 3>", "std::array<bool, 3>"),
    ("List<bool>", "const List<bool>&"),
    ("const List<bool>&", "const List<bool>&"),
    ("std::string", "std::string_view"),
    ("const std::string&", "std::string_view"),
    ("std::string_view", "std::string_view"),
    ("std::optional<std::string>", "std::optional<std::string_view>"),
    ("std::optional<std::string_view>", "std::optional<std::string_view>"),
    ("std::vector<std::string>", "ArrayRef<std::string_view>"),
    ("ScalarType", "ScalarType"),
    ("int64_t", "ScalarType"),
    ("std::optional<ScalarType>", "std::optional<ScalarType>"),
    ("std::vector<ScalarType>", "ArrayRef<ScalarType>"),
    ("Layout", "Layout"),
    ("std::optional<Layout>", "std::optional<Layout>"),
    ("Device", "Device"),
    ("const Device&", "Device"),
    ("std::optional<Device>", "std::optional<Device>"),
    ("MemoryFormat", "MemoryFormat"),
    ("std::optional<MemoryFormat>", "std::optional<MemoryFormat>"),
    ("Generator", "std::optional<Generator>"),
    ("std::optional<Generator>", "std::optional<Generator>"),
    ("const std::optional<Generator>&", "std::optional<Generator>"),
)
# Those that it refuses. A compiler reports a type of number once, so each is there once.
REFUSED = (
    ("int", "int64_t"),
    ("int16_t", "int64_t"),
    ("uint8_t", "int64_t"),
    ("uint64_t", "int64_t"),
    ("long long", "int64_t"),
    ("std::optional<unsigned>", "std::optional<int64_t>"),
    ("List<char>", "IntArrayRef"),
    ("std::array<char32_t, 2>", "IntArrayRef"),
    ("std::optional<float>", "std::optional<double>"),
    ("long double", "double"),
    ("const char*", "std::string_view"),
    ("Tensor*", "const Tensor&"),
    ("std::optional<Tensor>&", "const std::optional<Tensor>&"),
    ("std::vector<Tensor>&", "TensorList"),
    ("int64_t&", "int64_t"),
    ("std::vector<bool>", "const List<bool>&"),
    ("ArrayRef<bool>", "const List<bool>&"),
)
# Those that it refuses when the library is loaded, since the schema says something else.
OF_ANOTHER_SCHEMA = (
    ("bool", "double"),
    ("bool", "int64_t"),
    ("int64_t", "bool"),
    ("std::string", "int64_t"),
    ("Tensor", "int64_t"),
    ("int64_t", "const Tensor&"),
    ("Scalar", "double"),
    ("double", "const Scalar&"),
    ("double", "std::string_view"),
    ("std::optional<int64_t>", "int64_t"),
    ("int64_t", "std::optional<int64_t>"),
    ("const Tensor&", "const std::optional<Tensor>&"),
    ("std::optional<Tensor>", "const Tensor&"),
    ("IntArrayRef", "int64_t"),
    ("TensorList", "const Tensor&"),
    ("std::vector<int64_t>", "ArrayRef<double>"),
    ("std::vector<double>", "IntArrayRef"),
    ("std::optional<std::vector<double>>", "OptionalIntArrayRef"),
    ("std::vector<int64_t>", "const List<bool>&"),
    ("std::vector<Scalar>", "ArrayRef<double>"),
)
# The same for results, with the dispatcher's.
TAKEN_RESULTS = (
    ("Tensor", "Tensor"),
    ("std::vector<Tensor>", "std::vector<Tensor>"),
    ("int64_t", "int64_t"),
    ("double", "double"),
    ("bool", "bool"),
    ("std::tuple<int64_t, double>", "std::tuple<int64_t, double>"),
    ("std::tuple<>", "void"),
)
REFUSED_RESULTS = (("int", "int64_t"), ("uint8_t", "int64_t"), ("float", "double"))
RESULTS_OF_ANOTHER_SCHEMA = (("std::vector<double>", "std::vector<int64_t>"),)
Types = tuple[tuple[str, str], ...]


def refused(head: str, line: str, flags: Sequence[str], folder: Path, types: Types) -> Types:
    """Compile `line` for a function with each type, and return those for which it does not compile.

    `line` has the function's number and the dispatcher's type; `head` declares the functions, as `void f1(int);` for number 1.
    """
    declare, _, head = head.partition("\n")
    lines = [line.format(number=n, type=of_schema) for n, (_, of_schema) in enumerate(types)]
    declared = [declare.format(number=n, type=own) for n, (own, _) in enumerate(types)]
    source = folder / "types.cpp"
    source.write_text("\n".join([head, *declared, '#line 1 "lines"', *lines, ""]))
    command = [default_compiler().path, "-std=c++20", "-fsyntax-only", "-w", *flags, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    # Each error follows the line that required it, or is in it.
    found, at = set(), 0
    for text in done.stderr.splitlines():
        if match := re.match(r"lines:(\d+):\d+:", text):
            at = int(match[1])
        if "error: " in text:
            assert at, done.stderr
            found.add(at - 1)
    return tuple(types[n] for n in sorted(found))


ATEN = (
    "Tensor",
    "Scalar",
    "TensorList",
    "IntArrayRef",
    "ScalarType",
    "Layout",
    "Device",
    "MemoryFormat",
    "Generator",
    "OptionalIntArrayRef",
    "ArrayRef",
    "List",
    "SymInt",
    "SymIntArrayRef",
)
USING = "".join(f"using at::{name};" for name in ATEN[:10]) + "".join(
    f"using c10::{name};" for name in ATEN[10:]
)
PARAMETER = "void f{number}({type});\n"
RESULT = "{type} f{number}();\n"
OURS = "struct Op{number} {{ using schema = %s; }}; auto p{number} = &opgen::Existing<Op{number}, &f{number}>::call;"


def torch_flags() -> list[str]:
    require_headers()
    torch = torch_folder() / "include"
    return [f"-I{torch}", f"-I{torch}/torch/csrc/api/include", f"-I{sysconfig.get_path('include')}"]


@pytest.mark.slow
@pytest.mark.parametrize("target", ["runtime", "torch"])
def test_our_registration(target: str, tmp_path: Path) -> None:
    head = "#include <opgen/existing.h>\nusing namespace opgen::types; using namespace opgen;"
    flags = [f"-I{INCLUDE}"]
    if target == "torch":
        head = f"#include <opgen/register.h>\n#include <opgen/existing.h>\n{USING}"
        flags = [*torch_flags(), f"-I{INCLUDE.parent}/torch/include"]
    wrong = (*REFUSED, *OF_ANOTHER_SCHEMA)
    line = OURS % "void({type})"
    with one_torch_unit():
        assert refused(PARAMETER + head, line, flags, tmp_path, (*TAKEN, *wrong)) == wrong
        wrong = (*REFUSED_RESULTS, *RESULTS_OF_ANOTHER_SCHEMA)
        results = (*TAKEN_RESULTS, *wrong)
        assert refused(RESULT + head, OURS % "{type}()", flags, tmp_path, results) == wrong


@pytest.mark.slow
def test_pytorchs_registration(tmp_path: Path) -> None:
    """Protects the tables."""
    flags = torch_flags()
    head = f"#include <torch/library.h>\n{USING}"
    line = 'static void r{number}(torch::Library& m) {{ m.impl("f", &f{number}); }}'
    with one_torch_unit():
        assert refused(PARAMETER + head, line, flags, tmp_path, (*TAKEN, *REFUSED)) == REFUSED
        results = (*TAKEN_RESULTS, *REFUSED_RESULTS)
        assert refused(RESULT + head, line, flags, tmp_path, results) == REFUSED_RESULTS
