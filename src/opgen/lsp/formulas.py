"""Find, describe and complete the words of a file of formulas: derivatives.yaml."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsprotocol.types import CompletionItemKind as Icon

from opgen.autograd.called_functions import (
    BACKWARD_FORMS,
    FORMS,
    FORMULA_KEYS,
    FORWARD_FORMS,
    FUNCTIONS,
    HEADER,
    HELPERS,
    backward_values,
    describe_key,
    describe_word,
    formula_words,
    forward_values,
)
from opgen.autograd.differentiability import KEYS
from opgen.autograd.kernels import SUFFIXES
from opgen.cpp.names import cpp_name
from opgen.diagnostics import Span
from opgen.lsp.completion import CursorContext, Suggestion, absent_keys
from opgen.lsp.documents import Analysis
from opgen.lsp.outline import Entry, Kind, Outline, Word, is_before_colon, is_comment
from opgen.model.derivatives import DEFAULT_KEY
from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import NativeFunction
from opgen.model.registry import Registry
from opgen.parse.entries.keys import describe_dispatch_key
from opgen.pipeline import queries

# The keys of `dispatch` that are suggested first.
_COMMON = (DEFAULT_KEY, "AutogradCPU", "AutogradCUDA", "AutogradPrivateUse1")
_ROW = re.compile(r"^( *)(?:- +)?[\w ,]*$")
_PAIR = re.compile(r"^ *(?:- +)?([\w ,]+?) *:[ \t]+(.*)$")


# Words


def find_formula_word(outline: Outline, offset: int) -> Word | None:
    """Return the word at `offset` of a file of formulas; None if it has no meaning for opgen."""
    line = outline.source.location(offset).line - 1
    entry = outline.entry_at(line)
    key = None if entry is None else entry.key_at(line)
    span = _word_at(outline, offset)
    if entry is None or not span.text or is_comment(outline, span):
        return None
    if key is None or is_before_colon(outline, span):
        # Names of arguments may stand together before a colon, where the outline sees no key.
        owner = key or entry.key("name")
        is_table = span.text in KEYS and entry.key("dispatch") is not None
        kind = Kind.dispatch_key if is_table else Kind.formula_key
        kind = Kind.header_key if entry.is_header else kind
        return None if owner is None else Word(kind, span, entry, owner)
    if entry.is_header:
        return None
    if key.name == "name":
        name = entry.name
        if name is not None and name.start <= span.start <= name.end:
            return Word(Kind.operator, name, entry, key)
        return Word(Kind.schema, span, entry, key)
    return Word(Kind.formula, span, entry, key)


def _word_at(outline: Outline, offset: int) -> Span:
    """Return the C++ identifier around `offset`, or the name of an operator."""
    span = outline.word_at(offset)
    for match in re.finditer(r"[A-Za-z_]\w*", span.text):
        start = span.start + match.start()
        if start <= offset <= start + len(match[0]):
            return Span(span.source, start, start + len(match[0]))
    return Span(span.source, offset, offset)


# Hover and definitions


def describe_formula_word(word: Word, known: Analysis | None) -> str | None:
    """Return the description of a word in Markdown; None if there is none."""
    f = operator_of(word.entry, known)
    if word.kind is Kind.header_key:
        text = formula_words(HEADER).get(word.text)
    elif word.kind is Kind.dispatch_key:
        key = DispatchKey.__members__.get(word.text)
        text = "Formulas for all backends without some of their own."
        text = text if key is None else describe_dispatch_key(key)
    elif word.kind is Kind.formula_key:
        text = describe_key(word.text, f)
    else:
        text = None if f is None else describe_word(word.text, f)
    if text is not None:
        return f"**{word.text}**: {text}"
    called = None if known is None else called_operator(word, known.registry)
    if known is None or called is None:
        return None
    return queries.summarize(known.registry, known.inputs, called)


def find_formula_definitions(word: Word, known: Analysis) -> list[Span]:
    """Return the argument in its schema, or the entry of the operator that a formula calls."""
    f = operator_of(word.entry, known)
    plain = re.sub(r"_[pt]$", "", word.text)
    names = {a.name for a in f.func.arguments.flat_all} if f is not None else set()
    for name in (word.text, plain):
        if f is not None and name in names and word.kind in (Kind.formula, Kind.formula_key):
            return [f.argument_span(name)]
    called = called_operator(word, known.registry)
    return [] if called is None or word.kind is not Kind.formula else [called.span]


def operator_of(entry: Entry, known: Analysis | None) -> NativeFunction | None:
    """Return the operator that an entry of formulas is for."""
    return None if known is None else known.registry.find_function(entry.full_name)


def called_operator(word: Word, registry: Registry) -> NativeFunction | None:
    """Return an operator of the name of a function: of the entry's namespace, or of the one before the name."""
    name = SUFFIXES.sub("", word.text)
    scope = re.search(r"(\w+)::$", word.span.source.text[: word.span.start])
    wanted = word.entry.namespace if scope is None else scope[1].replace("at", "aten", 1)
    functions = (f for f in registry.functions if str(cpp_name(f.func)) == name)
    return next((f for f in functions if scope is None or f.namespace == wanted), None)


# Completion


def new_items(_: Outline, dash: str, is_header: bool) -> Iterator[Suggestion]:
    """Suggest the formulas of an operator, or the header of a file."""
    yield Suggestion("- name: ", Icon.Property, "The formulas of an operator", f"{dash}name: ")
    for name, described in formula_words(HEADER).items() if is_header else ():
        yield Suggestion(f"- {name}: ", Icon.Property, described, f"{dash}{name}: ")


def in_entry(place: CursorContext) -> Iterator[Suggestion]:
    """Suggest what an entry of formulas, or the header, may have at the cursor."""
    pair = _PAIR.match(place.before)
    if place.entry.is_header:
        if pair is None:
            yield from absent_keys(formula_words(HEADER), place.entry)
        elif pair[1] == "namespace":
            names = dict.fromkeys(
                e.namespace for o in place.outlines[1:] for e in o.entries if e.name
            )
            yield from (Suggestion(name, Icon.Value) for name in sorted(names))
    elif pair is not None and pair[1] == "name":
        yield from _operators(place)
    elif pair is not None:
        yield from _formula(place, pair[1])
    elif _ROW.match(place.before):
        yield from _rows(place)


def _operators(place: CursorContext) -> Iterator[Suggestion]:
    """Suggest operators without formulas: their names, or in `aten` their schemas."""
    done = {entry.full_name for entry in place.outlines[0].entries if entry is not place.entry}
    found = []
    for f in () if place.registry is None else place.registry.functions:
        if f.full_name not in done and "generated" not in f.tags and not f.func.is_out_fn():
            same = f.namespace == place.entry.default_namespace
            name = str(f.func.name) if same else f.full_name
            found.append((not same, name if f.is_library else str(f.func), f"`{f.func}`"))
    for _, label, described in sorted(found):
        yield Suggestion(label, Icon.Function, described)


def _rows(place: CursorContext) -> Iterator[Suggestion]:
    """Suggest the arguments and outputs without a formula, and the other keys."""
    indent = len(place.before) - len(place.before.lstrip())
    table = place.entry.key("dispatch")
    if table is not None and indent == place.entry.indent + 2:
        for name in dict.fromkeys((*_COMMON, *KEYS)):
            if not re.search(rf"\b{name} *:", table.value.text):
                yield Suggestion(name, Icon.EnumMember, insert=f"{name}:")
        return
    f = operator_of(place.entry, place.known)
    if f is not None:
        arguments = (a.name for a in f.func.arguments.flat_all if a.type.is_tensor_like())
        outputs = (r.name or "result" for r in f.func.returns[:1])
        described = {name: describe_key(name, f) or "" for name in (*arguments, *outputs)}
        yield from absent_keys(described, place.entry)
    if indent == place.entry.indent:
        yield from absent_keys({n: describe_key(n, None) or "" for n in FORMULA_KEYS}, place.entry)


def _formula(place: CursorContext, names: str) -> Iterator[Suggestion]:
    """Suggest the values that a formula can use, the functions, and formulas that are a single word."""
    f = operator_of(place.entry, place.known)
    if f is None:
        return
    arguments = {a.name for a in f.func.arguments.flat_all}
    is_backward = names.split(",")[0].strip() in arguments
    values, forms = backward_values(f), BACKWARD_FORMS
    if not is_backward:
        values = forward_values(f)
        forms = {name: formula_words(FORMS)[name] for name in FORWARD_FORMS}
    if place.before.rstrip().endswith(":") or re.search(r":[ \t]+\w*$", place.before):
        yield from (Suggestion(name, Icon.Value, text) for name, text in forms.items())
    yield from (Suggestion(name, Icon.Value, text) for name, text in values)
    told = ((name, formula_words(FUNCTIONS)[name]) for name in sorted(HELPERS))
    yield from (Suggestion(name, Icon.Method, text) for name, text in told)
    functions = () if place.registry is None else place.registry.functions
    own = (g for g in functions if g.namespace == f.namespace)
    for name in sorted({str(cpp_name(g.func)) for g in own if not g.func.is_out_fn()}):
        yield Suggestion(name, Icon.Function)
