"""Complete the text at a position of a schema file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from lsprotocol.types import CompletionItemKind as Icon
from msgspec import Struct

from opgen.diagnostics import Diagnostics
from opgen.lsp.documents import Analysis
from opgen.lsp.navigation import kernel_names, known_types, library_types, type_words
from opgen.lsp.outline import Entry, Key, Outline
from opgen.model.dispatch_key import LIBRARY_DISPATCH_KEYS, SUPPORTED_DISPATCH_KEYS
from opgen.model.native_function import FALLTHROUGH, PYTHON, UfuncKey, Variant
from opgen.model.profile import ATEN
from opgen.model.registry import Registry
from opgen.model.types import BaseTy, CustomClassType
from opgen.parse.entries.keys import (
    CLASS,
    ENTRY,
    EXISTING_DESCRIPTION,
    FALLTHROUGH_DESCRIPTION,
    HEADER,
    KEYS,
    PYTHON_DESCRIPTION,
    Kind,
    describe_dispatch_key,
    described,
)
from opgen.pipeline.kernel_sources import Definition
from opgen.pipeline.loading import read_tags


class Suggestion(Struct, frozen=True):
    """A suggestion. Editors insert `insert`, or `label` if it is empty. `description` is Markdown."""

    label: str
    icon: Icon
    description: str = ""
    insert: str = ""


def _listed(labels: Iterable[str], icon: Icon = Icon.Value) -> Iterator[Suggestion]:
    return (Suggestion(label, icon) for label in dict.fromkeys(labels))


def absent_keys(keys: Mapping[str, str], entry: Entry) -> Iterator[Suggestion]:
    """Suggest keys that an entry lacks, with their descriptions."""
    for name, text in keys.items():
        if entry.key(name) is None:
            insert = f"{name}:" if name in _WITH_BLOCKS else f"{name}: "
            yield Suggestion(name, Icon.Property, text, insert)


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
            yield from _listed(_RESULTS, Icon.Class)
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
    for base in sorted(bases, key=lambda b: b is not BaseTy.Tensor):
        forms = [f"{base.name}{form}" for form in _FORMS]
        forms += annotated if base is BaseTy.Tensor else ()
        yield from (Suggestion(name, Icon.Class, type_words()[base.name]) for name in forms)


def _library_types(registry: Registry | None) -> Iterator[Suggestion]:
    """Suggest the types of PyTorch's runtime parser, and the custom classes of the file's operators."""
    yield from _types(library_types(), _ANNOTATED_IN_LIBRARIES)
    yield Suggestion("Dict(str, Tensor)", Icon.Class, type_words()["Dict"])
    functions = () if registry is None else registry.functions
    used = {
        str(a.type)
        for function in functions
        for a in function.func.arguments.flat_all
        if isinstance(a.type, CustomClassType)
    }
    for name in sorted(used):
        yield Suggestion(name, Icon.Class, "A custom class.")


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
    yield from _listed(names)


# The lookbehind prevents a search from each character of a word, which takes quadratic time for a long line.
_WORD = re.compile(r"(?<![\w.:])[\w.:]*$")
_BARE = re.compile(r"^( *)(- *)?([\w]*)$")
_PAIR = re.compile(r"^ *(?:- +)?(\w+) *:[ \t]+(.*)$")
_ROW_KEYS = re.compile(r"^ +(?:\w+ *, *)*\w*$")
_ROW_KERNEL = re.compile(r"^ +([\w,][\w ,]*):[ \t]+[\w:]*$")
_CUSTOM_CLASS = re.compile(r"__torch__\.torch\.classes\.([\w.]+)")
_TAKES_SELF = re.compile(r"\(([^*]*, *)?Tensor self\b")
_NESTED_KEY = re.compile(r"^ +\w*$")
_BLOCKS = (Kind.dispatch, Kind.precomputed)
_MODULES = ("fft", "linalg", "nested", "nn", "sparse", "special")
# Keys whose values are on the following lines.
_WITH_BLOCKS = frozenset(("classes", *(n for n, k in KEYS.items() if k.kind in _BLOCKS)))


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
    new_items: Callable[[Outline, str, bool], Iterator[Suggestion]],
    in_entry: Callable[[CursorContext], Iterator[Suggestion]],
    definitions: Sequence[Definition] = (),
    *,
    strict_torchgen: bool,
) -> tuple[Suggestion, ...]:
    """Return the suggestions at `offset` of the first outline, the best first; none in a comment.

    Where an item may begin, these are `new_items`, which gets the outline, the dash that is missing, and whether the item
    may be a header; elsewhere what `in_entry` suggests. `known` may be the analysis of an older text, and `definitions`
    are the kernels in the workspace's sources.
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


def new_items(outline: Outline, dash: str, is_header: bool) -> Iterator[Suggestion]:
    """Suggest an entry, or the header of a file, if it has none."""
    yield Suggestion("- func: ", Icon.Property, "A new entry", f"{dash}func: ")
    if is_header and not any(e.is_header for e in outline.entries):
        for name, text in sorted(described(HEADER).items()):
            insert = f"{dash}{name}:" if name in _WITH_BLOCKS else f"{dash}{name}: "
            yield Suggestion(f"- {name}: ", Icon.Property, text, insert)


def in_entry(place: CursorContext) -> Iterator[Suggestion]:
    """Suggest what an entry of operators, or the header, may have at the cursor."""
    bare = _BARE.match(place.before)
    if bare is not None and len(place.before) - len(bare.group(3)) == place.entry.indent:
        header = dict(sorted(described(HEADER).items()))
        keys = header if place.entry.is_header else described(ENTRY)
        yield from absent_keys(keys, place.entry)
        return
    pair = _PAIR.match(place.before)
    column = len(place.before) - len(place.before.lstrip(" -"))
    if pair is not None and column == place.entry.indent:
        yield from _values(place, pair.group(1), pair.group(2))
    elif place.key is not None:
        yield from _nested(place, place.key)


def _values(place: CursorContext, name: str, value: str) -> Iterator[Suggestion]:
    if place.entry.is_header:
        # The namespaces of the files' operators, the most frequent first.
        entries = chain.from_iterable(o.entries for o in place.outlines)
        counts = Counter(e.namespace for e in entries if e.name is not None)
        yield from _listed(n for n, _ in counts.most_common() if name == "namespace")
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
            functions = () if place.registry is None else place.registry.functions
            used = [f.structured_inherits for f in functions if f.structured_inherits]
            yield from _listed(n for n, _ in Counter(["TensorIteratorBase", *used]).most_common())
        case _:
            return
    yield from _listed(sorted(texts))


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
        for name in sorted(UfuncKey.__members__):
            yield Suggestion(name, Icon.Property, insert=f"{name}: ")
    elif key.name == "func":
        text = f"({place.before.lstrip()}"
        yield from complete_schema(text, place.registry, is_library=place.is_library)


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
            yield Suggestion(name, Icon.Class, insert=f"{name}:")
        return
    for name, text in described(CLASS).items():
        yield Suggestion(name, Icon.Property, text, f"{name}: ")


def _dispatch_keys(place: CursorContext, key: Key) -> Iterator[Suggestion]:
    present = set(re.findall(r"\w+(?=[\w ,]*:)", key.value.text))
    keys = LIBRARY_DISPATCH_KEYS if place.is_library else SUPPORTED_DISPATCH_KEYS
    common = [one for name in _COMMON for one in keys if one.name == name]
    for one in dict.fromkeys((*common, *sorted(keys, key=lambda key: key.name))):
        if one.name not in present:
            yield Suggestion(one.name, Icon.EnumMember, describe_dispatch_key(one), f"{one.name}: ")


_COMMON = (
    *("CPU", "CUDA", "CompositeExplicitAutograd", "CompositeImplicitAutograd", "Meta"),
    *("PrivateUse1", "Autograd", "AutocastCUDA", "AutocastCPU", "XPU", "MPS", "QuantizedCPU"),
)


def _kernels(place: CursorContext, keys: str) -> Iterator[Suggestion]:
    base, _, overload = place.entry.operator.partition(".")
    plain = f"{base}_out" if overload.endswith("out") else base
    named = [f"{plain}_{key.strip().lower()}" for key in keys.split(",")[:1]]
    written = sorted({d.name for d in place.definitions if not d.is_meta})
    near = [name for name in written if name.startswith(base)]
    yield from _listed([*near, plain, *named, *written], Icon.Method)
    if place.is_library:
        yield Suggestion(FALLTHROUGH, Icon.Value, FALLTHROUGH_DESCRIPTION)
        yield Suggestion(PYTHON, Icon.Value, PYTHON_DESCRIPTION)
        rows = {span.text for o in place.outlines for e in o.entries for span in kernel_names(e)}
        for name in sorted(name for name in rows if name.startswith("::")):
            yield Suggestion(name, Icon.Method, EXISTING_DESCRIPTION)


def _delegates(place: CursorContext) -> Iterator[Suggestion]:
    """Suggest out operators: those with the same name first, then other structured ones."""
    base = place.entry.operator.partition(".")[0].rstrip("_")
    found = set()
    for outline in place.outlines:
        for entry in outline.entries:
            own, _, overload = entry.operator.partition(".")
            structured = entry.key("structured")
            if structured is None and not (own == base and overload.endswith("out")):
                continue
            if entry.namespace == place.entry.namespace and entry is not place.entry:
                found.add((own != base, entry.operator))
    yield from _listed((name for _, name in sorted(found)), Icon.Function)


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
            yield from _listed((f"{out}, {inplace}", out, inplace), Icon.Function)
            return
        yield Suggestion(out, Icon.Function)
    if base.endswith("_") or overload.endswith("out"):
        yield Suggestion(f"{base.rstrip('_')}.{overload}".removesuffix("."), Icon.Function)


def _tags(place: CursorContext, value: str) -> Iterator[Suggestion]:
    if place.known is None:
        return
    present = set(re.findall(r"\w+(?=\W)", value))
    tags = read_tags(place.known.inputs, Diagnostics()).tags
    for tag in sorted(tags, key=lambda tag: tag.name):
        if tag.name not in present:
            yield Suggestion(tag.name, Icon.Keyword, " ".join(tag.desc.split()))
