"""Read the formulas of gradients, and derive the gradients of all operators.

Headers are not parsed: a name that one of them contains counts as declared.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from opgen.autograd.called_functions import (
    warn_of_plain_sizes,
    warn_of_undeclared,
    warn_of_unknown_members,
    warn_of_unknown_operators,
)
from opgen.autograd.derivative import DifferentiableFunction, FormulaFiles
from opgen.autograd.differentiability import derive_infos
from opgen.autograd.kernels import warn_of_missing
from opgen.autograd.matching import match_infos
from opgen.cpp.signatures import Signatures
from opgen.data import runtime_dir
from opgen.diagnostics import Diagnostics, until_too_many
from opgen.model.derivatives import DerivativesFile
from opgen.model.registry import Registry
from opgen.parse.files.derivatives import parse_derivatives
from opgen.pipeline.author_headers import Include, find_cpp_text, includes_a_macro, includes_in
from opgen.pipeline.inputs import Inputs, author_headers, derivatives_paths, installed_include
from opgen.pipeline.loading import read_source
from opgen.targets import TARGETS
from opgen.targets.base import FileKind
from opgen.targets.unsupported import operators_of_pytorch, report_formulas_without_python

# Members of the standard library's classes that formulas see: containers, optionals, strings, complex numbers.
_OF_STD = frozenset(
    (
        *("at", "back", "begin", "data", "emplace_back", "empty", "end", "front", "push_back"),
        *("has_value", "reserve", "resize", "size", "substr", "value", "value_or", "real", "imag"),
        # opgen replaces it by a function.
        "sym_blocksize",
        # Of class Scalar, whose members are declared by macros.
        *("toBool", "toComplexDouble", "toComplexFloat", "toDouble", "toFloat", "toInt", "toLong"),
    )
)
_COMMENT = re.compile(r"//[^\n]*")
_CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
# The folders of PyTorch's headers whose functions formulas may call.
_OF_PYTORCH = ("ATen", "ATen/core", "c10/core", "c10/util", "torch/csrc/autograd")


class _DeclaredFunctions:
    """Looks for functions in the headers of the target, and in those that the author includes.

    A name that a header contains counts as declared. If a header is not found, every function may be declared there.
    """

    def __init__(self, inputs: Inputs, includes: Sequence[str]) -> None:
        self._inputs = inputs
        self._names = self._of_author(includes)
        self._knows_all = self._names is not None and inputs.extends is None

    def __contains__(self, name: str) -> bool:
        if not self._knows_all or self._names is None or name in self._names:
            return True
        if TARGETS[self._inputs.target].installed is None:
            return name in _words_reached(runtime_dir() / "include", "opgen/autograd/derived.h")
        installed = installed_include(self._inputs.target)
        if installed is None or (installed / "ATen" / "ops" / f"{name}.h").is_file():
            return True
        own = _words(runtime_dir() / "torch" / "include", "**/*.h")
        return name in own or any(name in _words(installed / f, "*.h") for f in _OF_PYTORCH)

    def needs_symint(self, name: str) -> bool:
        """Return whether PyTorch's function or method takes symbolic sizes only with the suffix `_symint`."""
        installed = installed_include(self._inputs.target)
        if installed is None or name in (self._names or ()):
            return False
        paths = (f"ATen/ops/{name}.h", "ATen/core/TensorBody.h")
        return f"{name}_symint" in _words(installed, *paths)

    def members(self) -> frozenset[str] | None:
        """Return the names of members that formulas may call, and others; None if a class may have any."""
        if not self._knows_all or self._names is None:
            return None
        target = TARGETS[self._inputs.target]
        folder = (
            runtime_dir() / "include"
            if target.installed is None
            else installed_include(target.name)
        )
        if folder is None:
            return None
        return self._names | _OF_STD | _words(folder, *target.plan.formula_headers)

    def _of_author(self, includes: Sequence[str]) -> frozenset[str] | None:
        """Return the names in the author's headers; None if one is not found."""
        found = author_headers(self._inputs, includes)
        if any(includes_a_macro(header.text) for header in found):
            return None
        there = {header.written for header in found}
        # The folders of the target's headers.
        installed = filter(None, [installed_include(self._inputs.target)])
        tops = (runtime_dir() / "include", runtime_dir() / "torch" / "include", *installed)
        named = [Include(text.strip('"<>'), text[0] == '"') for text in includes]
        named += [include for header in found for include in includes_in(header.text)]
        for include in named:
            name = include.name
            is_found = f'"{name}"' in there or f"<{name}>" in there
            is_plain = not include.quoted and "/" not in name and "." not in name
            if not is_found and not is_plain and not any((top / name).is_file() for top in tops):
                return None
        return frozenset(word for header in found for word in _CALLED.findall(header.text))


def aten_operators() -> frozenset[str]:
    """Return the names of PyTorch's operators; none if it is not installed."""
    installed = installed_include("torch")
    headers = () if installed is None else (installed / "ATen" / "ops").glob("*.h")
    return frozenset(path.stem for path in headers)


@cache
def _words_reached(top: Path, header: str) -> frozenset[str]:
    """Return the words of a header and of those below `top` that it includes."""
    texts: dict[str, str] = {}
    pending = [header]
    while pending:
        name = pending.pop()
        if name not in texts:
            texts[name] = find_cpp_text(top / name) or ""
            pending += [include.name for include in includes_in(texts[name])]
    plain = (_COMMENT.sub("", text) for text in texts.values())
    return frozenset(word for text in plain for word in _CALLED.findall(text))


@cache
def _words(folder: Path, *patterns: str) -> frozenset[str]:
    """Return the words of the headers in a folder that match one of the patterns."""
    paths = (path for pattern in patterns for path in folder.glob(pattern))
    return frozenset(word for path in paths for word in _CALLED.findall(find_cpp_text(path) or ""))


class Gradients(Struct, frozen=True):
    """Every operator with its gradients, in the order of the registry, and what the files of formulas bring besides.

    All is empty if there are no formulas.
    """

    functions: tuple[DifferentiableFunction, ...] = ()
    files: FormulaFiles = FormulaFiles()


@until_too_many(lambda: None)
def read_derivatives(inputs: Inputs, diagnostics: Diagnostics) -> DerivativesFile | None:
    """Read the files of formulas that `inputs` name; None if there are errors, which are reported."""
    errors = diagnostics.error_count
    paths = derivatives_paths(inputs)
    sources = [read_source(path, diagnostics, inputs.overlay) for path in paths]
    strict = inputs.strict_torchgen
    files = [
        parse_derivatives(source, diagnostics, strict_torchgen=strict)
        for source in sources
        if source is not None
    ]
    entries = tuple(entry for file in files for entry in file.entries)
    includes = tuple(dict.fromkeys(header for file in files for header in file.includes))
    is_found = not inputs.derivatives
    file = DerivativesFile(entries, includes, is_found)
    return file if diagnostics.error_count == errors else None


def check_derivatives(
    registry: Registry | None, inputs: Inputs, signatures: Signatures, diagnostics: Diagnostics
) -> Gradients:
    """Report problems of the files of formulas, if there are any.

    Without a registry, their operators are not looked up: a missing one may be an entry with errors.
    """
    if registry is None:
        read_derivatives(inputs, diagnostics)
        return Gradients()
    return derive_gradients(registry, inputs, signatures, diagnostics)


def check_called_functions(gradients: Gradients, inputs: Inputs, diagnostics: Diagnostics) -> None:
    """Report functions of formulas that no header declares, or of formulas in Python that are no operators.

    Generated files do not depend on the contents of these headers, so `opgen generate` does not do this.
    """
    is_cpp = FileKind.DERIVATIVES in TARGETS[inputs.target].plan.kinds
    in_python = FileKind.PYTHON_REGISTRATIONS in TARGETS[inputs.target].plan.kinds
    if in_python and inputs.extends is None and (operators := aten_operators()):
        nodes = operators_of_pytorch(gradients.functions, gradients.files.declared)
        warn_of_unknown_operators(nodes, operators, diagnostics)
    if is_cpp and any(fn.func.is_library and fn.infos for fn in gradients.functions):
        declared = _DeclaredFunctions(inputs, gradients.files.includes)
        cpp = TARGETS[inputs.target].cpp
        warn_of_undeclared(
            gradients.functions,
            declared.__contains__,
            cpp.spelling,
            diagnostics,
            symint_overloads=cpp.symint_overloads,
        )
        if cpp.symint_overloads:
            warn_of_plain_sizes(gradients.functions, declared.needs_symint, diagnostics)
        members = declared.members()
        if members is not None:
            warn_of_unknown_members(
                gradients.functions, members, diagnostics, has_methods=bool(cpp.base_tensor)
            )


@until_too_many(Gradients)
def derive_gradients(
    registry: Registry, inputs: Inputs, signatures: Signatures, diagnostics: Diagnostics
) -> Gradients:
    """Return the gradients of all operators: what is generated from the files of formulas. Errors are reported."""
    paths = derivatives_paths(inputs)
    if not paths:
        return Gradients()
    files = read_derivatives(inputs, diagnostics)
    if files is None:
        return Gradients()
    target = TARGETS[inputs.target]
    errors = diagnostics.error_count
    infos = derive_infos(registry, files, signatures, diagnostics)
    functions = match_infos(registry, infos, diagnostics)
    if diagnostics.error_count == errors:
        warn_of_missing(functions, diagnostics)
    own = FormulaFiles()
    if files.includes:
        # The grammar of C++ takes 12 ms to import, a tenth of a small run.
        from opgen.pipeline.author_functions import find_author_functions  # noqa: PLC0415

        own = find_author_functions(functions, files.includes, inputs)
    in_python = FileKind.PYTHON_REGISTRATIONS in target.plan.kinds
    if in_python and diagnostics.error_count == errors:
        report_formulas_without_python(target, functions, own.declared, diagnostics)
    # Compilers' errors show the path of each file from the folder that has all of them.
    absolute = {str(path): os.path.abspath(path) for path in paths}
    common = os.path.commonpath([os.path.dirname(path) for path in absolute.values()])
    short = {name: os.path.relpath(p, common).replace("\\", "/") for name, p in absolute.items()}
    return Gradients(functions, replace(own, short_names=short))
