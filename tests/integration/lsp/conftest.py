"""One server for the tests of a module; some tests start their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls", reason="opgen[lsp] is not installed")

from lsp_session import TAGS, Session, Start

KERNELS = """\
OPGEN_META_FUNC(add)(const Tensor& self, const Tensor& other) {}
OPGEN_IMPL_FUNC(add_out_cpu)(const Tensor&, const Tensor&, const Tensor&) {}
  OPGEN_KERNEL(neg_cpu)(const Tensor& self) { return self; }
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A server in a folder with a tags.yaml and kernels; it reacts to changes without a long delay."""
    root = tmp_path_factory.mktemp("workspace")
    (root / "tags.yaml").write_text(TAGS)
    (root / "kernels").mkdir()
    (root / "kernels" / "arithmetic.cpp").write_text(KERNELS)
    session = Session(root, {"delay": 10})
    yield session
    assert session.end() == 0


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start servers in the folder of the test; each must exit with code 0."""
    started = []

    def begin(
        options: Any = None, encodings: list[str] | None = None, configuration: Any = None
    ) -> Session:
        options = {"delay": 10} if options is None else options
        started.append(Session(tmp_path, options, encodings, configuration))
        return started[-1]

    yield begin
    for session in started:
        assert session.end() == 0
