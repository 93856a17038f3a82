"""Common mistakes in kernels and in formulas, and the page docs/guides/compiler-errors.md with the compilers' output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from support.goldens import read

REPOSITORY = Path(__file__).resolve().parents[2]
FOLDER = REPOSITORY / "tests" / "integration" / "run" / "mistakes"
EXPECTED = FOLDER / "expected.txt"
PAGE = REPOSITORY / "docs" / "guides" / "compiler-errors.md"
UPDATE = (
    "OPGEN_UPDATE_GOLDEN=1 pytest -n0 -m 'slow or not slow' tests/integration/run/test_mistakes.py"
)
MAX_LINES = 12
COMPILERS = ("g++", "clang++")
TARGETS = ("runtime", "torch")
AUTHORS_FILE = "shift.cpp"
FORMULAS = "derivatives.yaml"

_TYPES = "using namespace opgen::types;\n\n"
_INCLUDES = f"#include <opgen/kernel.h>\n#include <mylib/NativeFunctions.h>\n\n{_TYPES}"
_SHIFT = "OPGEN_KERNEL(shift_cpu)(const Tensor& self, int64_t) { return self; }\n"


@dataclass(frozen=True)
class Mistake:
    """One mistake: a source that does not compile, and a pattern that the output must contain.

    `limits` has the combinations of target and compiler that print more than `MAX_LINES` lines, with the reason.
    """

    name: str
    title: str
    source: str
    names: str
    limits: Mapping[str, tuple[int, str]]

    def limit(self, target: str, compiler: str) -> int:
        return self.limits.get(f"{target} {compiler}", (MAX_LINES, ""))[0]


def _mistake(
    name: str, title: str, kernel: str, names: str, limits: dict[str, tuple[int, str]] | None = None
) -> Mistake:
    return Mistake(name, title, _INCLUDES + kernel, names, limits or {})


_SHIFT_CLASS = r"mylib::native::opgen_shift_cpu"
_CONSTRUCTORS = (19, "clang++ lists the five constructors of `at::Tensor`, which belong to PyTorch")
_OWN_CONSTRUCTORS = (14, "clang++ lists the four constructors of `opgen::Tensor`")

# A compiler reports these. The linker reports the ninth, a name defined in two files; a call reports the tenth, a meta
# function that sets no output.
MISTAKES = (
    _mistake(
        "parameter_type",
        "Wrong parameter type",
        "OPGEN_KERNEL(shift_cpu)(const Tensor& self, double) { return self; }\n",
        _SHIFT_CLASS,
    ),
    _mistake(
        "missing_const",
        "Missing const",
        "OPGEN_KERNEL(shift_cpu)(Tensor& self, int64_t) { return self; }\n",
        _SHIFT_CLASS,
    ),
    _mistake(
        "missing_parameter",
        "Missing parameter",
        "OPGEN_META_FUNC(scale)(const Tensor&) {}\n",
        r"(structured|opgen_meta)_scale",
    ),
    _mistake(
        "extra_parameter",
        "Extra parameter",
        "OPGEN_IMPL_FUNC(scale_out_cpu)(const Tensor&, const Scalar&, const Tensor&, bool) {}\n",
        r"mylib::native::structured_scale_out_cpu",
    ),
    _mistake(
        "wrong_return",
        "Wrong return",
        "OPGEN_KERNEL(shift_cpu)(const Tensor& self, int64_t) { return self.numel(); }\n",
        r"(opgen|at)::Tensor",
        {"torch clang++": _CONSTRUCTORS, "runtime clang++": _OWN_CONSTRUCTORS},
    ),
    _mistake(
        "handwritten_return_type",
        "Hand-written return type",
        f"opgen::Tensor {_SHIFT}",
        r"OPGEN_KERNEL\(shift_cpu\)",
    ),
    _mistake(
        "wrong_name",
        "Wrong name",
        "OPGEN_KERNEL(shift_cp)(const Tensor& self, int64_t) { return self; }\n",
        r"OPGEN_NativeFunctions_h_KERNEL_shift_cp\b",
    ),
    Mistake(
        "forgotten_include",
        "Forgotten include",
        f"#include <opgen/kernel.h>\n\n{_TYPES}{_SHIFT}",
        r"OPGEN_NativeFunctions_h_KERNEL_shift_cpu",
        {},
    ),
    _mistake(
        "int_for_int64_t",
        "`int` for `int64_t`",
        "OPGEN_KERNEL(shift_cpu)(const Tensor& self, int) { return self; }\n",
        _SHIFT_CLASS,
    ),
    _mistake("defined_twice", "Defined twice in a file", _SHIFT * 2, r"shift_cpu"),
)


def _formula(name: str, title: str, formula: str, names: str) -> Mistake:
    text = f"- namespace: mylib\n\n- name: scale\n  self: {formula}\n  result: auto_linear\n"
    return Mistake(name, title, text, names, {})


# Files of formulas; what is compiled is the source that is generated from each.
MISTAKES_IN_FORMULAS = (
    _formula("wrong_formula", "Wrong formula", "grad.times(factor)", r"(opgen|at)::Tensor"),
    _formula(
        "formula_of_wrong_type",
        "Formula of the wrong type",
        "grad.numel()",
        r"opgen::autograd::GivenTensor<",
    ),
)
# `scale` has a wrong formula in the second of two files with the same name.
FORMULAS_IN_TWO_FILES = {
    "kernels/derivatives.yaml": "- name: mylib::shift\n  self: grad\n",
    "structured/derivatives.yaml": MISTAKES_IN_FORMULAS[0].source,
}

# Defines `shift_cpu`; compiled as two files that are linked together.
DEFINED_IN_TWO_FILES = _INCLUDES + _SHIFT
# The meta function of `scale` returns without setting its output.
NO_SET_OUTPUT = (
    f"{_INCLUDES}#include <mylib/Functions.h>\n\n#include <cstdio>\n\n"
    "OPGEN_META_FUNC(scale)(const Tensor&, const Scalar&) {}\n"
    "OPGEN_IMPL_FUNC(scale_out_cpu)(const Tensor&, const Scalar&, const Tensor&) {}\n\n"
    "int main() {\n"
    "  try {\n"
    "    mylib::scale(opgen::empty({2}, opgen::TensorOptions()), 2);\n"
    "  } catch (const opgen::Error& error) {\n"
    '    std::printf("%s\\n", error.what());\n'
    "  }\n"
    "}\n"
)


def recorded(target: str, compiler: str) -> dict[str, str]:
    """Return the recorded output of a compiler by the name of the mistake."""
    of = f"{target}-{compiler}/"
    return {
        name.removeprefix(of): said for name, said in read(EXPECTED).items() if name.startswith(of)
    }


def lines(text: str) -> int:
    return len(text.splitlines())


def page() -> str:
    """Return the text of docs/guides/compiler-errors.md."""
    every = {(t, c): recorded(t, c) for t in TARGETS for c in COMPILERS}
    versions = " and ".join(f"{c} {every['runtime', c]['version'].strip()}" for c in COMPILERS)
    parts = [
        "# Compiler errors of kernels and formulas\n",
        "This page shows the output of g++ and clang++ for twelve common mistakes in kernels, and two in formulas. Each"
        f" output has at\nmost {MAX_LINES} lines, except where the text below the table explains why not. The first error"
        " is at the line of the\nkernel or of the formula, and names the declaration or the missing header.\n",
        f"The compilers are {versions}. The table counts all lines that a compiler prints, including its summary. If a name"
        " is wrong, or\na header is not included, `opgen build` and builds with CMake report it first, with the name or the"
        " header to write; so does\n`opgen lint --kernels`.\n",
        "| mistake | " + " | ".join(f"{t}, {c}" for t in TARGETS for c in COMPILERS) + " |",
        "|---|" + "---|" * len(every),
    ]
    for mistake in MISTAKES:
        counts = [str(lines(outputs[mistake.name])) for outputs in every.values()]
        parts.append(f"| {mistake.title} | {' | '.join(counts)} |")
    linker = [str(lines(every["runtime", c]["two_files"])) for c in COMPILERS]
    parts.append(f"| Defined twice, in two files (linker) | {' | '.join(linker)} | – | – |")
    parts.append("| No `set_output` (when it is called) | 2 | 2 | 1 | 1 |")
    for mistake in MISTAKES_IN_FORMULAS:
        counts = [str(lines(outputs[mistake.name])) for outputs in every.values()]
        parts.append(f"| {mistake.title} | {' | '.join(counts)} |")
    parts.append("")
    for mistake in MISTAKES:
        for where, (count, reason) in mistake.limits.items():
            parts.append(f"{mistake.title} takes {count} lines with {where}: {reason}.\n")
    parts += [
        "How opgen shortens the errors: the macros are in system headers, so g++ reports an error in a macro at the line"
        " that uses it.\nThe kernel's name is the name of the defined function. A name that no header declares becomes\n"
        "`OPGEN_<header>_<macro>_<name>`, and clang++ prints the comment at the end of the macro. `opgen stub` prints"
        " correct\ndefinitions.\n",
        "The sources contain `using namespace opgen::types`, as in packages from `opgen new`. Without it, clang++ prints 7"
        " more lines\nabout the unknown name `Tensor` if the class of the kernel is not declared (wrong name, forgotten"
        " include).\n",
    ]
    for mistake in MISTAKES:
        parts.append(f"## {mistake.title}\n\n```cpp\n{mistake.source.strip()}\n```\n")
        for compiler in COMPILERS:
            parts.append(f"{compiler}:\n\n```text\n{every['runtime', compiler][mistake.name]}```\n")
    parts.append(
        "## Defined twice, in two files\n\nThe linker names the function and both files.\n"
    )
    for compiler in COMPILERS:
        parts.append(f"{compiler}:\n\n```text\n{every['runtime', compiler]['two_files']}```\n")
    parts.append(
        "## No `set_output`\n\nA meta function that returns without setting an output compiles; the call fails:\n\n"
        f"```text\n{every['runtime', 'g++']['no_set_output']}```\n"
    )
    for mistake in MISTAKES_IN_FORMULAS:
        text = mistake.source.strip()
        parts.append(f'## {mistake.title}\n\n```yaml title="{FORMULAS}"\n{text}\n```\n')
        for compiler in COMPILERS:
            parts.append(f"{compiler}:\n\n```text\n{every['runtime', compiler][mistake.name]}```\n")
    parts.append(
        "The error is in `derivatives.yaml`, where the formula begins. If there are several files of formulas, the compilers"
        " name each by\nits path from the folder that contains all of them, such as `nn/derivatives.yaml`."
    )
    return "\n".join(parts) + "\n"
