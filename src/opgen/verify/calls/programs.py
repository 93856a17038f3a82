"""Print calls as programs that run."""

from __future__ import annotations

import keyword
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from opgen.gradtest.calls import by_position
from opgen.verify.caller import Finding
from opgen.verify.calls.specs import (
    Call,
    Complex,
    GeneratorSpec,
    Named,
    TensorSpec,
    elements,
    span,
    tensors,
)
from opgen.verify.runner.messages import Request
from opgen.verify.subjects import Subject

# Tensors with more elements are filled by a generator of numbers.
_MOST_ELEMENTS = 96


def call_text(call: Mapping[str, Any]) -> str:
    """Describe a call in one line."""
    return ", ".join(f"{name}={_short(value)}" for name, value in call.items())


def _short(value: Any) -> str:
    if isinstance(value, TensorSpec):
        layout = "" if value.layout is None else f" by {list(value.layout.strides)}"
        layout += f" reversed along {list(value.flipped)}" if value.flipped else ""
        return f"{value.dtype}{list(value.shape)}{layout}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_short, value))}]"
    if isinstance(value, Named):
        return value.name
    if isinstance(value, GeneratorSpec):
        return f"Generator({value.seed})"
    return f"{value:.4g}" if isinstance(value, float) else repr(value)


# What names in the text of a call stand for.
_HEAD = """
import sys
from math import inf, nan

from opgen.verify import replay
from opgen.verify.calls.specs import Complex, Fill, GeneratorSpec, Layout, Named, TensorSpec
from opgen.verify.runner.messages import Request

"""
_END = """

if sys.argv[1:] == ["calls"]:
    calls()
else:
    sys.exit(replay(REQUEST, CALL, NUMBER))
"""


def program(
    subject: Subject,
    head: Sequence[str],
    finding: Finding,
    kind: str,
    request: Request,
    call: Call,
    number: int,
) -> str:
    """Return a program that checks the property of a finding for its call again; its exit code is 1 if it is violated.

    With the argument "calls", it makes the calls of the finding and prints what they return, for a debugger.
    """
    values = {"REQUEST": repr(request), "CALL": _literal(call), "NUMBER": str(number)}
    about = "".join(f"# {subject.name}: {line}\n" for line in finding.message.splitlines())
    constants = "".join(f"{name} = {value}\n" for name, value in values.items())
    body = textwrap.indent("\n".join(_calls(subject, head, finding, kind)), "    ")
    return f"{about}{_HEAD}{constants}\n\ndef calls():\n{body}\n{_END}"


def _literal(call: Call) -> str:
    """Return the text of a call, an argument to a line."""
    return "{\n" + "".join(f"    {name!r}: {value!r},\n" for name, value in call.items()) + "}"


def _calls(subject: Subject, head: Sequence[str], finding: Finding, kind: str) -> list[str]:
    """Return the lines that make the calls of a finding."""
    lines = list(head)
    writer = _Torch() if kind == "torch" else _Runtime(subject.spelling.partition(".")[0])
    lines += writer.helpers(finding)
    for run in finding.runs:
        lines += ["", f"# {run.label}"]
        spelling, before = subject.spelling, []
        for line in run.lines:
            if line.startswith("@call "):
                spelling = line[len("@call ") :]
            elif line.startswith("@threads "):
                before += writer.threads(line[len("@threads ") :])
            else:
                before.append(line)
        lines += before
        names = []
        call = run.call
        if spelling != subject.spelling:
            call = {n: v for n, v in call.items() if n not in subject.outs}
        for name, value in call.items():
            made = f"{name}_" if keyword.iskeyword(name) or name in ("torch", "np") else name
            lines.append(f"{made} = {writer.value(value)}")
            names.append((name, made))
        lines.append(f"print({writer.call(subject, spelling, names)})")
        lines += [f"print({made!r}, {made})" for name, made in names if name in subject.written]
    return lines


class _Torch:
    """Calls of PyTorch's operators."""

    module = "torch"

    def helpers(self, finding: Finding) -> list[str]:
        return []

    def threads(self, count: str) -> list[str]:
        return [f"torch.set_num_threads({count})"]

    def value(self, value: Any) -> str:
        if isinstance(value, TensorSpec):
            return self.tensor(value)
        if isinstance(value, list | tuple):
            return f"[{', '.join(map(self.value, value))}]"
        if isinstance(value, Named):
            if value.kind == "device":
                return f"{self.module}.device({value.name!r})"
            return f"{self.module}.{value.name}"
        if isinstance(value, GeneratorSpec):
            return f"{self.module}.Generator().manual_seed({value.seed})"
        if isinstance(value, Complex):
            return repr(complex(value.real, value.imag))
        if isinstance(value, float) and value != value:
            return 'float("nan")'
        return repr(value)

    def tensor(self, spec: TensorSpec) -> str:
        dense = self.dense(spec)
        layout = spec.layout
        if layout is not None and layout.count and span(spec.shape, layout.strides):
            base = f"torch.zeros({layout.count}, dtype=torch.{spec.dtype})"
            view = f"{base}.as_strided({spec.shape}, {layout.strides}, {layout.offset})"
            if 0 not in layout.strides:
                dense = f"{view}.copy_({dense})"
            else:
                dense = f"{dense}.expand({spec.shape})"
                dense = f"{view}.fill_({dense}.flatten()[0])" if _is_constant(spec) else dense
        if spec.bit == "conj":
            return f"{dense}.conj()"
        return f"torch._neg_view({dense})" if spec.bit == "neg" else dense

    def dense(self, spec: TensorSpec) -> str:
        if spec.count > _MOST_ELEMENTS:
            fill = spec.fill
            if spec.flipped:
                return f"{self.dense(replace(spec, flipped=()))}.flip({spec.flipped})"
            if spec.is_differentiable:
                return (
                    f"torch.empty({spec.shape}, dtype=torch.float64).uniform_({fill.low}, {fill.high}, "
                    f"generator=torch.Generator().manual_seed({fill.seed})).to(torch.{spec.dtype})"
                )
            return (
                f"torch.randint({int(fill.low)}, {int(fill.high) + 1}, {spec.shape}, "
                f"generator=torch.Generator().manual_seed({fill.seed})).to(torch.{spec.dtype})"
            )
        numbers = _nested(elements(spec).tolist())
        if 0 in spec.shape:
            return f"torch.empty({spec.shape}, dtype=torch.{spec.dtype})"
        return f"torch.tensor({numbers}, dtype=torch.{spec.dtype})"

    def call(self, subject: Subject, spelling: str, names: Sequence[tuple[str, str]]) -> str:
        positional = [a.name for a in subject.schema.arguments.flat_positional]
        leading, rest = by_position(positional, dict(names))
        given = [*leading, *(f"{name}={made}" for name, made in rest.items())]
        return f"{spelling}({', '.join(given)})"


class _Runtime(_Torch):
    """Calls of a package of target runtime."""

    def __init__(self, module: str) -> None:
        self.module = module

    def threads(self, count: str) -> list[str]:
        return [f"# OPGEN_NUM_THREADS={count}"]

    def tensor(self, spec: TensorSpec) -> str:
        dense = self.dense(spec)
        layout = spec.layout
        if layout is None or spec.dtype == "bfloat16" or not span(spec.shape, layout.strides):
            return dense
        size = spec.itemsize
        steps = tuple(step * size for step in layout.strides)
        numbers = _nested(elements(spec).tolist()) if spec.count <= _MOST_ELEMENTS else "0"
        return (
            f"{self.module}.from_numpy(strided(np.array({numbers}, {spec.dtype!r}), {layout.count}, "
            f"{layout.offset}, {steps}))"
        )

    def helpers(self, finding: Finding) -> list[str]:
        strided = any(spec.layout is not None for run in finding.runs for spec in tensors(run.call))
        if not strided:
            return []
        return [
            "def strided(numbers, count, offset, steps):",
            "    base = np.zeros(count, numbers.dtype)",
            "    view = np.lib.stride_tricks.as_strided(base[offset:], numbers.shape, steps)",
            "    view[...] = numbers",
            "    return view",
        ]

    def dense(self, spec: TensorSpec) -> str:
        if spec.count > _MOST_ELEMENTS:
            fill = spec.fill
            draw = (
                f"np.random.default_rng({fill.seed}).uniform({fill.low}, {fill.high}, {spec.shape})"
            )
            draw = f"np.flip({draw}, {spec.flipped})" if spec.flipped else draw
            return f'{self.module}.tensor({draw}, dtype="{spec.dtype}")'
        numbers = _nested(elements(spec).tolist())
        if 0 in spec.shape:
            return f'{self.module}.tensor(np.empty({spec.shape}), dtype="{spec.dtype}")'
        return f'{self.module}.tensor({numbers}, dtype="{spec.dtype}")'

    def call(self, subject: Subject, spelling: str, names: Sequence[tuple[str, str]]) -> str:
        if ".tvm_ffi." in spelling:
            given = dict(names)
            made = (given[a.name] for a in subject.arguments if a.name in given)
            return f"{spelling}({', '.join(made)})"
        outs = [made for name, made in names if name in subject.outs]
        rest = [(name, made) for name, made in names if name not in subject.outs]
        text = super().call(subject, spelling, rest)
        if not outs:
            return text
        out = outs[0] if len(outs) == 1 else f"({', '.join(outs)})"
        return f"{text[:-1]}{', ' if rest else ''}out={out})"


def _is_constant(spec: TensorSpec) -> bool:
    numbers = elements(spec).ravel()
    return bool(len(numbers)) and bool((numbers == numbers[0]).all())


def _nested(values: Any) -> str:
    if isinstance(values, list):
        return f"[{', '.join(map(_nested, values))}]"
    if isinstance(values, float):
        if values != values:
            return 'float("nan")'
        if values in (float("inf"), float("-inf")):
            return f'float("{values}")'
        return repr(round(values, 7)) if abs(values) > 1e-3 else repr(values)
    return repr(values)
