"""`opgen select`: from files that name operators to the list that `--select` reads."""

from __future__ import annotations

from pathlib import Path

from cli_support import Opgen

YAML = """\
- func: scaled.Tensor(Tensor self, Tensor by) -> Tensor
  dispatch:
    CPU: scaled_cpu
  autogen: scaled.Tensor_out

- func: scaled.Scalar(Tensor self, Scalar by) -> Tensor
  dispatch:
    CPU: scaled_scalar_cpu

- func: neg(Tensor self) -> Tensor
  dispatch:
    CPU: neg_cpu

- func: neg.twice(Tensor self, int times) -> Tensor
  dispatch:
    CPU: neg_twice_cpu
"""


def select(opgen: Opgen, *given: str) -> list[str]:
    """Return the names in the list; those that are not called from outside end in `?`."""
    Path("ops.yaml").write_text(YAML)
    result = opgen("select", "ops.yaml", *given)
    assert result.exit_code == 0, result.output
    text = result.stdout.replace(":\n    is_root_operator: False\n", "?\n")
    assert text.count("include_all_overloads: False") == text.count("  aten::")
    return [line.strip().rstrip(":") for line in text.splitlines() if "aten::" in line]


def test_a_trace_and_registrations(opgen: Opgen) -> None:
    """Protects the choice of overloads: all of them for a profile, one for a registration."""
    Path("trace.json").write_text('{"traceEvents": [{"name": "aten::neg"}]}')
    assert select(opgen, "--from-trace", "trace.json") == ["aten::neg", "aten::neg.twice"]
    Path("xla.cpp").write_text('TORCH_LIBRARY_IMPL(aten, XLA, m) { m.impl("neg", f); }')
    assert select(opgen, "--from-registrations", "xla.cpp") == ["aten::neg"]
    both = ("--from-registrations", "xla.cpp", "scaled.Scalar")
    assert select(opgen, *both) == ["aten::neg", "aten::scaled.Scalar"]


def test_callees_of_generated_kernels_are_kept(opgen: Opgen) -> None:
    """Protects generated variants: without the operators that they call, they would only throw."""
    assert select(opgen, "scaled.Tensor_out") == ["aten::scaled.Tensor?", "aten::scaled.Tensor_out"]


def test_the_list_selects_itself(opgen: Opgen) -> None:
    """The printed list is valid input for --select, and can be combined with another selection."""
    names = select(opgen, "neg.twice", "scaled.Tensor")
    Path("few.yaml").write_text(opgen("select", "ops.yaml", "neg.twice", "scaled.Tensor").stdout)
    assert select(opgen, "--select", "few.yaml") == names
    assert select(opgen, "--select", "few.yaml", "scaled.Scalar") == sorted(
        [*names, "aten::scaled.Scalar"]
    )
    dumped = opgen("dump", "ops.yaml", "--select", "few.yaml", "--stage", "registrations").stdout
    Path("list.json").write_text(dumped)
    assert select(opgen, "--from-registrations", "list.json") == names


def test_missing_names(opgen: Opgen) -> None:
    """Protects the position in the trace; names in namespaces of other libraries are not looked up."""
    Path("ops.yaml").write_text(YAML)
    Path("trace").write_text("aten::nag(x)\nprims::add(x)\n")
    result = opgen("select", "ops.yaml", "--from-trace", "trace")
    assert result.exit_code == 0 and result.stdout.endswith("operators: {}\n")
    assert "warning[W1842]: there is no operator 'aten::nag'" in result.stderr
    assert "trace:1:1" in result.stderr and "did you mean 'aten::neg'?" in result.stderr
    assert "prims" not in result.stderr
    assert opgen("select", "ops.yaml", "nag").exit_code == 1
    assert opgen("select", "ops.yaml", "--from-trace", "none").exit_code == 1
    nothing = opgen("select", "ops.yaml")
    assert (
        nothing.exit_code == 2
        and "name operators, or a file that names operators" in nothing.stderr
    )
