"""Build the pages as a site: `sphinx-build -W --keep-going -c .ci/site docs build/site`.

The pages are Markdown that also reads well in a repository browser, so nothing in them is specific to Sphinx. What
the site needs beyond them is made here: its navigation, from the headings and links of index.md; the titles of blocks;
and links to files outside of docs.
"""

from __future__ import annotations

import os
import posixpath
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))

_REPOSITORY = Path(__file__).resolve().parents[2]
_DOCS = _REPOSITORY / "docs"
# Where a browser finds the repository's files, for example https://example.org/opgen/blob/main. Without it, the site
# shows their paths.
_FILES = os.environ.get("OPGEN_REPOSITORY_URL", "").rstrip("/")

project = "opgen"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
html_theme = "furo"
html_title = "opgen"
html_show_copyright = False
smartquotes = False  # `--option` stays two hyphens
myst_heading_anchors = 4  # an anchor for each heading, spelled as in a repository browser
myst_heading_slug_func = "anchors.slug"
# An entry of diagnostics.md may start at a deeper level; excerpts of C++ contain "…".
suppress_warnings = ["myst.header", "misc.highlighting_failure"]

_TITLE_OF_CODE = re.compile(r"^### ([EW]\d{4})\n\n\*\*(.*?)\.?\*\*$", re.MULTILINE)
_FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
_TITLED = re.compile(r'^(```+)(\w+) title="([^"]*)"$', re.MULTILINE)
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]+)(#[^)\s]*)?\)")


def _pages(text: str, folder: str) -> list[str]:
    """Return the pages that links in the text name, without `.md`, in their order."""
    found = []
    for _, target, _ in _LINK.findall(_FENCE.sub("", text)):
        if "://" not in target and target.endswith(".md"):
            path = posixpath.normpath(posixpath.join(folder, target))
            if not path.startswith(".."):
                found.append(path.removesuffix(".md"))
    return list(dict.fromkeys(found))


def _toctree(caption: str, pages: list[str]) -> str:
    names = "\n".join(f"/{page}" for page in pages)
    return f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{names}\n```\n"


def _navigation(name: str, text: str) -> str:
    """Return the hidden tables of contents of a page: one for each heading of index.md, and one for each hub."""
    index = (_DOCS / "index.md").read_text(encoding="utf-8")
    if name == "index":
        sections = re.split(r"^## ", index, flags=re.MULTILINE)[1:]
        found: list[str] = []
        seen: set[str] = set()
        for section in sections:
            pages = [page for page in _pages(section, "") if page not in seen]
            seen.update(pages)
            if pages:
                found.append(_toctree(section.partition("\n")[0], pages))
        return "".join(found)
    placed = {"index", name, *_pages(index, "")}
    folder = posixpath.dirname(name)
    own = [
        page
        for page in _pages(text, folder)
        if page not in placed and posixpath.dirname(page) == folder
    ]
    return _toctree("In this guide", own) if name in placed and own else ""


def _outside(name: str, text: str) -> str:
    """Replace each link to a file outside of docs by the file's path, or by a link to it in the repository."""
    folder = (_DOCS / name).parent

    def replace(match: re.Match[str]) -> str:
        label, target, fragment = match[1], match[2], match[3] or ""
        if "://" in target:
            return match[0]
        path = Path(os.path.normpath(folder / target))
        if path.is_relative_to(_DOCS) or not path.exists():
            return match[0]  # Sphinx checks the former, and warns of the latter
        shown = path.relative_to(_REPOSITORY).as_posix()
        if _FILES:
            return f"[{label}]({_FILES}/{shown}{fragment})"
        return label if label.strip("`") == shown else f"{label} (`{shown}`)"

    parts = []
    end = 0
    for fence in _FENCE.finditer(text):
        parts += [_LINK.sub(replace, text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join(parts) + _LINK.sub(replace, text[end:])


def _captions(text: str) -> str:
    """Show the title of a block (```cpp title="kernels/gamma.cpp") above it."""
    return _TITLED.sub(r"\1{code-block} \2\n:caption: \3\n", text)


def _read(_: Sphinx, name: str, source: list[str]) -> None:
    titled = _TITLE_OF_CODE.sub(r"(\1)=\n### \1: \2", source[0])
    source[0] = _captions(_outside(name, titled)) + _navigation(name, source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
