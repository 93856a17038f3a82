"""Find the C++ functions of kernels: the schemas of operators that are defined by a name alone, and how to call them.

Generated code calls a function directly, by its full name, with a header or a declaration. Types of declarations are written
with full names, too.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct, field
from msgspec.structs import replace

from opgen import data
from opgen.importing.common.registrations import (
    CppParameter,
    CppSignature,
    CppType,
    Definition,
    FunctionName,
    Kernel,
    Names,
    NoSchemaType,
    Problems,
    Registration,
)
from opgen.importing.cpp.functions import HEADERS, CppFunction, Functions
from opgen.importing.cpp.macros import split_arguments
from opgen.importing.cpp.text import CPP_HEADERS, CppText, include_name
from opgen.model.native_function import AliasAnalysisKind


class Inference(Struct, frozen=True):
    """Infers schemas. `texts` are the sources by the identity of their Source; `classes` maps C++ names of custom
    classes to those in schemas."""

    functions: Functions
    texts: Mapping[int, CppText]
    classes: Mapping[str, str]
    problems: Problems

    def expand(self, registrations: Iterable[Registration]) -> Iterator[Registration]:
        """Yield all registrations, with schemas; without one, a warning replaces the operator and its kernel."""
        pending = iter(registrations)
        for one in pending:
            if not isinstance(one, Definition) or one.inferred_from is None:
                yield one
                continue
            row, rest = next(pending), self._schema(one, one.inferred_from)
            if rest is not None:
                # PyTorch knows nothing else of a function.
                kind = one.alias_analysis or AliasAnalysisKind.conservative
                yield replace(one, schema=f"{one.name}{rest}", alias_analysis=kind)
                yield row

    def _schema(self, alone: Definition, kernel: Kernel) -> str | None:
        text = self.texts.get(id(kernel.span.source))
        if text is None or (kernel.name is None and kernel.signature is None):
            self._report(alone, f"the types of {kernel.kind.value} are unknown")
            return None
        if kernel.signature is not None:
            return self._infer(alone, kernel.signature, self.functions.names_of(text))
        assert kernel.name is not None
        schemas: dict[str, CppFunction] = {}
        for function in self.functions.find(kernel.name, text, kernel.span.start):
            if bool(kernel.name.template) != bool(function.template) and not function.instance:
                continue
            if function.instance and function.instance != "".join(kernel.name.template.split()):
                continue
            signature = instantiate(function, kernel.name.template)
            schema = self._infer(alone, signature, self.functions.names_of(function.text))
            if schema is None:
                return None
            schemas.setdefault(schema, function)
        if len(schemas) == 1:
            return next(iter(schemas))
        if schemas:
            labels = [(f.span, "one of them") for f in schemas.values()]
            message = f"'{kernel.name}' is one of several functions"
            self.problems.warn("W1165", message, alone.span, labels=labels)
        else:
            self._report(alone, f"no given source declares '{kernel.name}'")
        return None

    def _infer(self, alone: Definition, signature: CppSignature, names: Names) -> str | None:
        try:
            return signature.schema(names, self.classes, alone.arguments)
        except NoSchemaType as problem:
            self._report(alone, f"PyTorch infers no schema from {problem}")
            return None

    def _report(self, alone: Definition, reason: str) -> None:
        message = f"'{alone.namespace}::{alone.name}' has no schema: {reason}"
        self.problems.warn("W1165", message, alone.span)


def instantiate(function: CppFunction, template: str) -> CppSignature:
    """Return the signature of `f<float>`: the template's parameters are replaced by its arguments."""
    if not function.template or not template:
        return function.signature
    values = dict(zip(function.template_names, split_arguments(template[1:-1])))
    returns, given = function.signature.returns, function.signature.parameters
    parameters = tuple(replace(p, type=_type(p.type, values)) for p in given)
    return CppSignature(None if returns is None else _type(returns, values), parameters)


def _type(type_: CppType, values: Mapping[str, str]) -> CppType:
    name = "".join(values.get(type_.name, type_.name).split())
    if name.endswith(">"):
        # A template argument that is itself an instance of a template is not parsed: no schema is inferred from it.
        return CppType(name)
    arguments = tuple(_type(argument, values) for argument in type_.arguments)
    return CppType(name, arguments, type_.is_const, type_.mark)


# Full names of types that PyTorch or C++ declares, with their headers.
TYPES: Mapping[str, str] = {row[0]: row[1] for row in data.read_rows("cpp_headers.txt")}
_PLAIN = frozenset(
    {
        *("void", "bool", "char", "int", "long", "short", "float", "double", "unsigned"),
        *("long long", "unsigned int", "unsigned long", "unsigned long long", "unsigned char"),
        *("int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t"),
        *("size_t", "true", "false"),
    }
)
# Names in `torch` whose names in `at` differ.
_OTHER_NAMES: Mapping[str, str] = MappingProxyType(
    {"Dtype": "ScalarType", "IntList": "IntArrayRef"}
)


class UnknownName(Exception):
    """The name of a type that only its own file declares."""


class Declared(Struct, frozen=True):
    """A signature with full names, and the headers that it needs."""

    signature: CppSignature
    headers: tuple[str, ...]


def spell_signature(signature: CppSignature, names: Names, own: Iterable[str] = ()) -> Declared:
    """Write a signature with full names. `own` are names of template parameters, which are kept.

    `names` are the `using` declarations of the signature's file. Raises UnknownName.
    """
    speller = _Speller(names, frozenset(own), {})
    returns = None if signature.returns is None else speller.spell(signature.returns)
    parameters = tuple(CppParameter(speller.spell(p.type), p.name) for p in signature.parameters)
    return Declared(CppSignature(returns, parameters), tuple(sorted(speller.headers)))


class _Speller(Struct, frozen=True):
    names: Names
    own: frozenset[str]
    headers: dict[str, None]

    def spell(self, type_: CppType) -> CppType:
        resolved = self.names.resolved(type_)
        if "[]" in resolved.mark or resolved.name in ("auto", "..."):
            raise UnknownName(str(type_))
        arguments = tuple(self.spell(argument) for argument in resolved.arguments)
        name = self._name(resolved.name)
        if name == "std::tuple" and not arguments:
            name = "std::tuple<>"
        return replace(resolved, name=name, arguments=arguments)

    def spell_if_known(self, type_: CppType) -> CppType:
        try:
            return self.spell(type_)
        except UnknownName:
            return type_

    def _name(self, name: str) -> str:
        name = name.removeprefix("::")
        root, _, rest = name.partition("::")
        root = "::".join(self.names.namespaces.get(root, (root,))) if rest else ""
        name = f"{root}::{rest}" if root else name
        if name in _PLAIN or name in self.own or name.isdigit():
            self._need("cstdint" if name.endswith("_t") else "")
            return name
        # `c10::ScalarType` and `at::ScalarType` are the same type.
        last = _OTHER_NAMES.get(rest or name, rest or name)
        spellings = [name]
        spellings += [f"at::{last}"] if root in ("", "at", "c10", "torch") else []
        spellings += [f"c10::{last}"] if root in ("at", "c10", "torch") else []
        known = next((one for one in spellings if one in TYPES), None)
        if known is None:
            raise UnknownName(name)
        self._need(TYPES[known])
        return known

    def _need(self, header: str) -> None:
        if header:
            self.headers[header] = None


_MOST_LABELS = 3


class CallableFunction(Struct, frozen=True):
    """A function that other files can call: its full name, and the header or declaration that they need."""

    name: str
    include: str = ""
    declaration: Declaration | None = None


class Declaration(Struct, frozen=True):
    """The declaration to generate for a function that no header declares.

    If `text` is set, this one does not exist either: it calls the function that is written `calls`, which only that source
    can do, and `snippet` is the file to include there, after `start`.
    """

    namespace: str
    name: str
    declared: Declared
    template: str = ""
    calls: str = ""
    text: CppText | None = None
    start: int = 0
    snippet: str = ""


class _Uncallable(Exception):
    """The reason why other files cannot call a function, and a hint."""

    def __init__(
        self, code: str, message: str, hint: str, functions: Sequence[CppFunction] = ()
    ) -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint
        self.labels = [(function.span, "declared here") for function in functions[:_MOST_LABELS]]


class Callables(Struct, frozen=True):
    """Finds callable functions. `texts` are the sources by the identity of their Source.

    `folder` is that of the generated YAML, to which paths of headers are relative. `edits` says that edits of the sources
    will include the snippets.
    """

    functions: Functions
    texts: Mapping[int, CppText]
    folder: str
    problems: Problems
    edits: bool = False
    # What each name stands for, in the scope of a snippet or, without one, among the snippets.
    names: dict[tuple[str, str], str] = field(default_factory=dict)
    # Which definition of a function its first row means, and the file and key of that row, by the function's full name.
    meanings: dict[str, tuple[CppFunction | None, tuple[int, str]]] = field(default_factory=dict)
    # The files whose overloads a row could mean: those with registrations, and what rows include.
    seen: set[CppText] = field(default_factory=set)

    def note_files(self, kernels: Iterable[Kernel]) -> None:
        """Note the files of all rows, before `find` is called for one."""
        for kernel in kernels:
            text = self.texts.get(id(kernel.span.source))
            if text is not None and kernel.name is not None:
                functions = self._of_kernel(kernel, kernel.name, text)
                headers = [f.text for f in functions if f.text.source.path.endswith(CPP_HEADERS)]
                self.seen.update((text, *self.functions.reached(headers[:1])))

    def find(self, kernel: Kernel, key: str) -> CallableFunction | None:
        """Return how other files call the kernel of a row, a function; None, and a report, if they cannot."""
        text = self.texts.get(id(kernel.span.source))
        assert text is not None and kernel.name is not None
        try:
            return self._find(kernel.name, kernel, key, text)
        except _Uncallable as problem:
            is_error = problem.code.startswith("E")
            report = self.problems.diagnostics.error if is_error else self.problems.warn
            report(
                problem.code, str(problem), kernel.span, hint=problem.hint, labels=problem.labels
            )
            return None

    def meant(self, kernel: Kernel) -> Sequence[CppFunction]:
        """Return the definitions of the function that a kernel names, or else the declarations that the sources have.

        Definitions are several for alternatives of `#if`.
        """
        text = self.texts.get(id(kernel.span.source))
        if text is None or kernel.name is None:
            return ()
        functions = self._of_kernel(kernel, kernel.name, text)
        return [f for f in functions if f.is_definition] or functions

    def _of_kernel(
        self, kernel: Kernel, name: FunctionName, text: CppText
    ) -> Sequence[CppFunction]:
        """Return all declarations of the function that a kernel names; of its overloads, those that its cast chooses."""
        functions = self.functions.find(name, text, kernel.span.start)
        if kernel.signature is None or name.template:
            return functions
        types = self._types(kernel.signature, text)
        return [f for f in functions if self._types_of(f) == types] or functions

    def _find(
        self, name: FunctionName, kernel: Kernel, key: str, text: CppText
    ) -> CallableFunction:
        functions = self._of_kernel(kernel, name, text)
        if not functions:
            message = f"no given source declares '{name}'"
            raise _Uncallable("W1173", message, "also pass the header that does")
        plain = [f for f in functions if not f.instance and f.template != "<>"]
        problem = _find_local(name, functions) or _find_template(name, functions, plain)
        overloads = self._overloads(name, functions[0])
        if problem is None and len(overloads) > 1:
            message = (
                f"'{name}' is one of {len(overloads)} functions of that name: no row can tell which"
            )
            problem = _Uncallable("W1171", message, "give it a unique name", overloads)
        if problem is not None:
            return self._called_in_its_file(name, plain or functions, kernel, problem)
        self._check_definitions(name, key, text, functions[0])
        full_name = f"::{functions[0].full_name}{name.template}"
        header = next((f for f in plain if f.text.source.path.endswith(CPP_HEADERS)), None)
        if header is not None:
            # The name by which the registering file includes it has priority.
            include = include_name(header.text, (text, *self.texts.values()), self.folder)
            return CallableFunction(full_name, include=include)
        first = next((f for f in plain if f.is_definition), (plain or list(functions))[0])
        if any(f.is_member for f in plain):
            message = f"only its own file declares the class of '{name}'"
            hint = "declare the class in a header, and also pass that"
            problem = _Uncallable("W1171", message, hint, [first])
            return self._called_in_its_file(name, plain, kernel, problem)
        return CallableFunction(full_name, declaration=self._declaration(name, first))

    def _called_in_its_file(
        self,
        name: FunctionName,
        functions: Sequence[CppFunction],
        kernel: Kernel,
        problem: _Uncallable,
    ) -> CallableFunction:
        """Return the function of a snippet for a file that can call one of `functions`, and tell where to include it."""
        first = next((f for f in functions if f.is_definition), functions[0])
        text, start = first.text, first.span.start
        if first.in_header:
            text, start = self.texts[id(kernel.span.source)], kernel.span.start
        is_named = bool(name.template) or not first.template
        if text.source.path.endswith(HEADERS) or not is_named:
            raise problem
        self._check_overloads(name, functions)
        try:
            signature = instantiate(first, name.template)
            declared = spell_signature(signature, self.functions.names_of(first.text))
        except UnknownName:
            raise problem from None
        stem = self._stem(text.source.path)
        calls = f"::{first.full_name}{name.template}"
        wanted = _identifier(re.sub(r"\W+$", "", calls))
        if len(self._overloads(name, first)) > 1:
            types = ", ".join(str(p.type) for p in declared.signature.parameters)
            calls = f"static_cast<{declared.signature.returns} (*)({types})>(&{calls})"
        declaration = Declaration(
            namespace=f"opgen_kernels::{stem}",
            name=self._unused(stem, wanted, calls),
            declared=declared,
            calls=calls,
            text=text,
            start=start,
            snippet=f"{stem}.inc",
        )
        if not self.edits and f'"{declaration.snippet}"' not in text.source.text:
            file = posixpath.basename(text.source.path)
            hint = f'write #include "{declaration.snippet}" at the end of {file}'
            self.problems.warn(
                problem.code, str(problem), kernel.span, hint=hint, labels=problem.labels
            )
        full_name = f"::{declaration.namespace}::{declaration.name}"
        return CallableFunction(full_name, declaration=declaration)

    def _stem(self, path: str) -> str:
        """Return a name for a source: its last parts by which it differs from all others, `cpu_nms_cpp`."""
        paths = [f"/{posixpath.normpath(text.source.path)}" for text in self.texts.values()]
        parts = posixpath.normpath(path).split("/")
        ends = ("/".join(parts[-count:]) for count in range(1, len(parts) + 1))
        alone = next((e for e in ends if sum(p.endswith(f"/{e}") for p in paths) < 2), path)
        return self._unused("", _identifier(alone), path)

    def _unused(self, scope: str, wanted: str, owner: str) -> str:
        """Return `wanted`, with a number if it stands for something other than `owner` in `scope`."""
        name, count = wanted, 1
        while self.names.setdefault((scope, name), owner) != owner:
            count += 1
            name = f"{wanted}_{count}"
        return name

    def _declaration(self, name: FunctionName, function: CppFunction) -> Declaration:
        own = function.template_names
        names = self.functions.names_of(function.text)
        try:
            declared = spell_signature(function.signature, names, own)
        except UnknownName as problem:
            message = f"the type of '{name}' uses '{problem}', which only its own file declares"
            hint = "declare the function in a header, and also pass that"
            raise _Uncallable("W1174", message, hint, [function]) from None
        *namespaces, last = function.path
        return Declaration("::".join(namespaces), last, declared, function.template)

    def _check_overloads(self, name: FunctionName, functions: Sequence[CppFunction]) -> None:
        """Raise if there is more than one function with this name."""
        found = self._of_each_type(
            [f for f in functions if bool(f.template) == bool(name.template)]
        )
        if len(found) > 1:
            message = f"'{name}' is one of {len(found)} functions of that name"
            hint = "cast it to the type of the one that is meant, or give it a unique name"
            raise _Uncallable("W1172", message, hint, found)

    def _overloads(self, name: FunctionName, function: CppFunction) -> Sequence[CppFunction]:
        """Return a declaration of each function with the full name of `function` that generated code may include."""
        if name.template:
            return [function]
        found = []
        for one in self.functions.named(name.base):
            is_seen = one.text is function.text or (
                one.text in self.seen and (one.in_header or not one.local)
            )
            is_hidden = one.local == "unnamed" != function.local
            if one.path == function.path and is_seen and not is_hidden:
                found.append(one)
        return self._of_each_type(found)

    def _of_each_type(self, functions: Sequence[CppFunction]) -> Sequence[CppFunction]:
        found: dict[tuple[bool, str], CppFunction] = {}
        for function in functions:
            found.setdefault((bool(function.template), self._types_of(function)), function)
        return list(found.values())

    def _check_definitions(
        self, name: FunctionName, key: str, text: CppText, function: CppFunction
    ) -> None:
        """Raise if several files define the function, and rows mean several of these: a library has only one of them.

        A row means the definition in its own file. Without one, the rows of another file and key may mean another one: a
        build may have the files of one device alone.
        """
        named = self.functions.named(name.base)
        found = [f for f in named if f.path == function.path and f.is_definition]
        files = {id(f.text): f for f in found if not (f.local or f.in_header or f.template)}
        if len(files) < 2 or name.template:
            return
        own, place = files.get(id(text)), (id(text), key)
        first_own, first_place = self.meanings.setdefault(function.full_name, (own, place))
        if own is not first_own or not (own or {*place} & {*first_place}):
            message = f"'{name}' is defined in {len(files)} files, and rows mean several of them"
            hint = "put them into unnamed namespaces, or import the sources of one library alone"
            raise _Uncallable("E1165", message, hint, list(files.values()))

    def _types_of(self, function: CppFunction) -> str:
        return self._types(function.signature, function.text, function.template_names)

    def _types(self, signature: CppSignature, text: CppText, own: Sequence[str] = ()) -> str:
        """Return the types of the parameters with full names, so that all declarations of a function agree."""
        speller = _Speller(self.functions.names_of(text), frozenset(own), {})
        types = [speller.spell_if_known(parameter.type) for parameter in signature.parameters]
        return ", ".join(str(t if t.mark else replace(t, is_const=False)) for t in types)


def _find_local(name: FunctionName, functions: Sequence[CppFunction]) -> _Uncallable | None:
    """Return the problem if only its own file can call the function."""
    if not all(f.local and not f.in_header for f in functions):
        return None
    static = functions[0].local == "static"
    where = "static" if static else "in an unnamed namespace"
    hint = "drop 'static'" if static else "move it out of the unnamed namespace"
    return _Uncallable("W1171", f"'{name}' is {where}: no other file can call it", hint, functions)


def _find_template(
    name: FunctionName, functions: Sequence[CppFunction], plain: Sequence[CppFunction]
) -> _Uncallable | None:
    """Return the problem if the function is a template whose instance no other file can call."""
    templates = [f for f in plain if f.template]
    if not templates or (len(templates) < len(plain) and not name.template):
        return None
    arguments = "".join(name.template.split())
    in_header = any(f.is_definition and f.text.source.path.endswith(CPP_HEADERS) for f in templates)
    if arguments and (in_header or any(f.instance == arguments for f in functions)):
        return None
    message = f"'{name}' is a template, and no source instantiates it"
    hint = "instantiate it explicitly: template ... f<...>(...);"
    if not arguments:
        message = f"'{name}' is a template without arguments"
        hint = "name the instance: &f<float>"
    return _Uncallable("W1171", message, hint, templates)


def _identifier(text: str) -> str:
    """Return an identifier for a path or a name: ASCII, and no digit at its beginning."""
    name = re.sub(r"[^A-Za-z0-9_]+", "_", text).lstrip("_") or "_"
    return f"n{name}" if name[0].isdigit() else name
