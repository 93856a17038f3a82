"""Check the formulas of one operator against finite differences, and count what was checked."""

from __future__ import annotations

import cmath
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from msgspec import Struct, field

from opgen.autograd.derivative import DifferentiabilityInfo, DifferentiableFunction
from opgen.autograd.kernels import differentiable_outputs
from opgen.cpp.names import return_names
from opgen.cpp.signatures import Signatures
from opgen.diagnostics import Diagnostics, OpgenError
from opgen.gradtest.backends import (
    NOT_THERE,
    Different,
    NotCompiled,
    Tensors,
    elements_of,
    first_line,
    is_comparison,
    tensors_of,
)
from opgen.gradtest.calls import Place, at, check_compiled, function_of, places_in
from opgen.gradtest.drawing import GradientDrawer, Plan, Undrawable
from opgen.model.derivatives import DEFAULT_KEY
from opgen.model.domains import EVERYTHING, Domain
from opgen.model.function_schema import FunctionSchema, SchemaKind
from opgen.pipeline.derivatives import derive_gradients
from opgen.pipeline.inputs import Inputs
from opgen.pipeline.loading import load
from opgen.targets import TARGETS
from opgen.targets.base import FileKind

# A formula is checked at this many calls of each dtype, and drawing stops after so many calls.
ENOUGH, MOST = 20, 6000
# The first calls are checked for second derivatives, too.
OF_SECOND_ORDER = 8
# Fewer under torch.compile, which takes long: one with a gradient for all tensors, and others for all but one.
COMPILED = 3
# The text of a stub, on both targets, and of an empty body that `opgen stub` wrote.
_IS_STUB = re.compile(r" has no \w+ kernel yet; ")
_NUMBERS = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


class Report(Struct):
    """What was done for one operator and dtype."""

    name: str
    dtype: str
    modes: tuple[str, ...]
    narrowings: tuple[str, ...] = ()
    drawn: int = 0
    checked: int = 0
    # Calls that are accepted, and have nothing to check: no elements, or no output that depends on an input.
    empty: int = 0
    # The reasons of kernels to refuse a call, without numbers.
    refused: Counter[str] = field(default_factory=Counter)
    # Second derivatives that are not there, by what the library says.
    second_order: int = 0
    not_implemented: Counter[str] = field(default_factory=Counter)
    # Calls that were compared under torch.compile, and why others were not; None without torch.compile.
    compiled: int | None = None
    not_compiled: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        compiled = "" if self.compiled is None else f"; {self.compiled} under torch.compile"
        lines = [
            f"{self.name} {self.dtype}: {self.drawn} calls drawn, {sum(self.refused.values())} refused, "
            f"{self.empty} without elements, {self.checked} checked ({', '.join(self.modes)}; "
            f"{self.second_order} for second derivatives{compiled})"
        ]
        lines += [f"  refused {count}: {why}" for why, count in self.refused.most_common(5)]
        lines += [f"  second derivative: {why}" for why in self.not_implemented]
        lines += [f"  under torch.compile: not tested: {why}" for why in self.not_compiled]
        lines += [f"  narrowed: {what}" for what in self.narrowings]
        return "\n".join(lines)


class Gradient(Struct, frozen=True):
    """An operator with formulas. `inputs` are the arguments with a gradient, `outputs` the positions of such outputs.

    `forward` is whether it has a forward formula that its target uses. `second_order` is whether the gradient may have a gradient.
    """

    namespace: str
    schema: FunctionSchema
    inputs: tuple[str, ...]
    outputs: tuple[int, ...]
    forward: bool
    # Whether it returns views, for which PyTorch has no rule of vmap.
    views: bool = False

    def __str__(self) -> str:
        return f"{self.namespace}::{self.schema.name}"

    def check(
        self, module: ModuleType, domains: Mapping[str, Domain] | None = None
    ) -> tuple[Report, ...]:
        """Check the gradients on calls drawn from the schema, and print what was done. Throw if one is wrong.

        `module` is `torch`, or the package of target runtime. `domains` are what the author says about arguments, by the
        name of the operator.
        """
        tensors, domain = tensors_of(module), self._domain(domains or {})
        reports = []
        for number, dtype in enumerate(domain.dtypes or tensors.dtypes):
            report = _Check(self, tensors, dtype, domain).run()
            reports.append(report)
            print(report)
            optional = number > 0 and domain.dtypes is None
            if report.checked < ENOUGH and not (optional and report.checked == 0):
                message = f"only {report.checked} of {ENOUGH} calls were checked: say more about its arguments in a Domain"
                raise AssertionError(f"{message}\n{report}")
        return tuple(reports)

    def _domain(self, domains: Mapping[str, Domain]) -> Domain:
        """Return the domain of the operator; an in-place variant has that of the functional one."""
        own = str(self)
        plain = f"{self.namespace}::{self.schema.name.remove_inplace()}"
        return domains.get(own) or domains.get(plain) or EVERYTHING


class _Check(Struct):
    gradient: Gradient
    tensors: Tensors
    dtype: str
    domain: Domain

    def run(self) -> Report:
        gradient = self.gradient
        modes = ("backward", "forward") if gradient.forward else ("backward",)
        report = Report(str(gradient), self.dtype, modes, self.domain.narrowings())
        drawer = GradientDrawer(
            gradient.schema.arguments.flat_all,
            gradient.inputs,
            self.tensors,
            self.dtype,
            self.domain,
            seed=f"{gradient} {self.dtype}",
        )
        report.narrowings += drawer.narrowings()
        if self.tensors.has_transforms and self.domain.compiled:
            report.compiled = 0
        if gradient.views and self.tensors.has_transforms and self.domain.batched:
            report.narrowings += ("under vmap: not tested for views",)
        give_up = MOST if self.dtype == self.tensors.dtypes[0] else MOST // 8
        while report.checked < ENOUGH and report.drawn < (MOST if report.checked else give_up):
            report.drawn += 1
            try:
                call, plan = drawer.draw()
            except Undrawable as error:
                raise AssertionError(f"{gradient}: {error}") from None
            self._check_call(call, plan, drawer, report)
        return report

    def _check_call(
        self, call: dict[str, Any], plan: Plan, drawer: GradientDrawer, report: Report
    ) -> None:
        places = self._differentiable_tensors(call)
        if not any(str(at(call, place).dtype).endswith(self.dtype) for place in places):
            report.refused["drawn without a tensor of this dtype"] += 1
            return
        chosen = [place for place in places if drawer.random.random() < 0.8] or places
        f = function_of(self.gradient, self.tensors, call, chosen)
        inputs = [self.tensors.clone(at(call, place)) for place in chosen]
        try:
            outputs = f(*inputs)
        except self.tensors.refusals as error:
            if isinstance(error, NotImplementedError) and _IS_STUB.search(str(error)):
                raise
            report.refused[_reason(error)] += 1
            return
        if not all(map(cmath.isfinite, elements_of([y.tolist() for y in outputs]))):
            report.refused["the result is not finite"] += 1
            return
        if not any(output.numel() for output in outputs):
            report.empty += 1
            return
        drawer.accepted.append(plan)
        leaves = [self.tensors.leaf(value) for value in inputs]
        try:
            batched = self.domain.batched and not self.gradient.views
            self.tensors.check(f, leaves, forward=self.gradient.forward, batched=batched)
        except Exception as error:
            raise self._wrong("gradient", call, chosen, error) from error
        report.checked += 1
        if report.checked <= OF_SECOND_ORDER and self.domain.second_order:
            self._check_second(f, leaves, call, chosen, report)
        if report.compiled is not None and report.checked <= min(COMPILED, 1 + len(places)):
            self._check_compiled(call, places, report)

    def _check_second(
        self,
        f: Callable[..., tuple[Any, ...]],
        leaves: Sequence[Any],
        call: Mapping[str, Any],
        chosen: Sequence[Place],
        report: Report,
    ) -> None:
        for forward in (False, True) if self.gradient.forward else (False,):
            try:
                self.tensors.check_second(f, leaves, forward=forward)
            except Exception as error:
                # The library says what it does not have: this is no wrong gradient.
                if not any(text in str(error) for text in NOT_THERE):
                    raise self._wrong("second derivative", call, chosen, error) from error
                report.not_implemented[_reason(error)] += 1
            else:
                report.second_order += 1

    def _check_compiled(
        self, call: Mapping[str, Any], places: Sequence[Place], report: Report
    ) -> None:
        number = report.checked - 1
        # Graphs depend on which tensors have a gradient.
        chosen = [place for i, place in enumerate(places) if i != number - 1] or list(places)
        every, dynamic = number == 0, number == 1
        try:
            check_compiled(self.gradient, self.tensors, call, chosen, every=every, dynamic=dynamic)
        except NotCompiled as error:
            report.not_compiled[_reason(error)] += 1
        except Different as error:
            what = "gradient under torch.compile"
            raise self._wrong(what, call, chosen, error) from error
        else:
            report.compiled = (report.compiled or 0) + 1

    def _differentiable_tensors(self, call: Mapping[str, Any]) -> list[Place]:
        """Return the places of tensors with a gradient: argument, and index in a list."""
        return [
            place
            for name in self.gradient.inputs
            for place, value in places_in(name, call.get(name))
            if self.tensors.is_tensor(value) and self.tensors.is_differentiable(value)
        ]

    def _wrong(
        self, what: str, call: Mapping[str, Any], chosen: Sequence[Place], error: Exception
    ) -> AssertionError:
        wanted = ", ".join(n if i is None else f"{n}[{i}]" for n, i in chosen)
        is_wrong = is_comparison(error)
        if not is_wrong and (problem := self.tensors.problem()):
            return AssertionError(
                f"{self.gradient} was not tested: no gradient can be computed here: {problem}"
            )
        found = "is wrong" if is_wrong else "was not tested, because of an error"
        lines = [f"the {what} of {self.gradient} {found}, of {wanted} in a call with"]
        lines += [f"  {name} = {value!r}" for name, value in call.items()]
        return AssertionError("\n".join([*lines, str(error)]))


def _reason(error: Exception) -> str:
    """Return the first line of a message, without its numbers: equal reasons are counted together."""
    return _NUMBERS.sub("…", first_line(error))[:150]


def gradients(
    yaml: str | Path | Sequence[str | Path],
    derivatives: str | Path | Sequence[str | Path] = (),
    target: str = "torch",
) -> tuple[Gradient, ...]:
    """Return the operators that have a formula, in the order of the schema files: those with out= have none.

    The formulas are in `derivatives`; by default, in derivatives.yaml beside each schema file. Throw an OpgenError if there is an error in the files.
    """
    files = Inputs(yaml=_paths(yaml), derivatives=_paths(derivatives), target=target)
    diagnostics = Diagnostics()
    registry = load(files, diagnostics)
    functions: tuple[DifferentiableFunction, ...] = ()
    if registry is not None:
        functions = derive_gradients(registry, files, Signatures(), diagnostics).functions
    if diagnostics.has_errors:
        raise OpgenError(diagnostics)
    # Formulas that Python records are those of gradients alone.
    uses_forward = FileKind.DERIVATIVES in TARGETS[target].plan.kinds
    found = []
    for fn in functions:
        info = fn.infos.get(DEFAULT_KEY)
        if info is None or not info.has_derivatives or fn.func.func.kind() is SchemaKind.out:
            continue
        inputs = _inputs(info)
        if not inputs:
            continue
        returns = fn.func.func.returns
        wanted = set(differentiable_outputs(fn, DEFAULT_KEY))
        found.append(
            Gradient(
                namespace=fn.func.namespace,
                schema=fn.func.func,
                inputs=inputs,
                outputs=tuple(i for i, name in enumerate(return_names(fn.func)) if name in wanted),
                forward=uses_forward and bool(fn.forward.get(DEFAULT_KEY)),
                views=any(r.annotation is not None and not r.is_write for r in returns),
            )
        )
    return tuple(found)


def _inputs(info: DifferentiabilityInfo) -> tuple[str, ...]:
    """Return the arguments with a formula, except those whose formula says that there is none."""
    without = {
        name
        for derivative in info.derivatives
        if derivative.original_formula.text.strip().startswith("not_implemented(")
        for name in derivative.var_names
    }
    return tuple(b.name for b in info.args_with_derivatives if b.name not in without)


def _paths(files: str | Path | Sequence[str | Path]) -> tuple[Path, ...]:
    return tuple(map(Path, [files] if isinstance(files, str | Path) else files))
