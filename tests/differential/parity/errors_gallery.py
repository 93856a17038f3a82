"""Compare the messages of torchgen and opgen for invalid files: tests/differential/parity/errors_gallery.md.

As a script, it prints the page. It runs both tools in processes of their own.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

# torchgen is a library; this script does what its generator does first. It prints the number of lines of the traceback,
# and then the exception as at the end of a traceback.
_TORCHGEN = """\
import sys, traceback
from torchgen.gen import get_grouped_native_functions, parse_native_yaml
try:
    parsed = parse_native_yaml("native_functions.yaml", sys.argv[1])
    get_grouped_native_functions(parsed.native_functions)
except BaseException as error:
    print(len(traceback.format_exc().splitlines()))
    print("".join(traceback.format_exception_only(type(error), error)), end="")
else:
    print(0)
"""
_OPGEN = "from opgen.cli.main import main; main()"
_WIDTH = 200


@dataclass(frozen=True)
class Case:
    title: str
    text: str
    remark: str


@dataclass(frozen=True)
class Answer:
    """The output of a tool. `lines` includes the traceback; `seconds` is the processor time of the process."""

    text: str
    lines: int
    seconds: float


CASES = (
    Case(
        "A misspelt type",
        "- func: scale(Tensr self, float factor) -> Tensor\n",
        "torchgen names the type, but shows neither its position nor a suggestion.",
    ),
    Case(
        "An invalid character in a schema",
        "- func: _masked_scale(Tensor self, Tensor mask, float$scale) -> Tensor\n"
        "  variants: function\n"
        "  dispatch:\n"
        "    CUDA: masked_scale_cuda\n",
        "Found by a fuzzer: PyTorch issue 127408.",
    ),
    Case(
        "A missing closing bracket",
        "- func: pad(Tensor self, SymInt[2 pad) -> Tensor\n",
        "PyTorch issue 162395 is similar: an incomplete type.",
    ),
    Case(
        "A missing comma turns a tag into a mapping",
        "- func: acos(Tensor self) -> Tensor\n  tags: [core: pointwise]\n",
        "PyTorch issue 162397.",
    ),
    Case(
        "An unknown delegate",
        "- func: hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor\n"
        "  structured_delegate: hardsigmoid_backward.grad_inpt\n"
        "\n"
        "- func: hardsigmoid_backward.grad_input(Tensor grad_output, Tensor self, *, "
        "Tensor(a!) grad_input) -> Tensor(a!)\n"
        "  structured: True\n"
        "  dispatch:\n"
        "    CPU: hardsigmoid_backward_out\n",
        "PyTorch issue 127409.",
    ),
    Case(
        "A misspelt key",
        "- func: foo(Tensor self) -> Tensor\n  variant: function, method\n",
        "torchgen shows the remaining part of the entry. It does not say that a key is wrong, or which key was meant.",
    ),
    Case(
        "An invalid line in precomputed",
        "- func: index.Tensor_out(Tensor self, Tensor?[] indices, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  structured: True\n"
        "  dispatch:\n"
        "    CPU: index_out\n"
        "  precomputed:\n"
        "  - indices ->dnn_linear(Tensor self, Tensor weight)\n",
        "PyTorch issue 127411.",
    ),
    Case(
        "An unknown device check",
        "- func: special_xlogy.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  device_check: NoCheck2\n"
        "  python_module: special\n",
        "PyTorch issue 127407.",
    ),
    Case(
        "The same operator twice",
        "- func: foo(Tensor self) -> Tensor\n"
        "\n"
        "- func: bar(Tensor self) -> Tensor\n"
        "\n"
        "- func: foo(Tensor self) -> Tensor\n",
        "torchgen does not show the first definition; the real file has 16,000 lines.",
    ),
    Case(
        "A string instead of a dispatch table",
        "- func: foo(Tensor self) -> Tensor\n  dispatch: CPU\n",
        "Instead of the value, torchgen shows a line number that it added itself.",
    ),
    Case(
        "A functional operator and an out variant with different arguments",
        "- func: foo(Tensor self, int dim) -> Tensor\n"
        "  structured_delegate: foo.out\n"
        "\n"
        "- func: foo.out(Tensor self, int dims, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  structured: True\n"
        "  dispatch:\n"
        "    CPU: foo_out\n",
        "The mistake involves two entries.",
    ),
    Case(
        "Three mistakes in one file",
        "- func: foo(Tensor self,Tensor other) -> Tensor\n"
        "\n"
        "- func: bar(Tensor self) -> Tensor\n"
        "  dispatch:\n"
        "    CPO: bar_cpu\n"
        "\n"
        "- func: baz(Tensor self) -> Tensor\n"
        "  tags: pointwize\n",
        "torchgen stops at the first mistake, so it must run three times.",
    ),
)


def torchgen_answer(case: Case, tags: Path, runs: int) -> Answer:
    result, seconds = _run(case, [sys.executable, "-c", _TORCHGEN, str(tags)], runs)
    count, _, text = result.stdout.partition("\n")
    shown = [line if len(line) <= _WIDTH else _cut(line) for line in text.splitlines()]
    return Answer("\n".join(shown), int(count), seconds)


def opgen_answer(case: Case, runs: int) -> Answer:
    lint = ("lint", "--namespace", "aten", "native_functions.yaml")
    command = [sys.executable, "-c", _OPGEN, *lint]
    result, seconds = _run(case, command, runs)
    # Without the last line, which counts the problems.
    text = result.stderr.rpartition("\n\n")[0].rstrip("\n")
    return Answer(text, len(text.splitlines()), seconds)


def _cut(line: str) -> str:
    return f"{line[:_WIDTH]} [... {len(line) - _WIDTH} more characters]"


def _run(
    case: Case, command: list[str], runs: int
) -> tuple[subprocess.CompletedProcess[str], float]:
    """Return the result, and the least processor time of several runs."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "native_functions.yaml").write_text(case.text, encoding="utf-8")
        environment = {**os.environ, "NO_COLOR": "1"}
        best = float("inf")
        for _ in range(runs):
            start = _processor_time()
            result = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True
            )
            best = min(best, _processor_time() - start)
    return result, best


def _processor_time() -> float:
    """Return the processor seconds of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def page(tags: Path, version: str, runs: int = 3) -> str:
    """Return the page. `tags` is PyTorch's tags.yaml, and `version` the version of torch."""
    rows, sections = [], []
    for i, case in enumerate(CASES, 1):
        theirs, ours = torchgen_answer(case, tags, runs), opgen_answer(case, runs)
        problems = ours.text.count("error[")
        found = f"{problems} problem{'s' if problems > 1 else ''}, {ours.lines} lines"
        rows.append(
            f"| {i}. {case.title} | 1 problem, {theirs.lines} lines | {theirs.seconds:.2f} s "
            f"| {found} | {ours.seconds:.2f} s |"
        )
        said = (
            f"```text\n{theirs.text}\n```"
            if theirs.lines
            else "Nothing: torchgen accepts the file."
        )
        sections.append(
            f"## {i}. {case.title}\n\n{case.remark}\n\n```yaml\n{case.text.rstrip()}\n```\n\n"
            f"torchgen, the end of {theirs.lines} lines:\n\n{said}\n\n"
            f"opgen:\n\n```text\n{ours.text}\n```\n"
        )
    return _HEAD.format(version=version, rows="\n".join(rows)) + "\n" + "\n".join(sections)


_HEAD = """\
# Error messages of torchgen and opgen

This page compares the messages of torchgen {version} and `opgen lint` for twelve mistakes. To run both again, use
`python tests/differential/parity/errors_gallery.py > tests/differential/parity/errors_gallery.md`. A test compares the page with
their output.

For torchgen, the page shows the end of its traceback; lines longer than two hundred characters are shortened. Times are
processor times of whole processes, including the start of Python, the minimum of three runs. Importing modules accounts for most of
them, so they show only the order of magnitude.

| mistake | torchgen | time | opgen | time |
|---|---|---|---|---|
{rows}
"""


def main() -> None:
    # Imported here, because tests without torch import this file.
    import torch  # noqa: PLC0415
    import torchgen  # noqa: PLC0415

    tags = Path(torchgen.__file__).parent / "packaged/ATen/native/tags.yaml"
    print(page(tags, torch.__version__.partition("+")[0]), end="")


if __name__ == "__main__":
    main()
