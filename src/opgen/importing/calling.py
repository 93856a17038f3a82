"""Kernels as they are: the full names of the functions that sources register, and what declares each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from opgen.dataclasses import dataclass, field, replace
from opgen.diagnostics.codes import Code
from opgen.importing import codes
from opgen.importing.cpp_functions import CppFunction, Functions
from opgen.importing.cpp_includes import CPP_HEADERS, how_included
from opgen.importing.cpp_macros import split_arguments
from opgen.importing.cpp_spelling import Declared, UnknownName, spell_signature
from opgen.importing.cpp_text import CppText
from opgen.importing.problems import Problems
from opgen.importing.registrations import FunctionName, Kernel

_STABLE = ("torch::stable::", "torch::headeronly::")
_MOST_LABELS = 3


@dataclass(frozen=True, slots=True)
class Called:
    """A function that other files can call: by `name`, with what `include` names, or after `declaration`."""

    name: str
    include: str = ""
    declaration: Declaration | None = None


@dataclass(frozen=True, slots=True)
class Declaration:
    """What is to be written for a function that no header declares."""

    namespace: str
    name: str
    declared: Declared
    template: str = ""


class _Uncallable(Exception):
    """Why a function cannot be called from another file, and what to do."""

    def __init__(
        self, code: Code, message: str, hint: str, functions: Sequence[CppFunction] = ()
    ) -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint
        self.labels = [(function.span, "declared here") for function in functions[:_MOST_LABELS]]


@dataclass(frozen=True, slots=True)
class Callables:
    """`texts` are the sources by the identity of their Source; `folder` is that of the YAML that is written."""

    functions: Functions = field(repr=False)
    texts: Mapping[int, CppText] = field(repr=False)
    folder: str
    problems: Problems

    def find(self, kernel: Kernel) -> Called | None:
        """How other files call a kernel that is a function; None, and a report, if they cannot."""
        text = self.texts.get(id(kernel.span.source))
        assert text is not None and kernel.name is not None
        try:
            return self._called(kernel.name, kernel, text)
        except _Uncallable as problem:
            self.problems.warn(
                problem.code,
                str(problem),
                kernel.span,
                hint=problem.hint,
                labels=problem.labels,
            )
            return None

    def _called(self, name: FunctionName, kernel: Kernel, text: CppText) -> Called:
        found = self.functions.find(name, text, kernel.span.start)
        if not found:
            message = f"no given source declares '{name}'"
            raise _Uncallable(codes.NOT_DECLARED, message, "pass the header that does, too")
        plain = [f for f in found if not f.instance and f.template != "<>"]
        _check_local(name, found)
        _check_template(name, found, plain)
        self._check_stable(name, found)
        self._check_overloads(name, plain)
        full_name = f"::{found[0].full_name}{name.template}"
        header = next((f for f in plain if f.text.source.path.endswith(CPP_HEADERS)), None)
        if header is not None:
            # As the registering file includes it, if that does.
            texts = (text, *self.texts.values())
            return Called(full_name, include=how_included(header.text, texts, self.folder))
        first = next((f for f in plain if f.is_definition), (plain or list(found))[0])
        if first.is_member:
            message = f"the class of '{name}' is known in its own file only"
            hint = "declare the class in a header, and pass that, too"
            raise _Uncallable(codes.CANNOT_CALL, message, hint, [first])
        return Called(full_name, declaration=self._declaration(name, first))

    def _declaration(self, name: FunctionName, function: CppFunction) -> Declaration:
        own = _template_names(function)
        names = self.functions.names_of(function.text)
        try:
            declared = spell_signature(function.signature, names, own)
        except UnknownName as problem:
            message = f"the type of '{name}' uses '{problem}', which only its own file knows"
            hint = "declare the function in a header, and pass that, too"
            raise _Uncallable(codes.UNKNOWN_TYPE, message, hint, [function]) from None
        *namespaces, last = function.path
        return Declaration("::".join(namespaces), last, declared, function.template)

    def _check_stable(self, name: FunctionName, functions: Sequence[CppFunction]) -> None:
        """Raise if a function is on the stable ABI, which has a tensor of its own."""
        for function in functions:
            namespaces = self.functions.names_of(function.text).namespaces
            signature = function.signature
            types = [*(p.type for p in signature.parameters), signature.returns]
            for written in (one for type_ in types if type_ is not None for one in type_.names()):
                root, _, rest = written.removeprefix("::").partition("::")
                full_name = "::".join((*namespaces.get(root, (root,)), rest))
                if full_name.startswith(_STABLE):
                    message = f"'{name}' uses {full_name}, which only TORCH_BOX can register"
                    hint = "keep registering it by hand"
                    raise _Uncallable(codes.CANNOT_CALL, message, hint, [function])

    def _check_overloads(self, name: FunctionName, functions: Sequence[CppFunction]) -> None:
        """Raise if there is more than one function of the name."""
        wanted = [f for f in functions if bool(f.template) == bool(name.template)]
        different: dict[str, CppFunction] = {}
        for function in wanted:
            different.setdefault(self._types(function), function)
        if len(different) > 1:
            message = f"'{name}' is one of {len(different)} functions of that name"
            hint = "give the kernel a name of its own"
            raise _Uncallable(codes.AMBIGUOUS, message, hint, list(different.values()))

    def _types(self, function: CppFunction) -> str:
        """The types of its parameters, spelled alike wherever it is declared."""
        try:
            names = self.functions.names_of(function.text)
            signature = spell_signature(
                function.signature, names, _template_names(function)
            ).signature
        except UnknownName:
            signature = function.signature
        types = (parameter.type for parameter in signature.parameters)
        return ", ".join(str(t if t.mark else replace(t, is_const=False)) for t in types)


def _check_local(name: FunctionName, found: Sequence[CppFunction]) -> None:
    """Raise if only its own file knows the function."""
    if not all(f.local and not f.in_header for f in found):
        return
    static = found[0].local == "static"
    where = "static" if static else "in an unnamed namespace"
    hint = "drop 'static'" if static else "move it out of the unnamed namespace"
    message = f"'{name}' is {where}: no other file can call it"
    raise _Uncallable(codes.CANNOT_CALL, message, hint, found)


def _check_template(
    name: FunctionName, found: Sequence[CppFunction], plain: Sequence[CppFunction]
) -> None:
    """Raise if it is a template whose instance no other file can call."""
    templates = [f for f in plain if f.template]
    if not templates or (len(templates) < len(plain) and not name.template):
        return
    wanted = "".join(name.template.split())
    in_header = any(f.is_definition and f.text.source.path.endswith(CPP_HEADERS) for f in templates)
    if wanted and (in_header or any(f.instance == wanted for f in found)):
        return
    message = f"'{name}' is a template, and no source instantiates it"
    hint = "instantiate it explicitly: template ... f<...>(...);"
    if not wanted:
        message = f"'{name}' is a template without arguments"
        hint = "name the instance: &f<float>"
    raise _Uncallable(codes.CANNOT_CALL, message, hint, templates)


def _template_names(function: CppFunction) -> list[str]:
    parameters = split_arguments(function.template[1:-1]) if function.template else []
    found = (re.match(r".*?(\w+)\s*(?:=.*)?$", one, re.DOTALL) for one in parameters)
    return [one[1] for one in found if one is not None]
