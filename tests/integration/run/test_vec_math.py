"""The errors of the mathematical functions of vectors, measured against <cmath> in double for random numbers and for
special ones: infinities, NaN, zeros with signs, subnormal numbers, the ends of the ranges.
"""

from __future__ import annotations

import platform
import re
import subprocess
from pathlib import Path

import pytest

from support.build import INCLUDE, compilers, core_library, run

_NUMBERS = 1_000_000
_SOURCE = Path(__file__).parent / "vec_math" / "errors.cpp"
_KERNELS = Path(__file__).parent / "vec_math" / "flags.cpp"
# The largest errors in units in the last place. PyTorch's are in benchmarks/RESULTS.md.
_ALLOWED = {
    **dict.fromkeys(("exp", "log", "log1p", "tanh", "erf", "sin", "cos", "atan", "pow"), 1.0),
    **dict.fromkeys(("exp2", "expm1", "log2", "log10", "trigamma", "digamma"), 1.0),
    **dict.fromkeys(("sinh", "cosh", "asin", "acos", "atanh"), 0.52),
    **dict.fromkeys(("atan2", "hypot", "erfinv", "log_add_exp", "log_add_exp2", "tan"), 0.52),
    **dict.fromkeys(("bessel_i0", "bessel_i1", "lgamma", "sinc", "xlogy"), 0.52),
    "erfc": 0.7,
    "fmod": 0.0,
    "softplus": 1.6,
    "mish": 4.0,
    # In units of a float; a half type has 13 or 16 bits less.
    **dict.fromkeys(("sin_of_half", "cos_of_half", "log2_of_half", "log10_of_half"), 2.1),
    "erf_of_half": 60.0,
    "gelu_of_half": 400.0,
    "remainder": 0.5,
    "sigmoid": 2.5,
    "silu": 2.5,
    # PyTorch's: 8.1 for positive numbers, and all digits for negative ones.
    "gelu": 8.0,
    "divide_floor": 0.0,
    # Quotients of 2^22 or more: PyTorch's.
    "divide_floor_of_large": 2.0,
    **{
        f"{name}_of_doubles": 1.2
        for name in ("exp", "exp2", "log", "log2", "log10", "log1p", "sin", "cos")
    },
    **{f"{name}_of_doubles": 1.2 for name in ("asin", "acos", "atan")},
    **{f"{name}_of_doubles": 1.6 for name in ("expm1", "erf", "pow")},
    **{f"{name}_of_doubles": 2.6 for name in ("tan", "tanh", "atanh", "sinh", "cosh")},
    **{
        f"{name}_of_doubles": 1.9
        for name in ("hypot", "atan2", "softplus", "xlogy", "log_add_exp", "log_add_exp2")
    },
    **{f"{name}_of_doubles": 0.0 for name in ("fmod", "remainder", "divide_floor")},
    **{f"bessel_{order}_of_doubles": 5.2 for order in ("i0", "i1")},
    "digamma_of_doubles": 22.0,
    "digamma_plus_100_of_doubles": 0.7,
    "trigamma_of_doubles": 6.5,
    "erfc_of_doubles": 5.4,
    "erfinv_of_doubles": 2.3,
    "erfinv_near_1_of_doubles": 3.3,
    "gelu_of_doubles": 6.7,
    "mish_of_doubles": 4.2,
}
# Without fused multiply-add, products are rounded.
_WITHOUT_FMA = {"tanh": 1.15, "erf": 1.2, "expm1": 1.1}


def _measured(
    tmp_path: Path, compiler: str, *variant: str, under: str | None = None
) -> dict[str, float]:
    """Return the largest error of each function; `under` are flags that the functions are compiled with."""

    def program(name: str, flags: str) -> Path:
        command = [compiler, "-std=c++20", "-O3", "-fno-math-errno", *variant, *flags.split()]
        # Linked without the flags: -ffast-math would make a program without subnormal numbers.
        run([*command, f"-I{INCLUDE}", "-c", _SOURCE, "-o", tmp_path / f"{name}.o"])
        run([compiler, tmp_path / f"{name}.o", "-o", tmp_path / name])
        return tmp_path / name

    arguments = [program("errors", ""), str(_NUMBERS)]
    if under is not None:
        dump = tmp_path / "dump"
        run([program("functions", under), str(_NUMBERS), dump])
        arguments += [dump, "read"]
    worst: dict[str, float] = {}
    for line in run(arguments).splitlines():
        name, error, wrong, _ = line.split()
        assert wrong == "0", f"{name}: {wrong} results have another sign or are not numbers"
        worst[name] = max(worst.get(name, 0.0), float(error))
    assert set(worst) == set(_ALLOWED)
    return worst


def _has(instructions: str) -> bool:
    flags = Path("/proc/cpuinfo").read_text() if platform.system() == "Linux" else ""
    return platform.machine() == "x86_64" and f" {instructions} " in flags


def _check(worst: dict[str, float], variant: tuple[str, ...]) -> None:
    allowed = {**_ALLOWED, **(_WITHOUT_FMA if variant == ("-DBASELINE",) else {})}
    larger = {name: error for name, error in worst.items() if error > allowed[name]}
    assert not larger, f"{variant}: {larger} units off"


@pytest.mark.slow
def test_functions_of_vectors_are_accurate(tmp_path: Path) -> None:
    """Protects the accuracy that vec_math.h promises, for a million numbers for each function."""
    for compiler in compilers():
        variants: list[tuple[str, ...]] = [("-DBASELINE",)]
        variants += [()] if _has("fma") else []
        variants += [("-DAVX512",)] if _has("avx512dq") and _has("avx512vl") else []
        for variant in variants:
            _check(_measured(tmp_path, compiler.path, *variant), variant)


@pytest.mark.slow
@pytest.mark.parametrize(
    "flags",
    [
        "-ffast-math",
        "-funsafe-math-optimizations",
        "-fassociative-math -fno-signed-zeros -fno-trapping-math",
    ],
)
def test_functions_of_vectors_are_accurate_under_fast_math(tmp_path: Path, flags: str) -> None:
    """Protects rounding tricks and lost digits from compilers that may reorder sums: exp(1) was 2."""
    gcc = [compiler.path for compiler in compilers() if "clang" not in compiler.name]
    for compiler in gcc:
        variant = () if _has("fma") else ("-DBASELINE",)
        _check(_measured(tmp_path, compiler, *variant, under=flags), variant)


@pytest.mark.slow
@pytest.mark.parametrize(
    "flags",
    ["-O3", "-O2 -ffast-math", "-O1 -fno-inline", "-O0", "-O1 -fno-inline -fsanitize=address"],
)
def test_vectors_are_passed_between_instruction_sets(tmp_path: Path, flags: str) -> None:
    """Protects kernels whose functions are not inlined, where results were 0 or 1.359, and authors from warnings."""
    runtime = core_library()
    for compiler in compilers():
        command = [compiler.path, "-std=c++20", "-Wall", "-Wextra", "-Werror", *flags.split()]
        command += [f"-I{INCLUDE}", str(_KERNELS), "-o", str(tmp_path / "flags")]
        run([*command, str(runtime), f"-Wl,-rpath,{runtime.parent}"])
        assert float(run([tmp_path / "flags"])) < 1e-6


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="registers of x86-64")
def test_only_native_vectors_by_value_are_warned_of(tmp_path: Path) -> None:
    """Protects authors who pass the compiler's own vectors of 32 bytes by value from crashes: the headers switch no
    warning off. The runtime's vectors and masks cause none.
    """
    source = tmp_path / "by_value.cpp"
    source.write_text(
        "#include <opgen/kernel.h>\n#include <opgen/cpu/vec_functions.h>\n"
        "using V = opgen::Vec<float>;\n"
        "V root(V x) { return select(~(x < V(0)), opgen::vec::exp2(x), x); }\n"
        "#ifdef NATIVE\n"
        "typedef float Native __attribute__((vector_size(32)));\n"
        "Native twice(Native x) { return x + x; } float first(float* x) { return twice(*(Native*)x)[0]; }\n"
        "#endif\n"
    )
    for compiler in compilers():
        command = [compiler.path, "-std=c++20", "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}"]
        command += ["-c", str(source), "-o", str(tmp_path / "by_value.o")]
        run(command)
        done = subprocess.run([*command, "-DNATIVE"], capture_output=True, text=True, check=False)
        found = re.findall(r"(\w+\.\w+):(\d+):.*psabi", done.stderr)
        assert {*found} == {("by_value.cpp", "7")}, done.stderr
