"""The pages as a site: .ci/site/conf.py adapts their text, and a strict build accepts them."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from support.build import REPOSITORY

DOCS = REPOSITORY / "docs"
NAMES = sorted(path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md"))


@pytest.fixture(scope="module")
def conf() -> ModuleType:
    spec = importlib.util.spec_from_file_location("conf", REPOSITORY / ".ci/site/conf.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read(conf: ModuleType, name: str, text: str) -> str:
    """Return the text that the site is made from."""
    source = [text]
    conf._read(None, name, source)
    return source[0]


def test_every_page_is_found(conf: ModuleType) -> None:
    """Protects a reader who looks for a page: each has its place in the navigation."""
    placed = ["index"]
    for name in NAMES:
        text = read(conf, name, (DOCS / f"{name}.md").read_text(encoding="utf-8"))
        for toctree in text.split("```{toctree}")[1:]:
            lines = toctree.partition("```")[0].splitlines()
            placed += [line.removeprefix("/") for line in lines if line.startswith("/")]
    assert sorted(placed) == NAMES


def test_links_to_files_outside(conf: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects readers of the site from links to files that it does not have."""
    text = "See [the example](../../examples/myadd), `[a](b)` and [keys](../reference/keys.md#an-entry).\n"
    expected = (
        "See the example (`examples/myadd`), `[a](b)` and [keys](../reference/keys.md#an-entry).\n"
    )
    assert read(conf, "guides/debugging", text) == expected
    monkeypatch.setattr(conf, "_FILES", "https://example.org/main")
    linked = expected.replace(
        "the example (`examples/myadd`)", "[the example](https://example.org/main/examples/myadd)"
    )
    assert read(conf, "guides/debugging", text) == linked


def test_titles_of_blocks(conf: ModuleType) -> None:
    """Protects the names of the files that a reader copies."""
    text = '```cpp title="kernels/gamma.cpp"\nint x;\n```\n'
    shown = "```{code-block} cpp\n:caption: kernels/gamma.cpp\n\nint x;\n```\n"
    assert read(conf, "guides/debugging", text) == shown


@pytest.mark.slow
def test_a_strict_build(tmp_path: Path) -> None:
    """Protects the step of .ci/run: it fails for links and anchors that are dead. And protects readers without a network:
    the site gets nothing from another server.
    """
    pytest.importorskip("sphinx")
    pytest.importorskip("furo")
    docs = tmp_path / "docs"
    shutil.copytree(DOCS, docs)
    shutil.copytree(REPOSITORY / ".ci/site", tmp_path / ".ci/site")
    for path in REPOSITORY.iterdir():
        if path.name not in ("docs", ".ci"):
            (tmp_path / path.name).symlink_to(path)
    with (docs / "index.md").open("a", encoding="utf-8") as page:
        page.write("\n[x](guides/no.md)\n\n[x](#no-title)\n\n[x](reference/keys.md#no-key)\n")
    options = ["-q", "-W", "--keep-going", "-c", tmp_path / ".ci/site"]
    command = [sys.executable, "-m", "sphinx", *options, docs, tmp_path / "site"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    found = [line for line in done.stderr.splitlines() if "[myst." in line]
    for dead in ("guides/no.md", "no-title", "no-key"):
        assert any(dead in line and "not found" in line for line in found), done.stderr
    assert len(found) == 3, done.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) > len(NAMES)
    for page in pages:
        gets = re.findall(
            r"<(?!a\b)\w[^>]*\b(?:src|href)=\"(?:https?:)?//[^>]*>", page.read_text("utf-8")
        )
        assert gets == [], page.name
    for style in (tmp_path / "site").rglob("*.css"):
        assert not re.search(
            r"(?:url\(|@import )[\"']?(?:https?:)?//", style.read_text("utf-8")
        ), style.name
    scripts = {
        s for p in pages for s in re.findall(r'<script[^>]* src="([^"]*)"', p.read_text("utf-8"))
    }
    assert all("_static/" in script or "searchindex" in script for script in scripts), scripts
