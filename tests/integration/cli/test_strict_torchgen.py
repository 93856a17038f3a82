"""`--strict-torchgen`: every command that reads operators rejects opgen's extension of the language."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import Opgen

EXTENDED = """\
- func: painted(Tensor self, Scalar value) -> Tensor
  structured: True
  dispatch:
    CPU: painted_cpu
"""

COMMANDS = (
    ("lint", "extended.yaml"),
    ("generate", "extended.yaml", "-o", "out"),
    ("check", "extended.yaml", "-o", "out"),
    ("build", "extended.yaml", "-o", "built"),
    ("dump", "extended.yaml"),
    ("explain", "painted", "extended.yaml"),
    ("stub", "painted", "extended.yaml"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_it_is_rejected_at_its_position(opgen: Opgen, command: tuple[str, ...]) -> None:
    Path("extended.yaml").write_text(EXTENDED)
    result = opgen(*command, "--strict-torchgen")
    assert result.exit_code == 1
    assert "error[E0241]: 'painted' is not an out variant" in result.stderr
    assert "extended.yaml:2:3" in result.stderr and "run without --strict-torchgen" in result.stderr
    assert not Path("out").exists() and not Path("built").exists()


@pytest.mark.parametrize("command", [c for c in COMMANDS if c[0] != "build"], ids=lambda c: c[0])
def test_it_is_accepted_without_the_option(opgen: Opgen, command: tuple[str, ...]) -> None:
    Path("extended.yaml").write_text(EXTENDED)
    if command[0] == "check":
        assert opgen("generate", *command[1:]).exit_code == 0
    result = opgen(*command)
    assert result.exit_code == 0, result.stderr


def test_target_torch_is_always_strict(opgen: Opgen) -> None:
    """That target has no class templates that make views."""
    Path("extended.yaml").write_text(EXTENDED)
    result = opgen("lint", "extended.yaml", "--target", "torch")
    assert result.exit_code == 1 and "error[E0241]" in result.stderr


def test_files_valid_for_torchgen_are_accepted(opgen: Opgen) -> None:
    assert opgen("lint", "good.yaml", "--strict-torchgen").exit_code == 0


def test_explain_mentions_the_views_made_by_meta(opgen: Opgen) -> None:
    Path("extended.yaml").write_text(EXTENDED)
    text = opgen("explain", "painted", "extended.yaml").stdout
    assert "(structured without an out variant: meta makes new tensors)" in text
    assert "opgen::Functional<opgen::DispatchKey::CPU, at::native::structured_painted_cpu" in text
    assert "OPGEN_META_FUNC(painted)(const Tensor& self, const Scalar& value)" in text
    assert (
        "OPGEN_IMPL_FUNC(painted_cpu)(const Tensor& self, const Scalar& value, const Tensor& out)"
        in text
    )
