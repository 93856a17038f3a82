"""The errors of the mathematical functions of vectors, measured against <cmath> in double for random numbers and for
special ones: infinities, NaN, zeros with signs, subnormal numbers, the ends of the ranges.
"""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from support.build import INCLUDE, compilers, run

_NUMBERS = 1_000_000
_SOURCE = Path(__file__).parent / "vec_math" / "errors.cpp"
# The largest errors in units in the last place. PyTorch's are in benchmarks/RESULTS.md.
_ALLOWED = {
    **dict.fromkeys(("exp", "log", "log1p", "tanh", "erf", "sin", "cos", "atan", "pow"), 1.0),
    **dict.fromkeys(("exp2", "expm1", "trigamma", "digamma"), 1.0),
    **dict.fromkeys(("log2", "log10", "sinh", "cosh", "asin", "acos", "atanh"), 0.52),
    **dict.fromkeys(("atan2", "hypot", "erfinv", "log_add_exp", "log_add_exp2", "tan"), 0.52),
    **dict.fromkeys(("bessel_i0", "bessel_i1", "lgamma", "sinc", "xlogy"), 0.52),
    "erfc": 0.7,
    "fmod": 0.0,
    "softplus": 1.6,
    "mish": 4.0,
    # In units of a float; a half type has 13 or 16 bits less.
    "sin_of_half": 2.1,
    "cos_of_half": 2.1,
    "remainder": 0.5,
    "sigmoid": 2.5,
    "silu": 2.5,
    # PyTorch's: 8.1 for positive numbers, and all digits for negative ones.
    "gelu": 8.0,
    "divide_floor": 0.0,
    # Quotients of 2^22 or more: PyTorch's.
    "divide_floor_of_large": 2.0,
    "exp_of_doubles": 1.01,
}
# Without fused multiply-add, products are rounded.
_WITHOUT_FMA = {"tanh": 1.15, "erf": 1.2, "expm1": 1.1}


def _measured(tmp_path: Path, compiler: str, *flags: str) -> dict[str, float]:
    program = tmp_path / "errors"
    command = [
        compiler,
        "-std=c++20",
        "-O3",
        "-fno-math-errno",
        *flags,
        f"-I{INCLUDE}",
        _SOURCE,
        "-o",
        program,
    ]
    run(command)
    worst: dict[str, float] = {}
    for line in run([program, str(_NUMBERS)]).splitlines():
        name, error, wrong, _ = line.split()
        assert wrong == "0", f"{name}: {wrong} results have another sign or are not numbers"
        worst[name] = max(worst.get(name, 0.0), float(error))
    assert set(worst) == set(_ALLOWED)
    return worst


@pytest.mark.slow
def test_functions_of_vectors_are_accurate(tmp_path: Path) -> None:
    """Protects the accuracy that vec_math.h promises, for a million numbers for each function."""
    for compiler in compilers():
        variants = [("-DBASELINE",)]
        flags = Path("/proc/cpuinfo").read_text() if platform.system() == "Linux" else ""
        if platform.machine() == "x86_64" and " fma " in flags:
            variants.append(())
        for variant in variants:
            allowed = {**_ALLOWED, **(_WITHOUT_FMA if variant else {})}
            worst = _measured(tmp_path, compiler.path, *variant)
            larger = {name: error for name, error in worst.items() if error > allowed[name]}
            assert not larger, f"{compiler.name} {variant}: {larger} units off"
