"""What other frameworks can call, and the words for what they cannot."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from opgen.cli.main import main


@pytest.fixture
def reported(tmp_path: Path) -> str:
    """Return what a library prints that asks for TVM-FFI without a Python package."""
    yaml = tmp_path / "native_functions.yaml"
    yaml.write_text(
        "- func: one::drawn(Tensor x, Stream s) -> Tensor\n"
        "- func: one::shuffled(Tensor x, Generator? g=None) -> Tensor\n"
        "- func: one::view(Tensor(a) x, Device d, int[2] s) -> Tensor(a)\n"
        "- func: one::state(Tensor x) -> Generator?\n"
        "- func: two::view(Tensor(a) x) -> Tensor(a)\n"
    )
    command = ["generate", str(yaml), "-o", str(tmp_path / "tree"), "--name", "one"]
    result = CliRunner().invoke(main, [*command, "--frameworks", "tvm-ffi"])
    return result.output + (tmp_path / "tree/frameworks/tvm_ffi.cpp").read_text()


def test_tvm_ffi_refuses_what_it_has_no_values_for(reported: str) -> None:
    """Protects the reasons in the warning and at the call, and operators whose such arguments have defaults."""
    assert "TVM-FFI cannot call 'drawn': it needs an argument of type Stream" in reported
    assert 'OPGEN_TVM_FFI("one", drawn, "", ' in reported
    assert "TVM-FFI cannot call 'state': it returns a value of type Generator?" in reported
    assert 'OPGEN_TVM_FFI("one", shuffled, "one::shuffled",' in reported
    assert (
        "TVM-FFI cannot call 'view': an operator of namespace 'one' has the same name" in reported
    )
    assert 'OPGEN_TVM_FFI("one", view, "one::view",' in reported
    assert reported.count("W1040]") == 3
