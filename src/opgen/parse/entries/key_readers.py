"""Read the keys of an entry into a draft: one method for each kind of value.

It returns the value of the key. If that is invalid, it reports an error, adds the key to `draft.bad`, and returns the part
that is valid, or None.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from opgen.diagnostics import Diagnostics, Edit, Span, TooManyErrors
from opgen.diagnostics.suggestions import meant, shorten
from opgen.model.cpp_words import RESERVED_PREFIX, is_cpp_name, is_identifier, is_module_name
from opgen.model.dispatch_key import (
    LIBRARY_DISPATCH_KEYS,
    SUPPORTED_DISPATCH_KEYS,
    DispatchKey,
    find_key,
)
from opgen.model.function_schema import Argument, FunctionSchema, OperatorName
from opgen.model.native_function import (
    DTYPE_CLASSES,
    FALLTHROUGH,
    PYTHON,
    Kernel,
    KernelSource,
    Precompute,
    ScalarType,
    UfuncInnerLoop,
    UfuncKey,
    Variant,
)
from opgen.model.profile import ATEN, Profile, TagSet
from opgen.parse.entries import draft
from opgen.parse.entries.comments import clean, find_bad_character
from opgen.parse.entries.draft import Draft, EntryContext, NodeSpans, comma_parts, spaced_parts
from opgen.parse.entries.keys import (
    KEYS,
    Advice,
    Key,
    Kind,
    Users,
    advise_on_dispatch_key,
    advise_on_kernel,
    advise_on_key,
    advise_on_list,
    advise_on_string,
    advise_on_table,
    find_fake_problem,
    list_names,
)
from opgen.parse.schema.grammar import SchemaReader
from opgen.parse.schema.mistakes import find_mistake
from opgen.parse.schema.text import SchemaText, is_namespace, without_comments
from opgen.parse.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode, describe

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from opgen.diagnostics import Details

_MAX_KERNEL_NAMESPACES = 2
_SOURCES = {FALLTHROUGH: KernelSource.fallthrough, PYTHON: KernelSource.python}
_EXISTING = re.compile(r"(?:::[A-Za-z_]\w*)+(?:<[\w:, <>*]+>)?")
_DTYPES: Mapping[str, tuple[ScalarType, ...]] = {
    **{dtype.name: (dtype,) for dtype in ScalarType},
    **DTYPE_CLASSES,
}
# The most candidates for a hint. PyTorch's lists are shorter; with more, a thousand unknown names would take long.
_MAX_CANDIDATES = 500
_USUAL_KEYS = "keys are CPU, CUDA, Meta, CompositeExplicitAutograd, CompositeImplicitAutograd, …"
_HINT_FOR_ATEN = {
    ATEN: "list a backend's kernels for PyTorch's own operators in a file for --backend-yaml"
}


def read_keys(node: MappingNode, context: EntryContext) -> Draft:
    """Read the keys of an entry. Invalid values are reported."""
    reader = _EntryReader(node, context)
    reader.read()
    return reader.draft


class _EntryReader:
    """Reads the keys of one entry into `draft`."""

    __slots__ = ("_context", "_key", "draft")

    def __init__(self, node: MappingNode, context: EntryContext) -> None:
        self.draft = Draft(context, NodeSpans(node))
        self._context = context
        self._key = ""

    def read(self) -> None:
        node = self.draft.spans.node
        if node.get("func") is None:
            # A misspelt one is reported as an unknown key.
            unknown = [self._advice(key) for key, _ in node.pairs if key.value not in KEYS]
            if not any(advice is not None and advice.meant == "func" for advice in unknown):
                self._error("E0202", "this entry has no 'func'", node.span)
        # `func` comes first: the operator's namespace decides which rules hold for the other keys.
        for key, value in sorted(node.pairs, key=lambda pair: pair[0].value != "func"):
            self._key = key.value
            known = KEYS.get(key.value)
            if known is not None:
                self._read_key(known, value)
            elif key.kind != "str":
                self._error("E0108", "a key must be a name", key.span)
            else:
                self._report_key(key)
        if self.draft.func is not None:
            implied = (
                ("pt2_compliant_tag", self.draft.namespace == ATEN),
                ("out", self.draft.func.is_out_fn()),
                ("inplace", self.draft.func.is_inplace),
            )
            tags = {tag for tag, holds in implied if holds and tag in self._context.tags}
            self.draft.values["tags"] = self.draft.values.get("tags", frozenset()) | tags

    def _read_key(self, key: Key, value: Node) -> None:
        found: Any = getattr(self, f"_read_{key.kind.name}")(value)
        if found is None or (key.of is not Users.all and not self._is_allowed(key.of, value)):
            return
        if key.kind is Kind.doc:
            found = self._cleaned(found)
        elif key.kind is Kind.fake and self.draft.func is not None:
            found = self._checked_fake(found, self.draft.func)
        self.draft.values[self._key] = found

    def _is_allowed(self, users: Users, value: Node) -> bool:
        """Return whether the operator may have the key; if not, report it."""
        strict, hint = self._context.strict_torchgen, None
        message = f"'{self._key}' is an opgen extension"
        if users is Users.libraries and (strict or self.draft.profile is Profile.torchgen):
            message = f"{message}, only for operators of libraries"
        elif users is Users.opgen and strict:
            hint = "write a comment whose lines begin with '#:' directly above the entry"
        else:
            return True
        self._error("E0250", message, value.span, hint=hint)
        return False

    def _advice(self, key: ScalarNode) -> Advice | None:
        node = self.draft.spans.node
        return advise_on_key(key.value, node, [name for name in KEYS if node.get(name) is None])

    def _report_key(self, key: ScalarNode) -> None:
        """Report an unknown key. Rules about the key that the author probably meant are skipped."""
        advice, notes = self._advice(key), list_names("keys", KEYS)
        message = f"unknown key '{shorten(key.value)}'"
        self._advised("E0201", message, key.value, key.span, advice, notes)
        if advice is not None and advice.meant is not None:
            self.draft.bad.add(advice.meant)

    def _replaced(self, span: Span, word: str, replacement: str | None) -> Edit | None:
        """Return a fix, if there is a replacement and the source has `word` at `span`."""
        return None if replacement is None or span.text != word else Edit(span, replacement)

    def _error(self, code: str, message: str, span: Span, **details: Unpack[Details]) -> None:
        self.draft.bad.add(self._key)
        self._context.diagnostics.error(code, message, span, **details)

    def _read_choice(self, value: Node) -> Enum | None:
        """Return the member that a string names; None, and an error for any other name, if there is none."""
        node, choice = self._optional_string(value), KEYS[self._key].choice
        if node is None or choice is None:
            return None
        names = choice.words.__members__
        if node.value not in names:
            message = f"unknown {self._key.replace('_', ' ')} '{shorten(node.value)}'"
            notes = (choice.note,) if choice.note else ()
            self._unknown(choice.code, message, node.value, node.span, names, notes)
        return names.get(node.value)

    def _unknown(
        self,
        code: str,
        message: str,
        word: str,
        span: Span,
        known: Iterable[str],
        notes: Iterable[str] = (),
    ) -> None:
        """Report a `word` that is not a `known` one, with the nearest known one as a hint or a fix.

        Without one, `notes` are added.
        """
        hint, near = meant(word, tuple(known)[:_MAX_CANDIDATES])
        advice = None if hint is None else Advice(hint, near)
        self._advised(code, message, word, span, advice, notes)

    def _advised(
        self,
        code: str,
        message: str,
        word: str,
        span: Span,
        advice: Advice | None,
        notes: Iterable[str] = (),
    ) -> None:
        """Report a `word` with advice; if there is none, with `notes`."""
        if advice is None:
            self._error(code, message, span, notes=notes)
        else:
            fix = self._replaced(span, word, advice.fix)
            self._error(code, message, span, hint=advice.hint, fix=fix)

    # Values by their type in YAML

    def _wrong_type(
        self, node: Node, expected: str, what: str | None = None, hint: str | None = None
    ) -> None:
        """Report a value of the wrong type. `what` is the subject of the message, by default the key."""
        name = f"'{self._key}'" if what is None else what
        message = f"{name} takes {expected}, but this is {describe(node)}"
        self._error("E0203", message, node.span, hint=hint)

    def _is_string(self, node: Node, what: str | None = None) -> bool:
        if node.kind == "str":
            return True
        self._wrong_type(node, "a string", what)
        return False

    def _read_flag(self, node: Node) -> bool | None:
        if isinstance(node, ScalarNode) and node.kind == "bool":
            return node.is_true
        word = node.value if isinstance(node, ScalarNode) and node.kind == "str" else ""
        is_quoted = word.lower() in ("true", "false")
        hint = "remove the quotes" if is_quoted else meant(word, ("True", "False"))[0]
        self._wrong_type(node, "true or false", hint=hint)
        return None

    def _string(self, node: Node, what: str | None = None) -> ScalarNode | None:
        """Return a string. The line end of a block scalar is an error, and removed."""
        if not self._is_string(node, what) or not isinstance(node, ScalarNode):
            return None
        stripped = node.value.rstrip("\n")
        if node.value == stripped or KEYS[self._key].kind is Kind.any_string:
            return node
        message = "this string includes the line end after it"
        hint, fix = "write '>-' or '|-'", draft.strip_line_end(node)
        self._error("E0302", message, node.span, hint=hint, fix=fix)
        return replace(node, value=stripped)

    def _optional_string(self, node: Node) -> ScalarNode | None:
        return None if node.kind == "null" else self._string(node)

    def _read_any_string(self, node: Node) -> str | None:
        found = self._optional_string(node)
        return None if found is None else found.value

    def _schema_reader(
        self,
        node: ScalarNode,
        offset: int = 0,
        errors: Diagnostics | None = None,
        profile: Profile = Profile.torchgen,
    ) -> SchemaReader:
        """Return a parser of the text of `node` from `offset`."""

        def locate(start: int, end: int) -> Span:
            return node.part(start + offset, end + offset)

        context, text = self._context, node.value[offset:]
        text = without_comments(text) if profile is Profile.library else text
        at = SchemaText(text, context.diagnostics if errors is None else errors, locate)
        return SchemaReader(at, profile, context.cache, context.header.classes)

    def _operator_name(self, node: ScalarNode, start: int, end: int) -> OperatorName | None:
        text = node.value[start:end]
        if "::" in text:
            message = f"write '{shorten(text)}' without a namespace"
            stop = start + text.rindex("::") + 2
            self._error("E0206", message, node.part(start, stop))
            return None
        reader = self._schema_reader(node)
        name = reader.operator_name(start, end, allow_out=self.draft.profile is Profile.library)
        if name is None:
            self.draft.bad.add(self._key)
        return name

    # Values by kind

    def _read_schema(self, value: Node) -> None:
        if not self._is_string(value) or not isinstance(value, ScalarNode):
            return
        name = without_comments(value.value).partition("(")[0]
        written, colons, _ = name.rpartition("::")
        namespace = written.strip() if colons else self._context.namespace
        profile = self._context.profile(namespace)
        is_library = profile is Profile.library
        if is_library and self._report_folded_comment(value):
            return
        node = value if is_library else self._string(value)
        assert node is not None
        offset = len(written) + len(colons)
        self.draft.namespace = self._context.namespace
        if colons and not self._is_namespace(node, written):
            self.draft.bad.add("func")
        elif colons:
            self.draft.namespace = namespace
        self.draft.spans = NodeSpans(self.draft.spans.node, offset)
        self.draft.profile = profile
        errors = Diagnostics(most=self._context.diagnostics.most)
        try:
            func = self._schema_reader(node, offset, errors, profile).schema()
        except TooManyErrors:
            self._context.diagnostics.extend(errors.errors())
            raise
        self._report_schema(node, errors)
        if "func" not in self.draft.bad:
            self.draft.func = func
        if func is not None and is_library:
            before = f"{namespace}::" if colons else ""
            canonical = f"{before}{func}"
            if canonical != node.value:
                self.draft.spans = NodeSpans(self.draft.spans.node, len(before), canonical)

    def _report_schema(self, node: ScalarNode, errors: Diagnostics) -> None:
        """Report what is wrong with the schema `node`: the cause of `errors` if it is known, or else these."""
        mistake = find_mistake(node.value) if errors.has_errors else None
        if mistake is None:
            self._context.diagnostics.extend(errors.errors())
            return
        if mistake.explained is not None:
            explained = [node.part(*place) for place in mistake.explained]
            for error in errors.errors():
                if error.span is not None and not any(map(error.span.overlaps, explained)):
                    self._context.diagnostics.add(error)
        span = node.part(mistake.start, mistake.end)
        labels = [(node.part(start, end), text) for start, end, text in mistake.labels]
        fix = self._replaced(span, node.value[mistake.start : mistake.end], mistake.replacement)
        self._error(mistake.code, mistake.message, span, labels=labels, hint=mistake.hint, fix=fix)

    def _report_folded_comment(self, node: ScalarNode) -> bool:
        """Report a comment in a folded scalar, where it would include all following lines."""
        plain = without_comments(node.value)
        differences = (i for i, sign in enumerate(node.value) if sign == "#" != plain[i])
        start = next(differences, -1)
        if start < 0 or node.style != ">":
            return False
        message = "in a folded string, a comment includes everything after '#'"
        hint = "move the comment out of the string, or write '|-' instead of '>-'"
        self._error("E0324", message, node.part(start, start + 1), hint=hint)
        return True

    def _is_namespace(self, node: ScalarNode, written: str) -> bool:
        namespace = written.strip()
        start = written.index(namespace)
        if "::" in namespace.strip(":"):
            message = "an operator is in at most one namespace"
            self._error("E0303", message, node.part(start, start + len(namespace)))
            return False
        text = SchemaText(node.value, self._context.diagnostics, node.part)
        return is_namespace(text, namespace, start)

    def _read_variants(self, value: Node) -> frozenset[Variant] | None:
        if isinstance(value, SequenceNode):
            self._wrong_type(value, "a string", hint=advise_on_string(value))
            return None
        node = self._string(value)
        if node is None:
            return None
        advice = advise_on_list(node.value, Variant.__members__)
        if advice is not None and advice.fix != node.value:
            message = f"the variants '{shorten(node.value)}' are not separated by ', '"
            self._advised("E0204", message, node.value, node.span, advice)
            return None
        variants = set()
        for word, start, end in spaced_parts(node.value):
            if word in Variant.__members__:
                variants.add(Variant[word])
            else:
                message = f"unknown variant '{shorten(word)}'"
                self._unknown("E0204", message, word, node.part(start, end), Variant.__members__)
        return frozenset(variants)

    def _read_module(self, value: Node) -> str | None:
        name = self._read_any_string(value)
        # torchgen accepts an empty name, too, for the library's own module.
        if not name or is_module_name(name):
            return name
        message = f"'{shorten(name)}' cannot be the name of a Python module"
        hint = "write identifiers with dots between them, but no keyword of Python"
        self._error("E0226", message, value.span, hint=hint)
        return None

    def _read_operator_name(self, value: Node) -> OperatorName | None:
        node = self._optional_string(value)
        return None if node is None else self._operator_name(node, 0, len(node.value))

    def _read_class_name(self, value: Node) -> str | None:
        name = self._read_any_string(value)
        if name is None or is_cpp_name(name):
            return name
        code, message = "E0207", f"'{shorten(name)}' is not the name of a C++ class"
        if "::" in name:
            code, message = "E0206", "write the base class without a namespace"
        elif not name:
            message = "the name of the base class is empty"
        self._error(code, message, value.span)
        return None

    def _read_strings(self, value: Node) -> frozenset[str] | None:
        if not isinstance(value, SequenceNode):
            self._wrong_type(value, "a list")
            return None
        items = [self._string(item, f"an item of '{self._key}'") for item in value.items]
        return frozenset(item.value for item in items if item is not None)

    def _read_tags(self, value: Node) -> frozenset[str] | None:
        if isinstance(value, SequenceNode):
            nodes = [self._string(item, "a tag") for item in value.items]
        elif value.kind == "str":
            nodes = [self._string(value)]
        else:
            self._wrong_type(value, "a string or a list of strings")
            return None
        declared = self._context.tags
        for node in nodes:
            if node is not None and node.value not in declared and declared.is_whole:
                self._report_tag(node, declared)
        return frozenset(node.value for node in nodes if node is not None)

    def _report_tag(self, node: ScalarNode, declared: TagSet) -> None:
        advice = advise_on_list(node.value, declared.names, "[]")
        if advice is not None:
            message = f"several tags in one string: '{shorten(node.value)}'"
            self._advised("E0208", message, node.value, node.span, advice)
            return
        message = f"unknown tag '{shorten(node.value)}'"
        notes = list_names("tags", declared.names)
        self._unknown("E0208", message, node.value, node.span, declared.names, notes)

    def _read_operator_names(self, value: Node) -> tuple[OperatorName, ...]:
        node = self._string(value)
        if node is None or not node.value:
            return ()
        places = spaced_parts(node.value)
        names = [self._operator_name(node, start, end) for _, start, end in places]
        return tuple(name for name in names if name is not None)

    def _read_doc(self, value: Node) -> ScalarNode | None:
        return value if self._is_string(value) and isinstance(value, ScalarNode) else None

    def _cleaned(self, doc: ScalarNode) -> str | None:
        bad = find_bad_character(doc.value)
        if bad is None:
            return clean(doc.value.split("\n"))
        message = f"'doc' contains the character U+{ord(doc.value[bad]):04X}"
        self._error("E0256", message, doc.part(bad, bad + 1))
        return None

    def _read_fake(self, value: Node) -> ScalarNode | None:
        node = self._optional_string(value)
        return None if self.draft.func is None else node

    def _checked_fake(self, fake: ScalarNode, func: FunctionSchema) -> str:
        text = fake.value.strip()
        problem = find_fake_problem(text, [argument.name for argument in func.arguments.flat_all])
        if problem is not None:
            shown = shorten(fake.value)
            message = f"'{shown}' is not an expression for the results of '{func.name}'"
            self._error("E0254", message, fake.span, hint=problem)
        return text

    def _read_dispatch(self, value: Node) -> tuple[tuple[DispatchKey, Kernel], ...] | None:
        if value.kind == "null":
            return None
        if not isinstance(value, MappingNode):
            hint = advise_on_table(value)
            self._wrong_type(value, "a mapping of dispatch keys to kernels", hint=hint)
            return None
        rows: dict[DispatchKey, Kernel] = {}
        for key, kernel in value.pairs:
            if key.kind != "str":
                self._error("E0108", "a dispatch key must be a name", key.span)
                continue
            parts = comma_parts(key.value)
            # In a row of an unknown key, an empty value is part of the same mistake.
            is_known = all(key.value[slice(*part)] in DispatchKey.__members__ for part in parts)
            skipped = not is_known and kernel.kind == "null"
            what = None if kernel.kind == "str" else f"dispatch key '{shorten(key.value)}'"
            if kernel.kind == "null" and not skipped:
                hint = f"write the name of a kernel, as in '{shorten(key.value)}: my_kernel'"
                self._wrong_type(kernel, "a string", what, hint)
                skipped = True
            node = None if skipped else self._string(kernel, what)
            row = None if node is None else self._row(node)
            for start, end in parts:
                self._add_row(rows, key, start, end, row)
        return tuple(rows.items())

    def _row(self, node: ScalarNode) -> Kernel | None:
        """Parse the value of a row in the dispatch table."""
        if self._context.strict_torchgen or self.draft.profile is Profile.torchgen:
            return self._kernel(node)
        source = _SOURCES.get(node.value)
        if source is not None:
            return Kernel(node.value, None, False, source)
        if node.value.startswith("::"):
            parts = node.value.partition("<")[0].split("::")[1:]
            if not _EXISTING.fullmatch(node.value) or not all(map(is_cpp_name, parts)):
                message = f"'{shorten(node.value)}' is not the name of a C++ function"
                self._error("E0253", message, node.span)
                return None
            plain, less, arguments = node.value.removeprefix("::").partition("<")
            namespace, _, name = plain.rpartition("::")
            return Kernel(name + less + arguments, namespace or None, False, KernelSource.existing)
        return self._kernel(node)

    def _kernel(self, node: ScalarNode) -> Kernel | None:
        """Parse the name of a kernel that the library's author writes."""
        *namespaces, name = parts = node.value.split("::")
        bad = next((p for p in parts if not is_cpp_name(p)), None)
        if bad is not None:
            message = f"'{shorten(node.value)}' is not the name of a C++ function"
            if not node.value:
                message = "the kernel's name is empty"
            advice = advise_on_kernel(node.value)
            if node.value.startswith("::"):
                where = "for torchgen" if self._context.strict_torchgen else f"in '{ATEN}'"
                message = f"'{shorten(node.value)}': {where}, a row is no existing function"
                advice = Advice("name a kernel, and call the function in it")
            self._advised("E0211", message, node.value, node.span, advice)
        elif len(namespaces) > _MAX_KERNEL_NAMESPACES:
            message = f"a kernel is in at most {_MAX_KERNEL_NAMESPACES} namespaces"
            self._error("E0211", message, node.span)
        elif namespaces[-1:] == ["native"]:
            written = "::".join((*namespaces[:-1], name))
            message = f"write the namespace of '{shorten(node.value)}' without '::native'"
            fix = self._replaced(node.span, node.value, written)
            self._error("E0225", message, node.span, hint=f"write '{shorten(written)}'", fix=fix)
        elif name.startswith(RESERVED_PREFIX):
            message = f"'{shorten(name)}': names that begin with '{RESERVED_PREFIX}' are reserved"
            self._error("E0342", message, node.span)
        else:
            return Kernel(name, "::".join(namespaces) or None, False)
        return None

    def _add_row(
        self,
        rows: dict[DispatchKey, Kernel],
        node: ScalarNode,
        start: int,
        end: int,
        kernel: Kernel | None,
    ) -> None:
        name = node.value[start:end]
        is_library = self.draft.profile is Profile.library
        key = DispatchKey.__members__.get(name) if is_library else find_key(name)
        supported = LIBRARY_DISPATCH_KEYS if is_library else SUPPORTED_DISPATCH_KEYS
        if key is None:
            message = f"unknown dispatch key '{shorten(name)}'" if name else "no dispatch key"
            candidates = [k.name for k in supported if k not in rows]
            advice, span = advise_on_dispatch_key(name, candidates), node.part(start, end)
            self._advised("E0209", message, name, span, advice, notes=(_USUAL_KEYS,))
            return
        if key in self._context.ignore_keys:
            self.draft.has_ignored_rows = True
        elif key not in supported:
            message = f"dispatch key '{name}' cannot be in a dispatch table"
            hint = None if is_library else _HINT_FOR_ATEN.get(self.draft.namespace)
            self._error("E0210", message, node.part(start, end), hint=hint)
        elif key in rows:
            message = f"dispatch key '{name}' already has a kernel"
            first = (self.draft.spans.dispatch_key(key), "the first")
            self._error("E0218", message, node.part(start, end), labels=[first])
        elif kernel is not None:
            rows[key] = kernel

    def _read_inner_loops(self, value: Node) -> tuple[tuple[UfuncKey, UfuncInnerLoop], ...] | None:
        loops: list[UfuncInnerLoop | None] = []
        if isinstance(value, MappingNode):
            for key, loop in value.pairs:
                ufunc_key = UfuncKey.__members__.get(key.value)
                node = self._string(loop, f"ufunc key '{shorten(key.value)}'")
                if ufunc_key is None:
                    message = f"unknown ufunc key '{shorten(key.value)}'"
                    unused = [name for name in UfuncKey.__members__ if value.get(name) is None]
                    self._unknown("E0220", message, key.value, key.span, unused)
                elif node is not None:
                    loops.append(self._loop(ufunc_key, node))
        elif value.kind == "str" and (only := self._string(value)) is not None:
            loops.append(self._loop(UfuncKey.Generic, only))
        else:
            self._wrong_type(value, "a string or a mapping")
        return tuple((loop.ufunc_key, loop) for loop in loops if loop is not None)

    def _loop(self, key: UfuncKey, node: ScalarNode) -> UfuncInnerLoop | None:
        name, space, listed = node.value.partition(" ")
        well_formed = space and listed.startswith("(") and listed.endswith(")") and len(listed) > 1
        if not well_formed or not is_cpp_name(name):
            message = f"'{shorten(node.value)}' is not a name and element types in parentheses"
            self._error("E0221", message, node.span)
            return None
        dtypes: dict[ScalarType, None] = {}
        offset = len(name) + 2
        for word, start, end in spaced_parts(listed[1:-1]):
            if word in _DTYPES:
                dtypes.update(dict.fromkeys(_DTYPES[word]))
            else:
                message = f"unknown element type '{shorten(word)}'"
                span = node.part(offset + start, offset + end)
                self._unknown("E0222", message, word, span, _DTYPES)
        return UfuncInnerLoop(name, tuple(dtypes), key)

    def _read_precomputed(self, value: Node) -> Precompute | None:
        if value.kind == "null":
            return None
        if not isinstance(value, SequenceNode):
            self._wrong_type(value, "a list")
            return None
        replace: dict[str, tuple[Argument, ...]] = {}
        add: tuple[Argument, ...] = ()
        for i, item in enumerate(value.items):
            node = self._string(item, "an item of 'precomputed'")
            if node is None:
                continue
            before, arrow, after = node.value.partition("->")
            if arrow:
                span = len(before.rstrip()), len(node.value) - len(after.lstrip())
                self._add_replacement(replace, span, node)
            elif i + 1 < len(value.items):
                self._error("E0231", "only the last item can be without ' -> '", node.span)
            else:
                add = self._precomputed_arguments(node, 0, "")
        return Precompute(tuple(replace.items()), add) if value.items else None

    def _add_replacement(
        self, replace: dict[str, tuple[Argument, ...]], arrow: tuple[int, int], node: ScalarNode
    ) -> None:
        name, start = node.value[: arrow[0]], arrow[1]
        span = node.part(0, len(name))
        if not is_identifier(name):
            message = f"'{shorten(name)}' is not the name of an argument"
            if not name:
                message, span = "there is no argument before '->'", node.part(*arrow)
            self._error("E0231", message, span)
        elif name in replace:
            self._error("E0231", f"'{name}' is already replaced", span)
        elif "->" in node.value[start:]:
            self._error("E0231", "a second '->'", node.part(start, len(node.value)))
        else:
            replace[name] = self._precomputed_arguments(node, start, f"{name} -> ")

    def _precomputed_arguments(
        self, node: ScalarNode, start: int, before: str
    ) -> tuple[Argument, ...]:
        """Parse the arguments from `start`. The right text before them is `before`."""
        reader = self._schema_reader(node)
        stop = len(node.value)
        places = reader.pieces(start, stop) or ((start, stop),)
        arguments = [reader.argument(*place) for place in places]
        found = tuple(a for a in arguments if a is not None)
        for argument, place in zip(arguments, places):
            if argument is not None and argument.name.upper() == argument.name:
                message = f"'{argument.name}' has no lower-case letter"
                self._error("E0232", message, node.part(*place))
        canonical = f"{before}{', '.join(map(str, found))}"
        if len(found) < len(arguments) or not reader.is_exact(canonical):
            self.draft.bad.add(self._key)
        return found
