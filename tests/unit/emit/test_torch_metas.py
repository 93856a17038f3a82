"""The classes of meta functions for target torch: which types may be symbolic, and the text that an author writes."""

from __future__ import annotations

from pathlib import Path

from opgen.diagnostics import Diagnostics
from opgen.pipeline.generating import build_tree
from support.inputs import aten_inputs

ENTRIES = """
- func: my::f(Tensor self, Tensor? t, Tensor[] ts, int a, int[] b, int[]? c, SymInt d, SymInt? e, SymInt[] g, SymInt[]? h) -> Tensor
  structured_delegate: f.out
- func: my::f.out(Tensor self, Tensor? t, Tensor[] ts, int a, int[] b, int[]? c, SymInt d, SymInt? e, SymInt[] g, SymInt[]? h, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: {base}
  {precomputed}
  dispatch:
    CPU: f_out
"""


def made(folder: Path, base: str, precomputed: str = "") -> dict[str, str]:
    source = folder / "my.yaml"
    source.write_text(ENTRIES.format(base=base, precomputed=precomputed))
    tree = build_tree(aten_inputs((source,), target="torch"), Diagnostics())
    assert tree is not None
    return dict(tree.files)


def test_numbers_and_possible_symbols_are_distinguished(tmp_path: Path) -> None:
    """Protects the text that authors write: `int` stays a number, `SymInt` becomes `Int`, and lists of the two differ."""
    header = made(tmp_path, "TensorIteratorBase")["include/my/ops/f_meta.h"]
    assert "struct opgen_meta_f : opgen_Sizes::TensorIteratorBase {" in header
    assert (
        "void meta(const Tensor& self, OptionalTensorRef t, const ITensorListRef& ts, int64_t a,"
        " ArrayRef<int64_t> b, OptionalIntArrayRef c, Int d, ::std::optional<Int> e, IntArrayRef g,"
        " ::std::optional<IntArrayRef> h);" in " ".join(header.split())
    )


def test_both_bodies_have_a_stub(tmp_path: Path) -> None:
    """Protects linking before a meta function is written: each of the two stubs shows the text to write."""
    stubs = made(tmp_path, "TensorIteratorBase", "precomputed: [a -> int z]")["stubs/MetaStubs.cpp"]
    assert "OPGEN_STUB structured_f::meta_return_ty structured_f::meta(" in stubs
    assert "OPGEN_STUB opgen_symbolic_f::meta_return_ty opgen_symbolic_f::meta(" in stubs
    assert stubs.count("OPGEN_PRECOMPUTE_META_FUNC(f)(const Tensor& self") == 1
    assert stubs.count("opgen::throw_missing_kernel(opgen_missing_Meta_f);") == 2


def test_a_base_of_the_authors_has_one_body(tmp_path: Path) -> None:
    """Protects base classes that know sizes only as numbers: generated classes derive from them directly."""
    files = made(tmp_path, "MineBase")
    header = files["include/my/ops/f_meta.h"]
    assert "struct structured_f : MineBase {" in header and "opgen_Sizes" not in header
    assert "opgen_symbolic" not in files["stubs/MetaStubs.cpp"]
