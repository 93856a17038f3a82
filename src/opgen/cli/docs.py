"""`opgen docs`: list the pages of the documentation, or print one."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

import click
from click.shell_completion import CompletionItem

from opgen.cli.help import command
from opgen.cli.report import print_document
from opgen.data import documentation
from opgen.diagnostics.suggestions import did_you_mean

# How many pages a search shows.
_MOST_FOUND = 10
# The page that lists all others, and what it consists of.
_INDEX = "index"
_SECTION = re.compile(r"^## (?P<title>.*)\n(?P<items>(?:(?!## ).*\n)*)", re.MULTILINE)
_ITEM = re.compile(r"^\* ", re.MULTILINE)
_LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<page>[\w/-]+)\.md(?:#[\w-]*)?\)")


def _complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [
        CompletionItem(name, help=_title(path))
        for name, path in documentation().items()
        if name.startswith(incomplete)
    ]


@command("docs")
@click.argument("page", required=False, shell_complete=_complete)
@click.option("--path", is_flag=True)
@click.option("--search")
def docs(page: str | None, path: bool, search: str | None) -> None:
    """List the pages of the documentation, or print one."""
    pages = documentation()
    if search is not None:
        if page is not None or path:
            raise click.UsageError("--search lists pages: give neither PAGE nor --path")
        found = list(_search(search, pages))
        if not found:
            raise click.ClickException(f"no page contains '{search}'; 'opgen docs' lists all pages")
        print_document("".join(f"{line}\n" for line in found))
        return
    if page is None:
        rows = map(str, pages.values()) if path else _by_question(pages)
        print_document("".join(f"{row}\n" for row in rows))
        return
    # It may begin with `docs/` and end with `.md`, and be only the end of a name.
    wanted = page.removeprefix("docs/").removesuffix(".md")
    names = [name for name in pages if f"/{name}".endswith(f"/{wanted}")]
    if wanted not in names and len(names) != 1:
        hint = did_you_mean(page, [PurePosixPath(name).name for name in pages])
        search = f"'opgen docs --search {shlex.quote(page)}' finds words, and 'opgen docs' lists all pages"
        message = f"there is no page '{page}'; {hint or search}"
        if names:
            message = f"several pages have the name '{page}': {', '.join(names)}"
        raise click.ClickException(message)
    file = pages[wanted if wanted in names else names[0]]
    print_document(f"{file}\n" if path else file.read_text(encoding="utf-8"))


def _search(words: str, pages: Mapping[str, Path]) -> Iterator[str]:
    """Yield two lines for each of the best pages that contain all words: the place, and the line of the best match.

    A word in a heading counts as much as four lines of text, one in the title of the page as much as eight; a page that is
    four times as long needs twice as many. Names of files of examples and in reports hardly count.
    """
    wanted = [word.casefold() for word in words.split()]
    found: list[tuple[float, str, int, str]] = []
    for name, path in pages.items():
        text = path.read_text(encoding="utf-8")
        if not wanted or not all(word in text.casefold() for word in wanted):
            continue
        scored = [
            (sum(word in line.casefold() for word in wanted) * _weight(line), -number, line)
            for number, line in enumerate(text.splitlines(), 1)
        ]
        best = max(scored)
        total = sum(score for score, _, _ in scored) / math.sqrt(len(scored))
        found.append((total, name, -best[1], best[2].strip()))
    for _, name, number, line in sorted(found, key=lambda row: (-row[0], row[1]))[:_MOST_FOUND]:
        yield f"{name}:{number}"
        yield f"    {line}"


def _weight(line: str) -> float:
    if line.startswith(("```", " --> ")):
        return 0.1  # the name of an example's file
    return 8 if line.startswith("# ") else 4 if line.startswith("##") else 1


def _by_question(pages: Mapping[str, Path]) -> Iterator[str]:
    """Yield the lines of the list: the sections and questions of the first page, and the pages that answer them."""
    column = max(map(len, pages))
    text = pages[_INDEX].read_text(encoding="utf-8")
    for section in _SECTION.finditer(text):
        yield section["title"]
        for item in _ITEM.split(section["items"])[1:]:
            question, arrow, answers = " ".join(item.split()).rpartition(" → ")
            if arrow:
                # The first links are the answer to the question; others stand in it.
                yield f"  {_LINK.sub(lambda link: link['text'], question)}"
            for page in dict.fromkeys(link["page"] for link in _LINK.finditer(answers)):
                yield f"    {page:{column}}  {_title(pages[page])}"
        yield ""
    yield "'opgen docs PAGE' prints one."


def _title(path: Path) -> str:
    """Return the first heading of a page."""
    with open(path, encoding="utf-8") as file:
        headings = (line[2:].strip() for line in file if line.startswith("# "))
        return next(headings, path.stem)
