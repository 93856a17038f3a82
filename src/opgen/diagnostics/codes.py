"""Diagnostic codes. A code is a text such as `E0402`: the letter is its severity, and docs/reference/diagnostics.md is
the source of everything else that is known about it. Codes with V are properties that `opgen verify` checks.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache

from msgspec import Struct

from opgen import data

_DIAGNOSTICS, _PROPERTIES = "reference/diagnostics", "reference/verify-properties"
# A fenced block: its language, its title if it has one, and its text.
BLOCK = re.compile(r"^```(\w+)(?: title=\"(.*)\")?\n((?:.*\n)*?)```\n", re.MULTILINE)
_ESCAPE = re.compile(rb"\\(?:x([0-9a-f]{2})|\n)")


class Example(Struct, frozen=True):
    """Contents of a file: the shortest that is reported, and the same after the fix.

    `read` is the name of the file and, in parentheses, the options with which it is reported. `report` is the text
    that people see, empty if the page does not show it.
    """

    failing: str
    fixed: str
    read: str = "native_functions.yaml"
    report: str = ""


class Code(Struct, frozen=True):
    """What is known about a diagnostic code; `opgen explain CODE` prints it.

    `example` is None where no short file is reported. `scope` says for which operators or target the code is
    reported, and is empty if it is for all.
    """

    code: str
    title: str
    explanation: str
    example: Example | None = None
    scope: str = ""

    def __str__(self) -> str:
        return self.code


def known_codes() -> Collection[str]:
    """Return all codes of errors and warnings, in the order of the page."""
    return _sections(_DIAGNOSTICS).keys()


@cache
def describe(code: str) -> Code:
    """Return what is known about a code. Raises KeyError if there is no such code."""
    text = _sections(_PROPERTIES if code.startswith("V") else _DIAGNOSTICS)[code]
    title, *paragraphs = BLOCK.split(text)[0].strip().split("\n\n")
    words = [" ".join(paragraph.split()) for paragraph in paragraphs]
    example = None
    if words[-1] == "Reported:":
        (failing, *report, fixed), words = list(BLOCK.finditer(text)), words[:-1]
        words += text[fixed.end() :].split("\n")
        texts = unescaped(failing), unescaped(fixed)
        example = Example(*texts, title_of(failing), "".join(block[3] for block in report))
    scope = [word for word in words if word.startswith("Reported for ")]
    explanation = "\n\n".join(word for word in words if word and word not in scope)
    return Code(code, title.strip("*."), explanation, example, "".join(scope))


def title_of(block: re.Match[str]) -> str:
    """Return the name of the file in a fenced block and the options with which it is read."""
    title = (block[2] or "native_functions.yaml").replace(", escaped)", ")")
    return title.removesuffix(" (escaped)")


def unescaped(block: re.Match[str]) -> str:
    r"""Return the text of a fenced block. In one that is escaped, `\xNN` is a byte, and a `\` hides the end of a line."""
    if not (block[2] or "").endswith("escaped)"):
        return block[3]
    content = _ESCAPE.sub(lambda m: bytes.fromhex((m[1] or b"").decode()), block[3].encode())
    return content.decode("utf-8", "surrogateescape")


@cache
def _sections(page: str) -> Mapping[str, str]:
    sections = re.split(r"^### ", data.read_page(page), flags=re.MULTILINE)[1:]
    # The heading is the code, in the page of properties with a name; the next subject may follow the last paragraph.
    return {text[:5]: text.partition("\n\n")[2].partition("\n## ")[0] for text in sections}
