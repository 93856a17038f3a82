"""Warn about functions in formulas that nothing declares, and say what to write.

Only operators of libraries are looked at: the formulas of `aten` call PyTorch's own functions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from opgen.autograd import codes
from opgen.autograd.derivative import DifferentiabilityInfo, DifferentiableFunction
from opgen.autograd.formula_checks import called_functions
from opgen.autograd.formula_text import parts
from opgen.autograd.helpers import HELPERS
from opgen.cpp.cpp_types import type_of_return
from opgen.cpp.names import cpp_name
from opgen.cpp.signatures import DispatcherSignature
from opgen.cpp.spelling import TypeSpelling, spell
from opgen.cpp.type_values import TypeContext
from opgen.diagnostics import Diagnostics
from opgen.diagnostics.suggestions import Vocabulary
from opgen.model.derivatives import DerivativeEntry, FormulaRow
from opgen.model.profile import operator_namespace

_SUFFIXES = re.compile(r"(_symint)?(_outf|_out)?$")
_TENSOR = "const Tensor&"


def warn_of_undeclared(
    functions: Sequence[DifferentiableFunction],
    is_declared: Callable[[str], bool],
    spelling: TypeSpelling,
    diagnostics: Diagnostics,
) -> None:
    """Report functions that are no operators and no helpers, and of which `is_declared` says no."""
    operators = {_SUFFIXES.sub("", str(cpp_name(fn.func.func))) for fn in functions}
    operators |= {fn.func.root_name for fn in functions}
    known = Vocabulary((*sorted(operators), *HELPERS))
    reported: set[str] = set()
    for info in _infos(functions):
        namespace = operator_namespace(info.func.namespace)
        for row in _rows(info.entry):
            for call in called_functions(row.formula.text, ("at", namespace)):
                name = call[0]
                if (
                    name in HELPERS
                    or name in reported
                    or _SUFFIXES.sub("", name) in operators
                    or is_declared(name)
                ):
                    continue
                reported.add(name)
                message = f"nothing declares the function '{name}'"
                span, notes = row.formula.place.part(*call.span()), []
                hint = known.did_you_mean(name)
                if hint is None and not row.formula.text[: call.start()].rstrip().endswith("at::"):
                    hint = "declare it in a header, and name that in 'include'"
                    guess = _declaration(info, row, call, spelling)
                    notes = [
                        f"in my_formulas.h: namespace {namespace} {{ {guess} }}",
                        "as the first item of this file: '- include: my_formulas.h'",
                    ]
                diagnostics.warning(codes.W1243, message, span, hint=hint, notes=notes)


def _infos(functions: Iterable[DifferentiableFunction]) -> Iterator[DifferentiabilityInfo]:
    """Yield the gradients of operators of libraries, once for each entry."""
    for fn in functions:
        own = (info for info in fn.infos.values() if info.func is fn.func)
        info = next(own, None)
        if fn.func.is_library and info is not None:
            yield info


def _rows(entry: DerivativeEntry) -> Iterator[FormulaRow]:
    for table in entry.tables:
        yield from table.rows


def _declaration(
    info: DifferentiabilityInfo, row: FormulaRow, call: re.Match[str], spelling: TypeSpelling
) -> str:
    """Return a declaration of the function, with the types of what the formula passes as far as they are known."""
    text = row.formula.text
    found = parts(text[text.index("(", call.end()) + 1 :])
    given = () if found is None else found.texts
    context = TypeContext.of(info.func)
    arguments = DispatcherSignature.from_native_function(info.func).arguments()
    types = {b.name: spell(b.type, spelling) for b in arguments}
    for name, value in zip(_outputs(info), info.func.func.returns):
        types[name] = f"const {spell(type_of_return(info.func, value, context), spelling)}&"
    tensor = types.get(row.names[0].text, _TENSOR)
    parameters = (_parameter(text, types, tensor) for text in given)
    whole = text[: call.start()].strip() in ("", f"{operator_namespace(info.func.namespace)}::")
    number = len(row.names) if whole else 1
    plain = tensor.removeprefix("const ").removesuffix("&").rstrip()
    returned = f"std::tuple<{', '.join([plain] * number)}>" if number > 1 else plain
    return f"{returned} {call[0]}({', '.join(parameters)});"


def _outputs(info: DifferentiabilityInfo) -> Iterator[str]:
    returns = info.func.func.returns
    for index, value in enumerate(returns):
        yield value.name or ("result" if len(returns) == 1 else f"result{index}")


def _parameter(text: str, types: dict[str, str], tensor: str) -> str:
    if text in types:
        return f"{types[text]} {text}"
    if re.fullmatch(r"grad|grad_\w+|\w+_[pt]", text):
        return f"{tensor} {text}"
    return "..."
