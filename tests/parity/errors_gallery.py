"""Bad files, what torchgen says of each and what opgen says: docs/errors-gallery.md.

Run as a script it prints the page. Both tools run for real, in processes of their own.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

# torchgen is a library: this is what its generator does first. What is printed is the exception as
# Python ends a traceback with it, after one line with the traceback's own length.
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
    """What a tool printed; `lines` is how many it took with the traceback; `seconds` a whole run."""

    text: str
    lines: int
    seconds: float


CASES = (
    Case(
        "A misspelt type",
        "- func: scale(Tensr self, float factor) -> Tensor\n",
        "The last line names the type, with no place in it and no suggestion.",
    ),
    Case(
        "A sign that does not belong in a schema",
        "- func: _masked_scale(Tensor self, Tensor mask, float$scale) -> Tensor\n"
        "  variants: function\n"
        "  dispatch:\n"
        "    CUDA: masked_scale_cuda\n",
        "Found by a fuzzer: PyTorch issue 127408.",
    ),
    Case(
        "A list's bracket that is not closed",
        "- func: pad(Tensor self, SymInt[2 pad) -> Tensor\n",
        "As PyTorch issue 162395: a type that stops in the middle.",
    ),
    Case(
        "A tag that is a mapping, for want of a comma",
        "- func: acos(Tensor self) -> Tensor\n  tags: [core: pointwise]\n",
        "PyTorch issue 162397.",
    ),
    Case(
        "A delegate that does not exist",
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
        "What is left of the entry is shown; that it was a key, and which one was meant, is not said.",
    ),
    Case(
        "A line of precomputed that is something else",
        "- func: index.Tensor_out(Tensor self, Tensor?[] indices, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  structured: True\n"
        "  dispatch:\n"
        "    CPU: index_out\n"
        "  precomputed:\n"
        "  - indices ->dnn_linear(Tensor self, Tensor weight)\n",
        "PyTorch issue 127411.",
    ),
    Case(
        "A device check that does not exist",
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
        "Where the first one stands is for the reader to find, in a file of 16,000 lines.",
    ),
    Case(
        "Words in the place of a dispatch table",
        "- func: foo(Tensor self) -> Tensor\n  dispatch: CPU\n",
        "torchgen shows a line number of its own in the place of the value.",
    ),
    Case(
        "A functional operator and an out= one that do not agree",
        "- func: foo(Tensor self, int dim) -> Tensor\n"
        "  structured_delegate: foo.out\n"
        "\n"
        "- func: foo.out(Tensor self, int dims, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  structured: True\n"
        "  dispatch:\n"
        "    CPU: foo_out\n",
        "A mistake between two entries.",
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
        "torchgen stops at the first, so it has to run three times.",
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
    text = result.stderr.rstrip("\n")
    return Answer(text, len(text.splitlines()), seconds)


def _cut(line: str) -> str:
    return f"{line[:_WIDTH]} [... {len(line) - _WIDTH} more characters]"


def _run(
    case: Case, command: list[str], runs: int
) -> tuple[subprocess.CompletedProcess[str], float]:
    """The result, and the least processor time of so many runs."""
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
    """Of all processes started so far and ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def page(tags: Path, version: str, runs: int = 3) -> str:
    """The whole page. `tags` is PyTorch's tags.yaml, `version` of the torch that is asked."""
    rows, sections = [], []
    for i, case in enumerate(CASES, 1):
        theirs, ours = torchgen_answer(case, tags, runs), opgen_answer(case, runs)
        problems = ours.text.count("error[")
        found = f"{problems} problem{'s' if problems > 1 else ''}, {ours.lines} lines"
        rows.append(
            f"| {i}. {case.title} | 1 problem, {theirs.lines} lines | {theirs.seconds:.2f} s "
            f"| {found} | {ours.seconds:.2f} s |"
        )
        said = f"```text\n{theirs.text}\n```" if theirs.lines else "Nothing: the file is taken."
        sections.append(
            f"## {i}. {case.title}\n\n{case.remark}\n\n```yaml\n{case.text.rstrip()}\n```\n\n"
            f"torchgen, the end of {theirs.lines} lines:\n\n{said}\n\n"
            f"opgen:\n\n```text\n{ours.text}\n```\n"
        )
    return _HEAD.format(version=version, rows="\n".join(rows)) + "\n" + "\n".join(sections)


_HEAD = """\
# Errors, before and after

Twelve mistakes, what torchgen {version} answers and what `opgen lint` answers. Both ran on the files below;
`python tests/parity/errors_gallery.py > docs/errors-gallery.md` runs them again, and a test compares.

torchgen's answer is the end of its traceback, shortened where a line is longer than two hundred characters.
The times are processor time of whole processes, start of Python included, the least of three runs: they say of what
order they are, and the greater part is the import of modules.

| mistake | torchgen | time | opgen | time |
|---|---|---|---|---|
{rows}
"""


def main() -> None:
    # Here, because the tests import this file where there is no torch.
    import torch  # noqa: PLC0415
    import torchgen  # noqa: PLC0415

    tags = Path(torchgen.__file__).parent / "packaged/ATen/native/tags.yaml"
    print(page(tags, torch.__version__.partition("+")[0]), end="")


if __name__ == "__main__":
    main()
