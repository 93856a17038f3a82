"""Custom classes in schemas: the C++ class that each is, and the header that defines it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from opgen.dataclasses import dataclass
from opgen.importing import codes
from opgen.importing.cpp_includes import CPP_HEADERS, how_included
from opgen.importing.cpp_text import CppText
from opgen.importing.merge import Entry
from opgen.importing.problems import Problems
from opgen.importing.registrations import CLASSES

_IN_SCHEMA = re.compile(re.escape(CLASSES) + r"\.(\w+(?:\.\w+)+)")


@dataclass(frozen=True, slots=True)
class CustomClass:
    """`name` as schemas have it, `ns.C`; `type` is the class of C++, which `header` defines."""

    name: str
    type: str
    header: str


def find_custom_classes(
    entries: Iterable[Entry],
    registered: Mapping[str, str],
    texts: Sequence[CppText],
    folder: str,
    problems: Problems,
) -> Mapping[str, CustomClass]:
    """The classes that schemas name, by these names. Without a given header for one, its entries are left out.

    `registered` are the full names of custom classes in schemas, by their last names in C++; `folder` is the YAML's.
    """
    in_cpp = {name.removeprefix(f"{CLASSES}."): last for last, name in registered.items()}
    found: dict[str, CustomClass] = {}
    for entry in entries:
        missing = []
        for name in dict.fromkeys(_IN_SCHEMA.findall(entry.schema)):
            if name not in found:
                known = _find(name, in_cpp.get(name), texts, folder)
                if known is None:
                    missing.append(name)
                    continue
                found[name] = known
        if missing:
            entry.left_out = f"no given header defines the custom class '{missing[0]}'"
            message = f"'{entry.name}' is left out: {entry.left_out}"
            hint = "define the class in a header, and pass that, too"
            problems.warn(codes.LEFT_OUT, message, entry.span, hint=hint)
    return found


def _find(name: str, last: str | None, texts: Sequence[CppText], folder: str) -> CustomClass | None:
    for text in texts if last is not None else ():
        if text.source.path.endswith(CPP_HEADERS):
            for type_ in _definitions(text, last or ""):
                return CustomClass(name, type_, how_included(text, texts, folder))
    return None


def _definitions(text: CppText, last: str) -> Iterator[str]:
    """The full names of the classes called `last` that a file defines."""
    head = rf"(?<!\w)(enum\s+)?(?:struct|class)\b[^;{{}}()=:]*?\b{last}\s*(?:final\s*)?(?::[^;{{}}]*)?\{{"
    for found in re.finditer(head, text.masked):
        if found[1] is not None or text.is_dead(found.start()):
            continue
        scope = text.scope(found.start())
        around = () if scope is None else scope.chain()
        if all(one.kind != "other" for one in around):
            yield "::" + "::".join((*(one.name for one in around if one.name), last))
