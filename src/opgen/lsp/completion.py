"""A place in a text that is being typed into what may be written there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from opgen import pipeline
from opgen.dataclasses import dataclass
from opgen.lsp.documents import Analysis
from opgen.lsp.kernels import Definition
from opgen.lsp.outline import Entry, Key, Outline
from opgen.lsp.schema_words import complete_schema
from opgen.lsp.suggestion import Suggestion, What
from opgen.model.dispatch_key import SUPPORTED_DISPATCH_KEYS, DispatchKey
from opgen.model.native_function import DeviceCheckType, UfuncKey, Variant
from opgen.parse.entry_keys import ENTRY_KEYS, Shape, describe_dispatch_key

_WORD = re.compile(r"[\w.:]*$")
_BARE = re.compile(r"^( *)(- *)?([\w]*)$")
_PAIR = re.compile(r"^ *(?:- +)?(\w+) *:[ \t]+(.*)$")
_ROW_KEYS = re.compile(r"^ +(?:\w+ *, *)*\w*$")
_ROW_KERNEL = re.compile(r"^ +([\w ,]+):[ \t]+[\w:]*$")
_MODULES = ("fft", "linalg", "nested", "nn", "sparse", "special")
# Keys that are written with their value on lines of their own.
_BLOCKS = (Shape.dispatch, Shape.precomputed)


@dataclass(frozen=True, slots=True)
class Place:
    """The line of a cursor up to it, in its entry and key; `known` is of an older text."""

    before: str
    entry: Entry
    key: Key | None
    outlines: Sequence[Outline]
    known: Analysis | None
    definitions: Sequence[Definition]


def complete(
    outlines: Sequence[Outline],
    offset: int,
    known: Analysis | None,
    definitions: Sequence[Definition],
) -> tuple[Suggestion, ...]:
    """What may stand at `offset` of the first outline."""
    outline = outlines[0]
    location = outline.source.location(offset)
    before = outline.source.line_text(location.line)[: location.column - 1]
    entry = outline.entry_at(location.line - 1)
    if " #" in before or before.lstrip().startswith("#"):
        return ()
    if entry is None or re.fullmatch(r"(- *)?\w*", before):
        return (Suggestion("- func: ", What.key, "A new entry", insert=_new_entry(before)),)
    place = Place(before, entry, entry.key_at(location.line - 1), outlines, known, definitions)
    return tuple(_complete(place))


def word_start(before: str) -> int:
    """Where in the line the word begins that a suggestion replaces."""
    found = _WORD.search(before)
    return len(before) if found is None else found.start()


def _new_entry(before: str) -> str:
    return "func: " if before.startswith("- ") else "- func: "


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
    for rank, (name, key) in enumerate(ENTRY_KEYS.items()):
        if name not in present:
            insert = f"{name}:" if key.shape in _BLOCKS else f"{name}: "
            yield Suggestion(name, What.key, key.description, f"{rank:02}", insert)


def _values(place: Place, name: str, value: str) -> Iterator[Suggestion]:
    key = ENTRY_KEYS.get(name)
    if key is None:
        return
    match key.shape:
        case Shape.schema:
            registry = None if place.known is None else place.known.registry
            yield from complete_schema(value, registry)
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
    if key.name == "dispatch":
        row = _ROW_KERNEL.match(place.before)
        if row is not None:
            yield from _kernels(place, row.group(1))
        elif _ROW_KEYS.match(place.before):
            yield from _dispatch_keys(key)
    elif key.name == "tags":
        yield from _tags(place, key.value.text)
    elif key.name == "ufunc_inner_loop":
        yield from (Suggestion(n, What.key, insert=f"{n}: ") for n in UfuncKey.__members__)
    elif key.name == "func":
        offset = place.before.lstrip()
        yield from complete_schema(
            f"({offset}", None if place.known is None else place.known.registry
        )


def _dispatch_keys(key: Key) -> Iterator[Suggestion]:
    present = set(re.findall(r"\w+(?=[\w ,]*:)", key.value.text))
    for rank, name in enumerate(sorted(SUPPORTED_DISPATCH_KEYS, key=_commonness)):
        if name.name not in present:
            text = describe_dispatch_key(name)
            yield Suggestion(name.name, What.dispatch_key, text, f"{rank:03}", f"{name.name}: ")


_COMMON = ("CPU", "CUDA", "CompositeExplicitAutograd", "CompositeImplicitAutograd", "Meta")


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
