"""A place in a text that is being typed into what may be written there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from opgen import pipeline
from opgen.dataclasses import dataclass
from opgen.lsp.documents import Analysis
from opgen.lsp.kernels import Definition
from opgen.lsp.navigation import kernel_names
from opgen.lsp.outline import Entry, Key, Outline
from opgen.lsp.schema_words import complete_schema
from opgen.lsp.suggestion import Suggestion, What
from opgen.model.dispatch_key import (
    LIBRARY_DISPATCH_KEYS,
    SUPPORTED_DISPATCH_KEYS,
    DispatchKey,
)
from opgen.model.native_function import DeviceCheckType, UfuncKey, Variant
from opgen.parse.entry_keys import (
    CLASS_KEYS,
    ENTRY_KEYS,
    EXISTING_TEXT,
    FALLTHROUGH,
    FALLTHROUGH_TEXT,
    HEAD_KEYS,
    Shape,
    describe_dispatch_key,
)

# A search that begins anew within a word or blanks would take quadratic time of a long line.
_WORD = re.compile(r"(?<![\w.:])[\w.:]*$")
_BARE = re.compile(r"^( *)(- *)?([\w]*)$")
_PAIR = re.compile(r"^ *(?:- +)?(\w+) *:[ \t]+(.*)$")
_ROW_KEYS = re.compile(r"^ +(?:\w+ *, *)*\w*$")
_ROW_KERNEL = re.compile(r"^ +([\w,][\w ,]*):[ \t]+[\w:]*$")
_CUSTOM_CLASS = re.compile(r"__torch__\.torch\.classes\.([\w.]+)")
_NESTED_KEY = re.compile(r"^ +\w*$")
_MODULES = ("fft", "linalg", "nested", "nn", "sparse", "special")
# Keys that are written with their value on lines of their own.
_BLOCKS = (Shape.dispatch, Shape.precomputed)


@dataclass(frozen=True, slots=True)
class Place:
    """The line of a cursor up to it, in its entry and key; `known` is of an older text.

    `is_library` says whether the rules of libraries hold for the entry.
    """

    before: str
    entry: Entry
    key: Key | None
    outlines: Sequence[Outline]
    known: Analysis | None
    definitions: Sequence[Definition]
    is_library: bool


def complete(
    outlines: Sequence[Outline],
    offset: int,
    known: Analysis | None,
    definitions: Sequence[Definition],
    *,
    strict_torchgen: bool = False,
) -> tuple[Suggestion, ...]:
    """What may stand at `offset` of the first outline."""
    outline = outlines[0]
    location = outline.source.location(offset)
    before = outline.source.line_text(location.line)[: location.column - 1]
    entry = outline.entry_at(location.line - 1)
    if " #" in before or before.lstrip().startswith("#"):
        return ()
    if entry is None or re.fullmatch(r"(- *)?\w*", before):
        return tuple(_new_items(outline, location.line - 1, before, strict_torchgen))
    is_library = entry.namespace != "aten" and not strict_torchgen
    key = entry.key_at(location.line - 1)
    place = Place(before, entry, key, outlines, known, definitions, is_library)
    return tuple(_complete(place))


def word_start(before: str) -> int:
    """Where in the line the word begins that a suggestion replaces."""
    found = _WORD.search(before)
    return len(before) if found is None else found.start()


def _new_items(
    outline: Outline, line: int, before: str, strict_torchgen: bool
) -> Iterator[Suggestion]:
    dash = "" if before.startswith("- ") else "- "
    yield Suggestion("- func: ", What.key, "A new entry", insert=f"{dash}func: ")
    is_first = all(entry.first >= line for entry in outline.entries)
    if is_first and not strict_torchgen and not any(e.is_head for e in outline.entries):
        for name, text in HEAD_KEYS.items():
            insert = f"{dash}{_head_key(name)}"
            yield Suggestion(f"- {name}: ", What.key, text, "~", insert=insert)


def _head_key(name: str) -> str:
    return f"{name}:" if name == "classes" else f"{name}: "


def _complete(place: Place) -> Iterator[Suggestion]:
    bare = _BARE.match(place.before)
    if bare is not None and len(place.before) - len(bare.group(3)) == place.entry.indent:
        yield from _keys(place.entry)
        return
    pair = _PAIR.match(place.before)
    column = len(place.before) - len(place.before.lstrip(" -"))
    if pair is not None and column == place.entry.indent:
        yield from _values(place, pair.group(1), pair.group(2))
    elif place.key is not None:
        yield from _nested(place, place.key)


def _keys(entry: Entry) -> Iterator[Suggestion]:
    present = {key.name for key in entry.keys}
    if entry.is_head:
        for name, text in HEAD_KEYS.items():
            if name not in present:
                yield Suggestion(name, What.key, text, insert=_head_key(name))
        return
    for rank, (name, key) in enumerate(ENTRY_KEYS.items()):
        if name not in present:
            insert = f"{name}:" if key.shape in _BLOCKS else f"{name}: "
            yield Suggestion(name, What.key, key.description, f"{rank:02}", insert)


def _values(place: Place, name: str, value: str) -> Iterator[Suggestion]:
    if place.entry.is_head:
        if name == "namespace":
            yield from _namespaces(place)
        return
    key = ENTRY_KEYS.get(name)
    if key is None:
        return
    match key.shape:
        case Shape.schema:
            registry = None if place.known is None else place.known.registry
            yield from complete_schema(value, registry, is_library=place.is_library)
        case Shape.flag:
            yield from (Suggestion(text, What.value) for text in ("True", "False"))
        case Shape.variants:
            texts = [*Variant.__members__, ", ".join(Variant.__members__)]
            yield from (Suggestion(text, What.value) for text in texts)
        case Shape.device_check:
            yield from (Suggestion(text, What.value) for text in DeviceCheckType.__members__)
        case Shape.operator_name:
            yield from _delegates(place)
        case Shape.operator_names:
            yield from _generated(place.entry)
        case Shape.tags:
            yield from _tags(place, value)
        case Shape.class_name:
            yield from _classes(place.known)
        case Shape.optional_text if name == "python_module":
            yield from (Suggestion(text, What.value) for text in _MODULES)
        case _:
            return


def _nested(place: Place, key: Key) -> Iterator[Suggestion]:
    """What stands in lines of its own below a key."""
    if place.entry.is_head:
        if key.name == "classes" and _NESTED_KEY.match(place.before):
            yield from _class_lines(place, key)
    elif key.name == "dispatch":
        row = _ROW_KERNEL.match(place.before)
        if row is not None:
            yield from _kernels(place, row.group(1))
        elif _ROW_KEYS.match(place.before):
            yield from _dispatch_keys(place, key)
    elif key.name == "tags":
        yield from _tags(place, key.value.text)
    elif key.name == "ufunc_inner_loop":
        yield from (Suggestion(n, What.key, insert=f"{n}: ") for n in UfuncKey.__members__)
    elif key.name == "func":
        offset = place.before.lstrip()
        yield from complete_schema(
            f"({offset}",
            None if place.known is None else place.known.registry,
            is_library=place.is_library,
        )


def _namespaces(place: Place) -> Iterator[Suggestion]:
    """Those that operators of the files have."""
    counts = Counter(e.namespace for o in place.outlines for e in o.entries if e.name is not None)
    for rank, (name, _) in enumerate(counts.most_common()):
        yield Suggestion(name, What.value, sort=f"{rank:02}")


def _class_lines(place: Place, key: Key) -> Iterator[Suggestion]:
    """Classes that operators have and the head does not, or the keys of a class."""
    indent = len(place.before) - len(place.before.lstrip())
    lines = key.value.text.splitlines()
    depths = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    if not depths or indent <= min(depths[1:] or depths):
        known = set(re.findall(r"^ *([\w.]+) *:", key.value.text, re.MULTILINE))
        schemas = (e.key("func") for o in place.outlines[:1] for e in o.entries)
        used = {n for func in schemas if func for n in _CUSTOM_CLASS.findall(func.value.text)}
        for name in sorted(used - known):
            yield Suggestion(name, What.type, insert=f"{name}:")
        return
    for rank, (name, text) in enumerate(CLASS_KEYS.items()):
        yield Suggestion(name, What.key, text, f"{rank:02}", f"{name}: ")


def _dispatch_keys(place: Place, key: Key) -> Iterator[Suggestion]:
    present = set(re.findall(r"\w+(?=[\w ,]*:)", key.value.text))
    keys = LIBRARY_DISPATCH_KEYS if place.is_library else SUPPORTED_DISPATCH_KEYS
    for rank, name in enumerate(sorted(keys, key=_commonness)):
        if name.name not in present:
            text = describe_dispatch_key(name)
            yield Suggestion(name.name, What.dispatch_key, text, f"{rank:03}", f"{name.name}: ")


_COMMON = (
    *("CPU", "CUDA", "CompositeExplicitAutograd", "CompositeImplicitAutograd", "Meta"),
    *("PrivateUse1", "Autograd", "AutocastCUDA", "AutocastCPU", "XPU", "MPS", "QuantizedCPU"),
)


def _commonness(key: DispatchKey) -> int:
    return _COMMON.index(key.name) if key.name in _COMMON else len(_COMMON)


def _kernels(place: Place, keys: str) -> Iterator[Suggestion]:
    base, _, overload = place.entry.operator.partition(".")
    plain = f"{base}_out" if overload.endswith("out") else base
    named = [f"{plain}_{key.strip().lower()}" for key in keys.split(",")[:1]]
    written = sorted({d.name for d in place.definitions if not d.is_meta})
    near = [name for name in written if name.startswith(base)]
    for rank, name in enumerate(dict.fromkeys([*near, plain, *named, *written])):
        yield Suggestion(name, What.kernel, sort=f"{rank:05}")
    if place.is_library:
        yield Suggestion(FALLTHROUGH, What.value, FALLTHROUGH_TEXT, "~0")
        for name in sorted(_existing(place.outlines)):
            yield Suggestion(name, What.kernel, EXISTING_TEXT, "~1")


def _existing(outlines: Iterable[Outline]) -> set[str]:
    """The existing functions that rows of the files name."""
    rows = (span for o in outlines for e in o.entries for span in kernel_names(e))
    return {span.text for span in rows if span.text.startswith("::")}


def _delegates(place: Place) -> Iterator[Suggestion]:
    """Out operators: first those of the same name, then other structured ones."""
    base = place.entry.operator.partition(".")[0].rstrip("_")
    for outline in place.outlines:
        for entry in outline.entries:
            own, _, overload = entry.operator.partition(".")
            structured = entry.key("structured")
            if structured is None and not (own == base and overload.endswith("out")):
                continue
            if entry.namespace == place.entry.namespace and entry is not place.entry:
                yield Suggestion(
                    entry.operator, What.operator, sort=f"{own != base:d}{entry.operator}"
                )


def _generated(entry: Entry) -> Iterator[Suggestion]:
    """The names that variants of an entry would be generated under."""
    base, _, overload = entry.operator.partition(".")
    if not overload.endswith("out"):
        plain = base.rstrip("_")
        yield Suggestion(f"{plain}.{overload}_out" if overload else f"{plain}.out", What.operator)
    if base.endswith("_") or overload.endswith("out"):
        yield Suggestion(base.rstrip("_") + (f".{overload}" if overload else ""), What.operator)


def _tags(place: Place, value: str) -> Iterator[Suggestion]:
    if place.known is None:
        return
    present = set(re.findall(r"\w+(?=\W)", value))
    for tag in pipeline.declared_tags(place.known.inputs).tags:
        if tag.name not in present:
            yield Suggestion(tag.name, What.tag, " ".join(tag.desc.split()))


def _classes(known: Analysis | None) -> Iterator[Suggestion]:
    functions = () if known is None else known.registry.functions
    used: Iterable[str] = (f.structured_inherits for f in functions if f.structured_inherits)
    counts = Counter({"TensorIteratorBase": 1})
    counts.update(used)
    for rank, (name, _) in enumerate(counts.most_common()):
        yield Suggestion(name, What.value, sort=f"{rank:02}")
