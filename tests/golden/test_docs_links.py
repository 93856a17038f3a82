"""Every relative link in the pages at the top, docs, benchmarks and examples names a file, and an anchor that exists."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from support.build import REPOSITORY

PAGES = sorted(
    path.relative_to(REPOSITORY)
    for pattern in ("*.md", "docs/**/*.md", "benchmarks/*.md", "examples/*/README.md")
    for path in REPOSITORY.glob(pattern)
)
# Links and images; a link may wrap onto a second line inside its text, not inside its target.
_LINK = re.compile(r"\]\(([^)\s]+)\)")
# A page that a source names, and the kinds of files that may name one.
_PAGE = re.compile(r"(?<![\w/.-])docs/[\w/-]+\.(?:md|svg)\b")
_SOURCES = {".py", ".h", ".cpp", ".cmake", ".j2", ".md", ".yaml", ".yml", ".toml"}
_FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)


def anchor(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


@cache
def anchors(path: Path) -> frozenset[str]:
    text = _FENCE.sub("", path.read_text(encoding="utf-8"))
    found: dict[str, int] = {}
    names = []
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        name = anchor(heading)
        count = found.setdefault(name, 0)
        found[name] += 1
        names.append(f"{name}-{count}" if count else name)
    return frozenset(names)


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_resolve(page: Path) -> None:
    """Protects readers from dead links when files move or headings change."""
    path = REPOSITORY / page
    text = re.sub(r"`[^`\n]*`", "", _FENCE.sub("", path.read_text(encoding="utf-8")))
    dead = []
    for link in _LINK.findall(text):
        if "://" in link or link.startswith("mailto:"):
            continue
        name, _, fragment = link.partition("#")
        target = path.parent / name if name else path
        exists = target.exists() and target.resolve().is_relative_to(REPOSITORY)
        if not exists or (fragment and fragment not in anchors(target)):
            dead.append(link)
    assert dead == []


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_a_label_names_the_page(page: Path) -> None:
    """Protects readers from a link that shows the former name of a page."""
    text = _FENCE.sub("", (REPOSITORY / page).read_text(encoding="utf-8"))
    links = re.findall(r"\[`?([\w./-]+\.md)`?\]\(([^)\s#]+)", text)
    wrong = [(label, target) for label, target in links if Path(label).name != Path(target).name]
    assert wrong == []


def test_opgen_is_installed_from_a_checkout_or_a_wheel() -> None:
    """Protects users from a command that fails, or installs another package: opgen is on no package index."""
    promise = re.compile(r"pip install [^`\n#]*(?<![\w/.-])opgen(?![\w/.*-])")
    found = [
        f"{name}: {line}"
        for name in _tracked()
        if Path(name).suffix in _SOURCES and name != "tests/golden/test_docs_links.py"
        for line in promise.findall((REPOSITORY / name).read_text("utf-8", errors="replace"))
    ]
    assert found == []


def _tracked() -> list[str]:
    """Return the paths of all files that git has, and that exist."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    return [name for name in listed.stdout.split("\0") if (REPOSITORY / name).is_file()]


def test_sources_name_pages_that_exist() -> None:
    """Protects users from messages, help texts and comments that send them to a page that has moved."""
    dead = []
    for name in _tracked():
        path = REPOSITORY / name
        if path.suffix not in _SOURCES:
            continue
        for page in _PAGE.findall(path.read_text(encoding="utf-8", errors="replace")):
            if not (REPOSITORY / page).exists():
                dead.append(f"{name}: {page}")
    assert dead == []
