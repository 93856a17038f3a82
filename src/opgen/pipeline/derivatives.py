"""Read the formulas of gradients, and derive the gradients of all operators."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from opgen.autograd.called_functions import (
    warn_of_plain_sizes,
    warn_of_undeclared,
    warn_of_unknown_members,
    warn_of_unknown_operators,
)
from opgen.autograd.derivative import DifferentiableFunction
from opgen.autograd.differentiability import derive_infos
from opgen.autograd.formula_files import FormulaFiles
from opgen.autograd.matching import match_infos
from opgen.autograd.warnings import warn_of_missing
from opgen.cpp.signatures import Signatures
from opgen.diagnostics import Diagnostics, until_too_many
from opgen.model.derivatives import DerivativesFile
from opgen.model.registry import Registry
from opgen.parse import parse_derivatives
from opgen.pipeline.declared_functions import DeclaredFunctions, aten_operators
from opgen.pipeline.inputs import Inputs, derivatives_paths
from opgen.pipeline.reading import read_source
from opgen.targets import TARGETS
from opgen.targets.base import FileKind
from opgen.targets.unsupported import operators_of_pytorch, report_formulas_without_python


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
        declared = DeclaredFunctions(inputs, gradients.files.includes)
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
            # Where class Tensor is generated, operators can be its methods.
            owns_tensor = cpp.tensor_header is None
            warn_of_unknown_members(
                gradients.functions, members, diagnostics, owns_tensor=owns_tensor
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
    own = _formula_files(functions, files.includes, inputs) if files.includes else FormulaFiles()
    in_python = FileKind.PYTHON_REGISTRATIONS in target.plan.kinds
    if in_python and diagnostics.error_count == errors:
        report_formulas_without_python(target, functions, own.declared, diagnostics)
    return Gradients(functions, replace(own, short_names=_short_names(paths)))


def _formula_files(
    functions: Sequence[DifferentiableFunction], includes: tuple[str, ...], inputs: Inputs
) -> FormulaFiles:
    # The grammar of C++ takes 12 ms to import, a tenth of a small run.
    from opgen.pipeline.author_functions import find_author_functions  # noqa: PLC0415

    found = find_author_functions(functions, includes, inputs)
    return FormulaFiles(includes, found.functions, found.declared)


def _short_names(paths: Sequence[Path]) -> dict[str, str]:
    """Return the name of each file as compilers' errors show it: its path from the folder that has all of the files."""
    absolute = [os.path.abspath(path) for path in paths]
    common = os.path.commonpath([os.path.dirname(path) for path in absolute])
    return {
        str(path): os.path.relpath(full, common).replace("\\", "/")
        for path, full in zip(paths, absolute)
    }
