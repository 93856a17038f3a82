"""Complete the text at a position of a schema file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum

from lsprotocol.types import CompletionItemKind
from msgspec import Struct

from opgen.diagnostics import Diagnostics
from opgen.lsp.documents import Analysis
from opgen.lsp.navigation import (
    DICT_DESCRIPTION,
    TYPE_DESCRIPTIONS,
    kernel_names,
    known_types,
    library_types,
)
from opgen.lsp.outline import Entry, Key, Outline
from opgen.model.dispatch_key import LIBRARY_DISPATCH_KEYS, SUPPORTED_DISPATCH_KEYS, DispatchKey
from opgen.model.native_function import FALLTHROUGH, PYTHON, UfuncKey, Variant
from opgen.model.profile import ATEN
from opgen.model.registry import Registry
from opgen.model.types import BaseTy, CustomClassType
from opgen.parse.entries.keys import (
    CLASS_KEYS,
    EXISTING_DESCRIPTION,
    FALLTHROUGH_DESCRIPTION,
    HEADER_KEYS,
    KEYS,
    PYTHON_DESCRIPTION,
    Kind,
    describe_dispatch_key,
)
from opgen.pipeline.kernel_sources import Definition
from opgen.pipeline.loading import read_tags


class CompletionKind(Enum):
    """The kind of a suggestion, for which editors show an icon."""

    key = CompletionItemKind.Property
    dispatch_key = CompletionItemKind.EnumMember
    value = CompletionItemKind.Value
    tag = CompletionItemKind.Keyword
    operator = CompletionItemKind.Function
    kernel = CompletionItemKind.Method
    type = CompletionItemKind.Class


class Suggestion(Struct, frozen=True):
    """A suggestion. Editors insert `insert`, or `label` if it is empty, and sort by `sort`, then by label.

    `description` is Markdown.
    """

    label: str
    kind: CompletionKind
    description: str = ""
    sort: str = ""
    insert: str = ""


_DEFAULT = re.compile(r"^(\S+) \w+=[\w.'\[\]-]*$")
_TYPE = re.compile(r"^\w*$")
_FORMS = ("", "?", "[]")
_RESULTS = ("Tensor", "Tensor(a!)", "Tensor(a)", "Tensor[]", "(Tensor, Tensor)", "()")
_PLAIN_DEFAULTS = {
    "bool": ("False", "True"),
    "int": ("0", "1", "-1"),
    "SymInt": ("0", "1", "-1"),
    "float": ("0.0", "1.0"),
    "Scalar": ("0", "1"),
    "str": ("''",),
    "int[]": ("[]",),
    "SymInt[]": ("[]",),
}
_ANNOTATED = ("Tensor(a!)", "Tensor(a)")
_ANNOTATED_IN_LIBRARIES = (*_ANNOTATED, "Tensor!", "Tensor!?", "Tensor![]", "Tensor?[]")


def complete_schema(
    text: str, registry: Registry | None, *, is_library: bool = False
) -> Iterator[Suggestion]:
    """Suggest what may follow `text`, the value of `func` up to the cursor.

    `registry` has the file's operators, if it was analyzed. `is_library` is whether the rules of libraries hold.
    """
    _, arrow, results = text.rpartition("-> ")
    if arrow:
        if _TYPE.match(results.lstrip("(").rsplit(", ", 1)[-1]):
            yield from (
                Suggestion(name, CompletionKind.type, sort=f"{rank:03}")
                for rank, name in enumerate(_RESULTS)
            )
        return
    piece = _last_argument(text)
    if piece is None:
        return
    default = _DEFAULT.match(piece)
    if default is not None:
        yield from _defaults(default.group(1), registry)
    elif _TYPE.match(piece):
        yield from _library_types(registry) if is_library else _types(known_types(), _ANNOTATED)


def _last_argument(text: str) -> str | None:
    """Return the unfinished argument at the end of the text; None if the text does not end in the argument list."""
    depth, start = 0, 0
    for index, character in enumerate(text):
        if character in "([":
            depth += 1
            if depth == 1:
                start = index + 1
        elif character in ")]":
            depth -= 1
        elif character == "," and depth == 1:
            start = index + 1
    return text[start:].lstrip() if depth == 1 else None


def _types(bases: Iterable[BaseTy], annotated: Iterable[str]) -> Iterator[Suggestion]:
    """Suggest base types, Tensor first, with `?` and `[]`; and the `annotated` forms of Tensor."""
    rank = 0
    for base in sorted(bases, key=lambda b: b is not BaseTy.Tensor):
        forms = [f"{base.name}{form}" for form in _FORMS]
        forms += annotated if base is BaseTy.Tensor else ()
        for name in forms:
            yield Suggestion(name, CompletionKind.type, TYPE_DESCRIPTIONS[base], f"{rank:03}")
            rank += 1


def _library_types(registry: Registry | None) -> Iterator[Suggestion]:
    """Suggest the types of PyTorch's runtime parser, and the custom classes of the file's operators."""
    yield from _types(library_types(), _ANNOTATED_IN_LIBRARIES)
    # These come after all base types, of which there are fewer than 900.
    yield Suggestion("Dict(str, Tensor)", CompletionKind.type, DICT_DESCRIPTION, "900")
    functions = () if registry is None else registry.functions
    used = {
        str(a.type)
        for function in functions
        for a in function.func.arguments.flat_all
        if isinstance(a.type, CustomClassType)
    }
    for name in sorted(used):
        yield Suggestion(name, CompletionKind.type, "A custom class.", "901")


def _defaults(type_text: str, registry: Registry | None) -> Iterator[Suggestion]:
    """Suggest the usual defaults of a type, after the most frequent ones of the file's operators."""
    functions = () if registry is None else registry.functions
    counts = Counter(
        argument.default
        for function in functions
        for argument in function.func.arguments.flat_all
        if argument.default is not None and argument.type_text == type_text
    )
    names = [default for default, _ in counts.most_common(8)]
    names += ("None",) if type_text.endswith("?") else _PLAIN_DEFAULTS.get(type_text, ())
    for rank, name in enumerate(dict.fromkeys(names)):
        yield Suggestion(name, CompletionKind.value, sort=f"{rank:02}")


# The lookbehind prevents a search from each character of a word, which takes quadratic time for a long line.
_WORD = re.compile(r"(?<![\w.:])[\w.:]*$")
_BARE = re.compile(r"^( *)(- *)?([\w]*)$")
_PAIR = re.compile(r"^ *(?:- +)?(\w+) *:[ \t]+(.*)$")
_ROW_KEYS = re.compile(r"^ +(?:\w+ *, *)*\w*$")
_ROW_KERNEL = re.compile(r"^ +([\w,][\w ,]*):[ \t]+[\w:]*$")
_CUSTOM_CLASS = re.compile(r"__torch__\.torch\.classes\.([\w.]+)")
_TAKES_SELF = re.compile(r"\(([^*]*, *)?Tensor self\b")
_NESTED_KEY = re.compile(r"^ +\w*$")
_MODULES = ("fft", "linalg", "nested", "nn", "sparse", "special")
# Keys whose values are on the following lines.
_BLOCKS = (Kind.dispatch, Kind.precomputed)


class CursorContext(Struct, frozen=True):
    """The line before the cursor, with its entry. `known` may be the analysis of an older text.

    `definitions` are the kernels in the workspace's sources. Names without a namespace follow the rules of torchgen if
    `strict_torchgen`.
    """

    before: str
    line: int
    entry: Entry
    outlines: Sequence[Outline]
    known: Analysis | None
    definitions: Sequence[Definition] = ()
    strict_torchgen: bool = False

    @property
    def key(self) -> Key | None:
        return self.entry.key_at(self.line)

    @property
    def registry(self) -> Registry | None:
        return None if self.known is None else self.known.registry

    @property
    def is_library(self) -> bool:
        """Whether the rules of libraries hold for the entry."""
        return self.entry.namespace != ATEN and not self.strict_torchgen


def complete(
    outlines: Sequence[Outline],
    offset: int,
    known: Analysis | None,
    definitions: Sequence[Definition],
    *,
    strict_torchgen: bool = False,
) -> tuple[Suggestion, ...]:
    """Return the suggestions at `offset` of the first outline.

    `known` may be the analysis of an older text, and `definitions` are the kernels in the workspace's sources.
    """
    return suggest(
        outlines, offset, known, _new_items, _complete, definitions, strict_torchgen=strict_torchgen
    )


def suggest(
    outlines: Sequence[Outline],
    offset: int,
    known: Analysis | None,
    new_items: Callable[[Outline, str, bool], Iterator[Suggestion]],
    in_entry: Callable[[CursorContext], Iterator[Suggestion]],
    definitions: Sequence[Definition] = (),
    *,
    strict_torchgen: bool,
) -> tuple[Suggestion, ...]:
    """Return nothing in a comment, else `new_items` where an item may begin, or what `in_entry` suggests.

    `new_items` gets the outline, the dash that is missing, and whether the item may be a header.
    """
    outline = outlines[0]
    location = outline.source.location(offset)
    line = location.line - 1
    before = outline.source.line_text(location.line)[: location.column - 1]
    entry = outline.entry_at(line)
    if " #" in before or before.lstrip().startswith("#"):
        return ()
    if entry is None or re.fullmatch(r"(- *)?\w*", before):
        is_first = all(entry.first >= line for entry in outline.entries)
        dash = "" if before.startswith("- ") else "- "
        return tuple(new_items(outline, dash, is_first and not strict_torchgen))
    context = CursorContext(before, line, entry, outlines, known, definitions, strict_torchgen)
    return tuple(in_entry(context))


def word_start(before: str) -> int:
    """Return the column of the word before the cursor, which a suggestion replaces."""
    word = _WORD.search(before)
    return len(before) if word is None else word.start()


def _new_items(outline: Outline, dash: str, is_header: bool) -> Iterator[Suggestion]:
    yield Suggestion("- func: ", CompletionKind.key, "A new entry", insert=f"{dash}func: ")
    if is_header and not any(e.is_header for e in outline.entries):
        for name, text in HEADER_KEYS.items():
            insert = f"{dash}{_header_key(name)}"
            yield Suggestion(f"- {name}: ", CompletionKind.key, text, "~", insert=insert)


def _header_key(name: str) -> str:
    return f"{name}:" if name == "classes" else f"{name}: "


def _complete(place: CursorContext) -> Iterator[Suggestion]:
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
    if entry.is_header:
        for name, text in HEADER_KEYS.items():
            if name not in present:
                yield Suggestion(name, CompletionKind.key, text, insert=_header_key(name))
        return
    for rank, (name, key) in enumerate(KEYS.items()):
        if name not in present:
            insert = f"{name}:" if key.kind in _BLOCKS else f"{name}: "
            yield Suggestion(name, CompletionKind.key, key.description, f"{rank:02}", insert)


def _values(place: CursorContext, name: str, value: str) -> Iterator[Suggestion]:
    if place.entry.is_header:
        if name == "namespace":
            yield from _namespaces(place)
        return
    key = KEYS.get(name)
    if key is None:
        return
    texts: Iterable[str] = ()
    match key.kind:
        case Kind.schema:
            yield from complete_schema(value, place.registry, is_library=place.is_library)
        case Kind.flag:
            texts = ("True", "False")
        case Kind.variants:
            texts = (*Variant.__members__, ", ".join(Variant.__members__))
        case Kind.module if name == "python_module":
            texts = _MODULES
        case Kind.choice if key.choice is not None:
            texts = key.choice.words.__members__
        case Kind.operator_name:
            yield from _delegates(place)
        case Kind.operator_names:
            yield from _generated(place)
        case Kind.tags:
            yield from _tags(place, value)
        case Kind.class_name:
            yield from _classes(place.known)
        case _:
            return
    yield from (Suggestion(text, CompletionKind.value) for text in texts)


def _nested(place: CursorContext, key: Key) -> Iterator[Suggestion]:
    """Complete a line below a key."""
    if place.entry.is_header:
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
        yield from (
            Suggestion(n, CompletionKind.key, insert=f"{n}: ") for n in UfuncKey.__members__
        )
    elif key.name == "func":
        text = f"({place.before.lstrip()}"
        yield from complete_schema(text, place.registry, is_library=place.is_library)


def _namespaces(place: CursorContext) -> Iterator[Suggestion]:
    """Suggest the namespaces of the files' operators, the most frequent first."""
    counts = Counter(e.namespace for o in place.outlines for e in o.entries if e.name is not None)
    for rank, (name, _) in enumerate(counts.most_common()):
        yield Suggestion(name, CompletionKind.value, sort=f"{rank:02}")


def _class_lines(place: CursorContext, key: Key) -> Iterator[Suggestion]:
    """Suggest custom classes of operators that the header lacks, or the keys of a class."""
    indent = len(place.before) - len(place.before.lstrip())
    lines = key.value.text.splitlines()
    depths = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    if not depths or indent <= min(depths[1:] or depths):
        declared = set(re.findall(r"^ *([\w.]+) *:", key.value.text, re.MULTILINE))
        schemas = (e.key("func") for o in place.outlines[:1] for e in o.entries)
        used = {n for func in schemas if func for n in _CUSTOM_CLASS.findall(func.value.text)}
        for name in sorted(used - declared):
            yield Suggestion(name, CompletionKind.type, insert=f"{name}:")
        return
    for rank, (name, text) in enumerate(CLASS_KEYS.items()):
        yield Suggestion(name, CompletionKind.key, text, f"{rank:02}", f"{name}: ")


def _dispatch_keys(place: CursorContext, key: Key) -> Iterator[Suggestion]:
    present = set(re.findall(r"\w+(?=[\w ,]*:)", key.value.text))
    keys = LIBRARY_DISPATCH_KEYS if place.is_library else SUPPORTED_DISPATCH_KEYS
    for rank, name in enumerate(sorted(keys, key=_rank)):
        if name.name not in present:
            text = describe_dispatch_key(name)
            yield Suggestion(
                name.name, CompletionKind.dispatch_key, text, f"{rank:03}", f"{name.name}: "
            )


_COMMON = (
    *("CPU", "CUDA", "CompositeExplicitAutograd", "CompositeImplicitAutograd", "Meta"),
    *("PrivateUse1", "Autograd", "AutocastCUDA", "AutocastCPU", "XPU", "MPS", "QuantizedCPU"),
)


def _rank(key: DispatchKey) -> int:
    return _COMMON.index(key.name) if key.name in _COMMON else len(_COMMON)


def _kernels(place: CursorContext, keys: str) -> Iterator[Suggestion]:
    base, _, overload = place.entry.operator.partition(".")
    plain = f"{base}_out" if overload.endswith("out") else base
    named = [f"{plain}_{key.strip().lower()}" for key in keys.split(",")[:1]]
    written = sorted({d.name for d in place.definitions if not d.is_meta})
    near = [name for name in written if name.startswith(base)]
    for rank, name in enumerate(dict.fromkeys([*near, plain, *named, *written])):
        yield Suggestion(name, CompletionKind.kernel, sort=f"{rank:05}")
    if place.is_library:
        yield Suggestion(FALLTHROUGH, CompletionKind.value, FALLTHROUGH_DESCRIPTION, "~0")
        yield Suggestion(PYTHON, CompletionKind.value, PYTHON_DESCRIPTION, "~0")
        for name in sorted(_existing(place.outlines)):
            yield Suggestion(name, CompletionKind.kernel, EXISTING_DESCRIPTION, "~1")


def _existing(outlines: Iterable[Outline]) -> set[str]:
    """Return the existing functions in the files' dispatch tables."""
    rows = (span for o in outlines for e in o.entries for span in kernel_names(e))
    return {span.text for span in rows if span.text.startswith("::")}


def _delegates(place: CursorContext) -> Iterator[Suggestion]:
    """Suggest out operators: those with the same name first, then other structured ones."""
    base = place.entry.operator.partition(".")[0].rstrip("_")
    for outline in place.outlines:
        for entry in outline.entries:
            own, _, overload = entry.operator.partition(".")
            structured = entry.key("structured")
            if structured is None and not (own == base and overload.endswith("out")):
                continue
            if entry.namespace == place.entry.namespace and entry is not place.entry:
                yield Suggestion(
                    entry.operator, CompletionKind.operator, sort=f"{own != base:d}{entry.operator}"
                )


def _generated(place: CursorContext) -> Iterator[Suggestion]:
    """Suggest the names of variants that opgen can generate for an entry; an in-place one only for a structured entry."""
    base, _, overload = place.entry.operator.partition(".")
    func = place.entry.key("func")
    if not overload.endswith("out"):
        plain = base.rstrip("_")
        out = f"{plain}.{overload}_out" if overload else f"{plain}.out"
        is_structured = place.is_library and place.entry.key("structured") is not None
        if is_structured and func is not None and _TAKES_SELF.search(func.value.text):
            inplace = f"{base}_.{overload}" if overload else f"{base}_"
            for rank, text in enumerate((f"{out}, {inplace}", out, inplace)):
                yield Suggestion(text, CompletionKind.operator, sort=f"{rank}")
            return
        yield Suggestion(out, CompletionKind.operator)
    if base.endswith("_") or overload.endswith("out"):
        yield Suggestion(
            base.rstrip("_") + (f".{overload}" if overload else ""), CompletionKind.operator
        )


def _tags(place: CursorContext, value: str) -> Iterator[Suggestion]:
    if place.known is None:
        return
    present = set(re.findall(r"\w+(?=\W)", value))
    for tag in read_tags(place.known.inputs, Diagnostics()).tags:
        if tag.name not in present:
            yield Suggestion(tag.name, CompletionKind.tag, " ".join(tag.desc.split()))


def _classes(known: Analysis | None) -> Iterator[Suggestion]:
    functions = () if known is None else known.registry.functions
    used: Iterable[str] = (f.structured_inherits for f in functions if f.structured_inherits)
    counts = Counter({"TensorIteratorBase": 1})
    counts.update(used)
    for rank, (name, _) in enumerate(counts.most_common()):
        yield Suggestion(name, CompletionKind.value, sort=f"{rank:02}")
