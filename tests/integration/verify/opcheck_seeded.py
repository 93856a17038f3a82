"""Count the seeded defects that PyTorch's `torch.library.opcheck` finds.

    PYTHONPATH=tests python tests/integration/verify/opcheck_seeded.py hand torch

Builds the libraries for PyTorch, learns which calls their operators accept as `opgen verify --quick` does, and gives one
of these calls to all tests of opcheck, in a process for each operator. A defect counts as found if a test fails, or the
process ends, that does not with the operator's twin. With `--folder`, the libraries stay there for the next time.
"""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seeded_libraries import HAND, build_generated, build_hand, hand_request, manifest

from opgen.verify.caller import Caller, Outcome
from opgen.verify.calls.learning import drawn_calls, learn
from opgen.verify.calls.specs import Call, tensors
from opgen.verify.memory.blocks import Memory
from opgen.verify.runner.examination import PLANS
from opgen.verify.runner.loading import load
from opgen.verify.runner.messages import Request
from opgen.verify.subjects import Subject

_LIBRARIES = ("hand", "torch")
_TWIN = "_ok"
# Neither is a finding: opcheck does not know the form of call, or the operator accepts none.
_UNTESTED = "not tested"


def check_library(request: Request, samples: int, seconds: int) -> dict[str, dict[str, str]]:
    """Return what opcheck reports of each operator, in-place and out= variants included: messages by tests."""
    backend, subjects = load(request, None)
    torch = backend.module
    # A process that is forked could not use the threads of this one.
    torch.set_num_threads(1)
    caller = Caller(backend, Memory(), None)
    groups: dict[str, list[Subject]] = {}
    for subject in subjects:
        groups.setdefault(subject.group.partition("::")[2], []).append(subject)
    importlib.import_module("torch._dynamo")
    torch.library.opcheck(torch.ops.aten.neg.default, (torch.ones(2),))
    found = {}
    for name, members in groups.items():
        found[name] = _in_a_process(caller, torch, members, samples, seconds)
        print(f"{name}: {', '.join(found[name]) or 'no finding'}", file=sys.stderr, flush=True)
    return found


def _in_a_process(
    caller: Caller, torch: Any, members: Sequence[Subject], samples: int, seconds: int
) -> dict[str, str]:
    """Check the overloads of one operator; a process that ends is a finding, too."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_check_all, args=(caller, torch, members, samples, sender))
    process.start()
    sender.close()
    found: dict[str, str] = {}
    try:
        while receiver.poll(seconds):
            found.update(receiver.recv())
        # Perhaps the machine is busy.
        found[_UNTESTED] = f"no answer within {seconds} s"
        process.kill()
    except EOFError:
        process.join()
        if process.exitcode:
            found["process"] = f"ends with {process.exitcode}"
    return found


def _check_all(
    caller: Caller, torch: Any, members: Sequence[Subject], samples: int, sender: Any
) -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    for subject in members:
        calls = _calls(caller, subject)[:samples]
        if not calls:
            sender.send({_UNTESTED: f"{subject.name} accepts no call"})
        for call in calls:
            sender.send(_check(caller, torch, subject, call))
    sender.close()


def _calls(caller: Caller, subject: Subject) -> list[Call]:
    """Return calls that the operator accepts; those with most elements, of the usual dtypes, first."""
    plan = PLANS["quick"]
    drawn = subject.functional if subject.is_out and subject.functional else subject
    learned = learn(caller, drawn, 0, plan.effort)
    calls = drawn_calls(drawn, learned.plans, plan.cases, 0)
    accepted = [call for call in calls if caller.run(drawn, call).error is None]
    return sorted(accepted, key=_plainness, reverse=True)


def _plainness(call: Call) -> tuple[int, int]:
    found = tensors(call)
    usual = sum(spec.dtype in ("float32", "float64") for spec in found)
    return usual, min((spec.count for spec in found), default=0)


def _check(caller: Caller, torch: Any, subject: Subject, call: Call) -> dict[str, str]:
    """Give a call to all tests of opcheck; return the messages of those that fail."""
    given = caller.build(call, "fresh", Outcome())
    if subject.is_out:
        if subject.functional is None:
            return {_UNTESTED: f"{subject.name} has no functional variant"}
        returned = subject.functional.call(given)
        results = returned if isinstance(returned, tuple | list) else (returned,)
        given |= {name: torch.empty_like(r) for name, r in zip(subject.outs, results)}
    elif not subject.written and _has_gradient(caller, torch, subject, call):
        _require_gradients(torch, given)
    arguments = []
    for argument in subject.schema.arguments.flat_positional:
        if argument.name not in given:
            break
        arguments.append(given.pop(argument.name))
    report = torch.library.opcheck(subject.handle, tuple(arguments), given, raise_exception=False)
    return {test: str(result) for test, result in report.items() if result != "SUCCESS"}


def _require_gradients(torch: Any, given: Mapping[str, Any]) -> None:
    for value in given.values():
        if isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex()):
            value.requires_grad_()


def _has_gradient(caller: Caller, torch: Any, subject: Subject, call: Call) -> bool:
    """Whether a gradient can be computed: opcheck reports a missing one as an error of aot_dispatch."""
    given = caller.build(call, "fresh", Outcome())
    _require_gradients(torch, given)
    try:
        returned = subject.call(given)
        results = returned if isinstance(returned, tuple | list) else (returned,)
        sum(r.abs().sum() for r in results if r.requires_grad).backward()
    except Exception:
        return False
    return True


def main() -> None:
    """Print what opcheck finds in the libraries that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("libraries", nargs="*", default=_LIBRARIES, metavar="hand|torch")
    parser.add_argument("--samples", type=int, default=1, help="calls of each overload")
    parser.add_argument("--seconds", type=int, default=120, help="for each operator; more if busy")
    parser.add_argument("--folder", type=Path, help="where the libraries are built and stay")
    options = parser.parse_args()
    for library in options.libraries:
        if library not in _LIBRARIES:
            parser.error(f"opcheck cannot test a library '{library}'")
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        parser.error("torch is not installed")
    for library in options.libraries:
        with tempfile.TemporaryDirectory() as temporary:
            folder = options.folder or Path(temporary)
            if library == "hand":
                built = folder / HAND
                if not built.exists():
                    built = build_hand(Path(spec.origin).parent, folder)
                os.environ["SEEDED_HAND"] = str(built)
                request = hand_request()
            else:
                request = build_generated(library, folder)
            print_score(library, check_library(request, options.samples, options.seconds))


def print_score(library: str, found: dict[str, dict[str, str]]) -> None:
    """Print which defects of a library are found, by which tests, and what is reported of twins."""
    hits, tests = 0, Counter[str]()
    defects = [defect for defect in manifest() if defect.library == library]
    for defect in defects:
        reported = found[defect.base].keys() - found[f"{defect.base}{_TWIN}"].keys() - {_UNTESTED}
        hits += bool(reported)
        tests.update(reported)
        print(f"{defect.id} {defect.operator}: {defect.property}: {', '.join(sorted(reported))}")
    untested = [defect.id for defect in defects if _UNTESTED in found[defect.base]]
    print(f"{library}: opcheck finds {hits} of {len(defects)}; failing tests: {dict(tests)}")
    print(f"{library}: not tested, or in part: {', '.join(untested) or 'none'}")
    for name, reported_of_twin in found.items():
        for test, message in reported_of_twin.items():
            if name.endswith(_TWIN):
                print(f"twin {name}: {test}: {message[:200]!r}")


if __name__ == "__main__":
    main()
