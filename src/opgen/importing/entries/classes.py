"""Find the C++ classes of the custom classes in schemas, and the headers that define them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from opgen.importing.common.problems import Problems
from opgen.importing.common.registrations import CLASSES
from opgen.importing.cpp.includes import CPP_HEADERS, include_name
from opgen.importing.cpp.text import CppText
from opgen.importing.entries.merge import Entry

_IN_SCHEMA = re.compile(re.escape(CLASSES) + r"\.(\w+(?:\.\w+)+)")


class CustomClass(Struct, frozen=True):
    """A custom class: its `name` in schemas, `ns.C`, and its C++ `type`, which `header` defines."""

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
    """Return the custom classes in schemas, by name. Entries with a class that no given header defines are left out.

    `registered` maps unqualified C++ names of custom classes to their full names in schemas. `folder` is that of the
    generated YAML, to which paths of headers are relative.
    """
    cpp_names = {name.removeprefix(f"{CLASSES}."): last for last, name in registered.items()}
    classes: dict[str, CustomClass] = {}
    for entry in entries:
        missing = []
        for name in dict.fromkeys(_IN_SCHEMA.findall(entry.schema)):
            if name not in classes:
                custom_class = _find(name, cpp_names.get(name), texts, folder)
                if custom_class is None:
                    missing.append(name)
                    continue
                classes[name] = custom_class
        if missing:
            entry.left_out = f"no given header defines the custom class '{missing[0]}'"
            message = f"'{entry.name}' is left out: {entry.left_out}"
            hint = "define the class in a header, and also pass that"
            problems.warn("W1176", message, entry.span, hint=hint)
    return classes


def _find(name: str, last: str | None, texts: Sequence[CppText], folder: str) -> CustomClass | None:
    for text in texts if last is not None else ():
        if text.source.path.endswith(CPP_HEADERS):
            for type_ in _definitions(text, last or ""):
                return CustomClass(name, type_, include_name(text, texts, folder))
    return None


def _definitions(text: CppText, last: str) -> Iterator[str]:
    """Yield the full names of the classes named `last` that a file defines."""
    head = rf"(?<!\w)(enum\s+)?(?:struct|class)\b[^;{{}}()=:]*?\b{last}\s*(?:final\s*)?(?::[^;{{}}]*)?\{{"
    for match in re.finditer(head, text.masked):
        if match[1] is not None or text.is_dead(match.start()):
            continue
        scope = text.scope(match.start())
        around = () if scope is None else scope.chain()
        if all(one.kind != "other" for one in around):
            yield "::" + "::".join((*(one.name for one in around if one.name), last))
