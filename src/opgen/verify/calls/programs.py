"""Print calls as programs that run."""

from __future__ import annotations

import keyword
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from opgen.gradtest.calls import by_position
from opgen.verify.caller import Finding
from opgen.verify.calls.specs import Call, GeneratorSpec, Named, TensorSpec
from opgen.verify.runner.messages import Request
from opgen.verify.subjects import Subject


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
from opgen.verify.runner.loading import load
from opgen.verify.runner.messages import Request

"""
_END = """

if sys.argv[1:] == ["calls"]:
    calls()
else:
    sys.exit(replay(REQUEST, CALL, NUMBER))
"""


def program(subject: Subject, finding: Finding, request: Request, call: Call, number: int) -> str:
    """Return a program that checks the property of a finding for its call again; its exit code is 1 if it is violated.

    With the argument "calls", it makes the calls of the finding and prints what they return, for a debugger.
    """
    text = "{\n" + "".join(f"    {name!r}: {value!r},\n" for name, value in call.items()) + "}"
    about = "".join(f"# {subject.name}: {line}\n" for line in finding.message.splitlines())
    constants = f"REQUEST = {request!r}\nCALL = {text}\nNUMBER = {number}\n"
    body = textwrap.indent("\n".join(_calls(subject, finding)), "    ")
    return f"{about}{_HEAD}{constants}\n\ndef calls():\n{body}\n{_END}"


def _calls(subject: Subject, finding: Finding) -> Iterator[str]:
    """Yield the lines that make the calls of a finding."""
    package = subject.spelling.partition(".")[0]
    yield "library, _ = load(REQUEST, None)"
    # Behind the line that names its folder.
    yield f"import {package}"
    for run in finding.runs:
        yield f"\n# {run.label}"
        if run.threads:
            yield f"library.set_threads({run.threads})"
        names = {}
        for name, value in run.call.items():
            taken = keyword.iskeyword(name) or name in ("library", package)
            names[name] = f"{name}_" if taken else name
            yield f"{names[name]} = library.made({value!r})"
        yield f"print({_call(subject, run.spelling or subject.spelling, names)})"
        for name in subject.written:
            if name in names:
                yield f"print({names[name]!r}, {names[name]})"


def _call(subject: Subject, spelling: str, names: Mapping[str, str]) -> str:
    """Return a call of an operator with variables by the names of its arguments."""
    if ".tvm_ffi." in spelling:
        given = [names[a.name] for a in subject.arguments if a.name in names]
        return f"{spelling}({', '.join(given)})"
    positional = [a.name for a in subject.schema.arguments.flat_positional]
    leading, rest = by_position(positional, names)
    if not spelling.startswith("torch."):
        outs = [rest.pop(n) for n in subject.outs if n in rest]
        rest |= {"out": outs[0] if len(outs) == 1 else f"({', '.join(outs)})"} if outs else {}
    leading += [f"{name}={made}" for name, made in rest.items()]
    return f"{spelling}({', '.join(leading)})"
