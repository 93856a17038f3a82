"""Merge the registrations of all sources into entries, and find the classes and fake kernels that belong to them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from opgen.diagnostics import Span
from opgen.diagnostics.suggestions import Vocabulary, shorten
from opgen.importing.common.registrations import (
    CLASSES,
    Definition,
    FakeKernel,
    FunctionName,
    Implementation,
    Kernel,
    KernelKind,
    Problems,
    Registration,
    parse_schema,
)
from opgen.importing.cpp.functions import CppFunction
from opgen.importing.cpp.text import CPP_HEADERS, CppText, include_name
from opgen.importing.entries.callables import CallableFunction, Callables
from opgen.model.dispatch_key import LIBRARY_DISPATCH_KEYS, find_key
from opgen.model.native_function import FALLTHROUGH, AliasAnalysisKind
from opgen.model.profile import ATEN

Conditions = tuple[str, ...]
# Files have the name of the namespace, so it must be ASCII.
_NAMESPACE = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_LONE_TUPLE = re.compile(r"-> \(\((?:[^()]|\([^()]*\))*\)(?: \w+)?\)$")
# The kinds of kernels that a row can express.
_EXPRESSIBLE = frozenset({KernelKind.function, KernelKind.fallthrough})


class Row(Struct):
    """A kernel for a key. `alternatives` are the conditions of `#if` of each of its registrations.

    `written` is the row's value; empty if the kernel cannot be expressed, and the row becomes a comment. `others` are
    further kernels for the same key. `function` is set if the kernel is called directly.
    """

    key: str
    kernel: Kernel
    alternatives: list[Conditions]
    others: list[tuple[Kernel, Conditions]] = field(default_factory=list)
    written: str = ""
    function: CallableFunction | None = None


class Entry(Struct):
    """An operator. `alternatives` are as in a row; `others` are further definitions with another schema.

    `left_out` is the reason why the entry becomes a comment; empty if it does not.
    """

    namespace: str
    schema: str
    span: Span
    alternatives: list[Conditions]
    tags: tuple[str, ...]
    is_inferred: bool
    alias_analysis: AliasAnalysisKind | None
    fake_module: str | None = None
    rows: dict[str, Row] = field(default_factory=dict)
    others: list[Definition] = field(default_factory=list)
    left_out: str = ""

    @property
    def name(self) -> str:
        return f"{self.namespace}::{self.schema.partition('(')[0]}"


def merge(registrations: Sequence[Registration], problems: Problems) -> list[Entry]:
    """Return the entries in the order of their definitions. Kernels without a definition are reported."""
    entries: dict[str, Entry] = {}
    for registration in registrations:
        if isinstance(registration, Definition):
            _define(entries, registration, problems)
    undefined: dict[str, list[Implementation]] = {}
    for registration in registrations:
        if isinstance(registration, Implementation):
            entry = entries.get(f"{registration.namespace}::{registration.name}")
            if entry is None:
                undefined.setdefault(registration.namespace, []).append(registration)
            else:
                _implement(entry, registration, problems)
    _report_undefined(entries, undefined, problems)
    for entry in entries.values():
        if _LONE_TUPLE.search(entry.schema) is not None:
            # That is possible in Python. In C++, `std::tuple` is several returns.
            hint = "return the elements themselves, or keep the operator in Python"
            leave_out(entry, "no C++ function returns one tuple", problems, hint)
    return list(entries.values())


def write_rows(
    entries: Sequence[Entry],
    callables: Callables | None,
    problems: Problems,
    *,
    as_they_are: bool = False,
) -> None:
    """Set the value of each row: the unqualified name of its function, or its full name if it is called `as_they_are`.

    Kernels that a row cannot express are reported.
    """
    shared = {} if callables is None or as_they_are else _shared_names(entries, callables)
    if callables is not None and as_they_are:
        callables.note_files(row.kernel for entry in entries for row in entry.rows.values())
    for entry in entries:
        for row in entry.rows.values():
            kernel = row.kernel
            if find_key(row.key) not in LIBRARY_DISPATCH_KEYS:
                message = f"'{entry.name}' has a kernel for {row.key}, which no operator can have"
                problems.warn("W1177", message, kernel.span)
                continue
            match kernel.kind:
                case KernelKind.fallthrough:
                    row.written = FALLTHROUGH
                case KernelKind.function:
                    if as_they_are and callables is not None:
                        row.function = callables.find(kernel, row.key)
                        row.written = "" if row.function is None else row.function.name
                    else:
                        _write_function(row, shared.get(id(row)), problems)
                case KernelKind.unnamed:
                    message = f"the {row.key} kernel of '{entry.name}' is a lambda"
                    hint = "make it a function with a name"
                    problems.warn("W1161", message, kernel.span, hint=hint)
                case KernelKind.boxed | KernelKind.unknown:
                    message = f"the {row.key} kernel of '{entry.name}' is {kernel.kind.value}"
                    problems.warn("W1162", message, kernel.span)


class _Shared(Struct, frozen=True):
    """What the row is named instead, and the number of functions that have its name; the sources declare `functions`."""

    written: str
    count: int
    functions: Sequence[CppFunction]


def _shared_names(entries: Sequence[Entry], callables: Callables) -> Mapping[int, _Shared]:
    """Return another name for each row whose name means several functions, by the row's identity.

    The usual layout has kernels of one name in unnamed namespaces, one for each device.
    """
    named: dict[tuple[str, str], list[tuple[Entry, Row, FunctionName]]] = {}
    for entry in entries:
        for row in entry.rows.values():
            if row.kernel.kind is KernelKind.function and row.kernel.name is not None:
                name = (entry.namespace, row.kernel.name.base)
                named.setdefault(name, []).append((entry, row, row.kernel.name))
    found: dict[int, _Shared] = {}
    for (_, base), rows in named.items():
        some = [(entry, row, name, callables.meant(row.kernel)) for entry, row, name in rows]
        which = [_which(name, meant) for _, _, name, meant in some]
        known = {one for one in which if one[0]}
        paths, definitions = {path for path, _ in known}, {one for one in known if one[1]}
        if len(paths) < 2 and len(definitions) < 2:
            continue
        every = list({id(f): f for _, _, _, meant in some for f in meant}.values())
        keys = Counter((row.key, one) for (_, row, _, _), one in zip(some, which))
        twice = Counter(key for key, _ in keys)
        for entry, row, _, _ in some:
            of = entry.name.partition("::")[2].replace(".", "_")
            middle = f"_{of}" if twice[row.key] > 1 and of != base else ""
            found[id(row)] = _Shared(f"{base}{middle}_{row.key.lower()}", len(known), every)
    return found


def _which(name: FunctionName, meant: Sequence[CppFunction]) -> tuple[tuple[str, ...], int]:
    """Return the full name of the function that a row means, and the identity of its definition, if these are given.

    Without them, a name that has no qualifiers may be that of any function.
    """
    if not meant:
        return (*name.qualifiers, name.base) if name.qualifiers else (), 0
    return meant[0].path, id(meant[0]) if meant[0].is_definition else 0


def _write_function(row: Row, shared: _Shared | None, problems: Problems) -> None:
    name = row.kernel.name
    assert name is not None
    row.written = name.base
    if shared is not None:
        row.written = shared.written
        message = f"'{name}' is one of {shared.count} functions of that name"
        labels = [(f.span, "one of them") for f in shared.functions[:3]]
        hint = f"the row has '{row.written}'"
        problems.warn("W1172", message, row.kernel.span, hint=hint, labels=labels)
    if name.template:
        message = f"'{name}' is an instance of a template"
        hint = f"the row has '{row.written}'"
        problems.warn("W1179", message, row.kernel.span, hint=hint)


# What PyTorch's parser of schemas reads as something else, without a word.
_HEXADECIMAL = re.compile(r"=(0[xX][0-9a-fA-F]+)")
_NONE = re.compile(r"->\s*None\s*$")


def _schema_as_read(definition: Definition, problems: Problems) -> str:
    """Return the schema as PyTorch reads it; report what is not meant."""
    schema = definition.schema
    if (number := _HEXADECIMAL.search(schema)) is not None:
        message = f"PyTorch reads the default {number[1]} as 0, and so does the entry"
        problems.warn("W1176", message, definition.span, hint=f"write {int(number[1], 16)}")
        schema = _HEXADECIMAL.sub("=0", schema)
    if _NONE.search(schema):
        message = "'None' is no result of an operator: the entry returns nothing"
        problems.warn("W1176", message, definition.span, hint="write '-> ()'")
        schema = _NONE.sub("-> ()", schema)
    return schema


def _define(entries: dict[str, Entry], definition: Definition, problems: Problems) -> None:
    definition = replace(definition, schema=_schema_as_read(definition, problems))
    full_name = f"{definition.namespace}::{definition.name}"
    if not _NAMESPACE.fullmatch(definition.namespace):
        message = f"'{shorten(definition.namespace)}' is not a namespace"
        problems.warn("W1160", message, definition.span)
        return
    entry = entries.get(full_name)
    if entry is None:
        entries[full_name] = Entry(
            definition.namespace,
            definition.schema,
            definition.span,
            [definition.conditions],
            definition.tags,
            definition.inferred_from is not None,
            definition.alias_analysis,
            definition.fake_module,
        )
        return
    if entry.schema == definition.schema:
        entry.alternatives.append(definition.conditions)
        entry.tags = tuple(dict.fromkeys((*entry.tags, *definition.tags)))
        return
    entry.others.append(definition)
    message = f"'{full_name}' is also defined with another schema"
    problems.warn("W1167", message, definition.span, labels=[(entry.span, "the first one is used")])


def _implement(entry: Entry, implementation: Implementation, problems: Problems) -> None:
    key, kernel = implementation.key, implementation.kernel
    row = entry.rows.get(key)
    if row is None:
        entry.rows[key] = Row(key, kernel, [implementation.conditions])
    elif _is_same(row.kernel, kernel):
        row.alternatives.append(implementation.conditions)
    else:
        first, other = row.kernel, (kernel, implementation.conditions)
        is_better = first.kind not in _EXPRESSIBLE and kernel.kind in _EXPRESSIBLE
        if is_better and len(row.alternatives) == 1:
            # The first kernel that a row can express is used.
            other = (first, row.alternatives[0])
            row.kernel, row.alternatives = kernel, [implementation.conditions]
        row.others.append(other)
        message = f"'{entry.name}' has two kernels for {key}"
        labels = [(row.kernel.span, "this one is used")]
        problems.warn("W1168", message, other[0].span, labels=labels)


def leave_out(entry: Entry, reason: str, problems: Problems, hint: str | None) -> None:
    """Make an entry a comment, and report why."""
    entry.left_out = reason
    problems.warn("W1176", f"'{entry.name}' is left out: {reason}", entry.span, hint=hint)


def _is_same(one: Kernel, other: Kernel) -> bool:
    if one.kind is KernelKind.unnamed:
        return one.span == other.span
    return (one.kind, one.code, one.signature) == (other.kind, other.code, other.signature)


def _report_undefined(
    entries: dict[str, Entry], undefined: dict[str, list[Implementation]], problems: Problems
) -> None:
    """Report kernels without an operator: each one, or once for a namespace in which the sources define nothing."""
    own = {entry.namespace for entry in entries.values()}
    defined = Vocabulary(entries)
    for namespace, rows in undefined.items():
        if namespace in own:
            for row in rows:
                name = f"{namespace}::{row.name}"
                message = f"no source defines '{name}', which has a kernel for {row.key}"
                hint = defined.did_you_mean(name)
                problems.warn("W1166", message, row.span, hint=hint)
            continue
        count = f"{len(rows)} kernels" if len(rows) > 1 else "1 kernel"
        message = f"{count} in namespace '{namespace}', but no source defines an operator in it"
        hint = "see opgen generate --backend-yaml" if namespace == ATEN else None
        problems.warn("W1166", message, rows[0].span, hint=hint)


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
                custom_class = next(_definitions(name, cpp_names.get(name), texts, folder), None)
                if custom_class is None:
                    missing.append(name)
                    continue
                classes[name] = custom_class
        if missing:
            reason = f"no given header defines the custom class '{missing[0]}'"
            leave_out(entry, reason, problems, "define the class in a header, and also pass that")
    return classes


def _definitions(
    name: str, last: str | None, texts: Sequence[CppText], folder: str
) -> Iterator[CustomClass]:
    """Yield the custom class for each class named `last` that a header defines."""
    for text in texts:
        is_header = text.source.path.endswith(CPP_HEADERS)
        for scope in dict.fromkeys(filter(None, text.scope_table[1])) if is_header else ():
            if (scope.kind, scope.name) == ("class", last) and not text.is_dead(scope.start):
                around = scope.chain()
                if all(one.kind != "other" for one in around):
                    type_ = "::" + "::".join(one.name for one in around if one.name)
                    yield CustomClass(name, type_, include_name(text, texts, folder))


_META = "Meta"
_ABOVE_BACKENDS = ("ADInplaceOrView", "Autocast", "Autograd", "BackendSelect", "Func", "Python")


def report_fakes(
    entries: Mapping[str, Entry], fakes: Iterable[FakeKernel], problems: Problems
) -> None:
    """Warn about each fake kernel: it stays in Python, or the generated Meta kernel replaces it."""
    for fake in fakes:
        entry = entries.get(fake.operator)
        if entry is not None and _has_generated_meta(entry):
            message = f"'{fake.operator}' needs no fake kernel: opgen generates its Meta kernel"
            problems.warn("W1181", message, fake.span, hint="remove it")
        else:
            message = f"'{fake.operator}' has a fake kernel in Python, which stays there"
            problems.warn("W1164", message, fake.span)


def find_traced_by_python(entries: Iterable[Entry], fakes: Iterable[FakeKernel]) -> frozenset[str]:
    """Return the operators whose kernels are all for backends, and whose fake kernel is in Python."""
    in_python = {fake.operator for fake in fakes}
    return frozenset(
        entry.name
        for entry in entries
        if entry.name in in_python
        and not entry.left_out
        and not _has_generated_meta(entry)
        and any(
            row.written != FALLTHROUGH and not row.key.startswith(_ABOVE_BACKENDS)
            for row in entry.rows.values()
            if row.written
        )
        and not any(key == _META or key.startswith("Composite") for key in entry.rows)
    )


def _has_generated_meta(entry: Entry) -> bool:
    """Return whether the generated Meta kernel is enough: the operator returns only arguments that it writes."""
    keys = {row.key for row in entry.rows.values() if row.written}
    if not keys or entry.left_out or _META in entry.rows:
        return False
    schema = parse_schema(entry.schema)
    is_composite = any(key.startswith("Composite") for key in keys)
    return schema is not None and not is_composite and schema.returns_only_written()
