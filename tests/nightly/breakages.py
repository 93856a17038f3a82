"""Defects that somebody could make: one replacement in a file each, and the tests that must notice it.

`old` stands once in the file. The tests run by default or as slow tests of .ci/run.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Breakage:
    """Replace `old` in `file` by `new`; one of `tests` (arguments of pytest) must fail."""

    what: str
    file: str
    old: str
    new: str
    tests: str


BREAKAGES = (
    # The generator.
    Breakage(
        "a row of a dispatch table under a wrong key",
        "src/opgen/resolve/dispatch_tables.py",
        "elif key is DispatchKey.CompositeExplicitAutogradNonFunctional:",
        "elif key is DispatchKey.CompositeExplicitAutograd:",
        "tests/golden/test_golden.py",
    ),
    Breakage(
        "a diagnostic on the next line",
        "src/opgen/diagnostics/__init__.py",
        "line = bisect_right(starts, offset)",
        "line = min(bisect_right(starts, offset) + 1, len(starts))",
        "tests/golden/errors",
    ),
    Breakage(
        "in-place operators that functionalization does not replace",
        "src/opgen/emit/torch/functionalize.py",
        "for f in group.functions():",
        "for f in group.functions()[:1]:",
        "tests/golden/test_golden.py",
    ),
    Breakage(
        "a changed default that `opgen compat` does not report",
        "src/opgen/compat/schema_rules.py",
        "    yield from _compare_defaults(versions, old, new)\n",
        "",
        "tests/unit/compat",
    ),
    Breakage(
        "positions in the editor that count characters, not UTF-16",
        "src/opgen/lsp/protocol.py",
        '("utf-16-le", 2)',
        '("utf-32-le", 4)',
        "tests/integration/lsp/test_any_text.py tests/integration/lsp/test_problems.py",
    ),
    Breakage(
        "`opgen check` that finds differences and exits with 0",
        "src/opgen/cli/check.py",
        "    raise SystemExit(1)\n",
        "",
        "tests/integration/cli/test_check.py",
    ),
    Breakage(
        "a file of the user's that is overwritten",
        "src/opgen/io/writer.py",
        "if exists and path not in own and path != MANIFEST:",
        "if False:",
        "tests/unit/test_writer.py tests/integration/cli/test_in_the_way.py",
    ),
    Breakage(
        "files that are written again although nothing changed",
        "src/opgen/io/writer.py",
        "if content == contents[path]}",
        "if content == b''}",
        "tests/unit/test_writer.py tests/integration/cli/test_generate.py",
    ),
    # The cache of compiled parts.
    Breakage(
        "a compiled part that is taken for other flags",
        "runtime/cmake/opgenCache.cmake",
        'set(lines "${flags}")',
        'set(lines "")',
        "-m slow tests/integration/run/test_compiled_parts.py",
    ),
    # The runtime.
    Breakage(
        "an out argument of a wrong dtype that is accepted",
        "runtime/src/structured/output_sinks.cpp",
        'OPGEN_CHECK(out.scalar_type() == options.dtype(), "expected an out= tensor of dtype ",',
        'OPGEN_CHECK(out.defined(), "expected an out= tensor of dtype ",',
        "tests/differential/numerics/test_bad_arguments.py tests/integration/run/test_run.py",
    ),
    Breakage(
        "a byte and a signed byte that are promoted to int",
        "runtime/src/tensor/promotion.cpp",
        "return kShort;",
        "return kInt;",
        "tests/differential/numerics/test_operators.py",
    ),
    Breakage(
        "an in-place call on a tensor whose elements overlap",
        "runtime/src/tensor/memory_overlap.cpp",
        "if (strides[i] == 0 && sizes[i] > 1) return MemOverlap::Yes;",
        "if (strides[i] == 0 && sizes[i] > 1) return MemOverlap::TooHard;",
        "-m slow tests/integration/compile/test_runtime_tests.py",
    ),
    Breakage(
        "a write that does not change the version of a tensor",
        "runtime/src/autograd/inplace_or_view.cpp",
        "  tensor.bump_version();\n",
        "",
        "-m slow tests/integration/compile/test_runtime_tests.py",
    ),
    Breakage(
        "threads whose pieces overlap by an element: a data race",
        "runtime/src/core/parallel.cpp",
        "std::int64_t last = first + length < end ? first + length : end;",
        "std::int64_t last = first + length < end ? first + length + 1 : end;",
        "-m slow tests/integration/compile/test_runtime_tests.py",
    ),
    Breakage(
        "a DLPack tensor without strides that is read as a column",
        "runtime/python/src/dlpack.cpp",
        "to.strides.push_back(stride < 0 ? 1 : stride);",
        "to.strides.push_back(1);",
        "-m slow --whole tests/integration/run/test_dlpack.py",
    ),
    # The operators.
    Breakage(
        "a kernel that computes another function",
        "kernels/pointwise_unary.cpp",
        "OPGEN_UNARY_FLOAT(exp, map_floating_or_complex, OPGEN_STD(exp), vectors::exp())",
        "OPGEN_UNARY_FLOAT(exp, map_floating_or_complex, OPGEN_STD(exp), vectors::exp2())",
        "tests/differential/numerics/test_operators.py",
    ),
    Breakage(
        "the formula of a gradient without the conjugate",
        "derivatives.yaml",
        "  self: grad * other.conj()\n  other: grad * self.conj()\n  result: product(self_t, other_p) + product(other_t, self_p)\n",
        "  self: grad * other\n  other: grad * self.conj()\n  result: product(self_t, other_p) + product(other_t, self_p)\n",
        "-m slow --whole tests/differential/numerics/test_gradients.py -k mul.Tensor",
    ),
    Breakage(
        "an operator that is left out of the library",
        "native_functions.yaml",
        "- func: relu_(Tensor(a!) self) -> Tensor(a!)",
        "- func: relu_other_(Tensor(a!) self) -> Tensor(a!)",
        "tests/differential/numerics/test_operators.py tests/differential/parity",
    ),
    # The other commands.
    Breakage(
        "bytes behind an argument that `opgen verify` does not watch",
        "src/opgen/verify/properties/memory.py",
        "        if changes.beyond is not None:",
        "        if changes.beyond is None and how is None:",
        "-m slow tests/integration/verify/test_seeded_defects.py",
    ),
    Breakage(
        "a comment below a key that `opgen format` takes for the next key's",
        "src/opgen/edits.py",
        'if source.text[blank.end()] != "#" or blank.end() - line.start <= len(margin):',
        'if source.text[blank.end()] != "#" or blank.end() - line.start < len(margin):',
        "tests/unit/edits",
    ),
)
