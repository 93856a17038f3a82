"""What a package for PyTorch has of the author's own Python code."""

from __future__ import annotations

from pathlib import Path

from support.author_python import build_package, start_package

EXPORTS = (
    "\n# Your own Python code: the package exports the names in its __all__.\nfrom .ops import *\n"
)


def test_the_stub_has_the_names_of_ops(tmp_path: Path) -> None:
    """Protects users of `from mylib import Lion`: the stub of a package exports what its __init__.py does, in every
    build after an edit, and nothing of a module that the author does not have.
    """
    own = start_package(tmp_path)
    generated = (tmp_path / "tree/python/mylib/__init__.pyi").read_text()
    stub = build_package(tmp_path) / "mylib" / "__init__.pyi"
    assert stub.read_text() == generated
    for text, expected in (
        ('import math\n\n__all__ = ["Lion"]\n\n\nclass Lion: ...\n', generated + EXPORTS),
        ("import math  # Without an __all__, it exports nothing.\n", generated),
    ):
        (own / "ops.py").write_text(text)
        build_package(tmp_path)
        assert stub.read_text() == expected
