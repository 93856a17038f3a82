"""The processes of `opgen verify`: what they inherit, what a failure of one means, and how they end."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("numpy", reason="opgen[verify] is not installed")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
]

# One operator with a formula, and a device that is there: PyTorch starts threads for its gradients, as with CUDA. In a
# process that was forked from one with these threads, no gradient can be computed. (With the wheel for CUDA, a fake
# tensor is enough to make the device there.)
WITH_A_DEVICE = """
import torch

class Device(torch._C._acc.DeviceGuard):
    def type_(self):
        return torch._C._autograd.DeviceType.PrivateUse1

    def device_count(self):
        return 1

device = Device()
torch._C._acc.register_python_privateuseone_device_guard(device)

@torch.library.custom_op("forked::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return 2 * x

twice.register_fake(torch.empty_like)
twice.register_autograd(lambda context, grad: 2 * grad)

@torch.library.custom_op("forked::wrong", mutates_args=())
def wrong(x: torch.Tensor) -> torch.Tensor:
    return 2 * x

wrong.register_fake(torch.empty_like)
wrong.register_autograd(lambda context, grad: 3 * grad)
"""
# A library that does what no process can be forked after.
AND_A_GRADIENT = "torch.ones(1, requires_grad=True).sum().backward()\n"
# A kernel that never returns and holds the GIL, after it has started a process of its own.
HANGS = """
import ctypes, os, subprocess, sys
import torch

library = torch.library.Library("stuck", "DEF")
library.define("alias(Tensor x) -> Tensor")
library.define("hangs(Tensor x) -> Tensor")

def hangs(x):
    program = "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getppid())); time.sleep(1000)"
    subprocess.Popen([sys.executable, "-c", program, os.path.abspath("started")])
    ctypes.PyDLL(None).sleep(1000)

library.impl("alias", lambda x: x.view(x.shape), "CPU")
library.impl("hangs", hangs, "CPU")
"""


def opgen(folder: Path, text: str, *arguments: str) -> list[str]:
    (folder / "loaded.py").write_text(text)
    command = [sys.executable, "-m", "opgen", "verify", "--load", "loaded.py", "-j", "1"]
    return [*command, "--target", "torch", *arguments]


def verdicts(folder: Path, text: str) -> dict[tuple[str, str], tuple[str, str]]:
    """Return the status and the words of each verdict."""
    options = ["--format", "json", "--quick", "--property", "backward-gradient"]
    command = opgen(folder, text, *options, "--property", "fake-agrees", "--property", "crash")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return {
        (report["name"], verdict["property"]): (
            verdict["status"],
            verdict.get("reason", "") + "".join(f["message"] for f in verdict.get("findings", ())),
        )
        for report in json.loads(done.stdout)["operators"]
        for verdict in report["verdicts"]
    }


def test_gradients_with_a_device_whose_threads_no_fork_survives(tmp_path: Path) -> None:
    """Protects users of PyTorch's default wheel: a process is never forked after a gradient was computed in it."""
    found = verdicts(tmp_path, WITH_A_DEVICE)
    assert found["forked::twice", "backward-gradient"][0] == "passed", found
    assert found["forked::twice", "fake-agrees"][0] == "passed", found
    status, words = found["forked::wrong", "backward-gradient"]
    assert status == "failed" and "the gradient is wrong" in words, found


def test_a_process_without_gradients_is_no_wrong_gradient(tmp_path: Path) -> None:
    """Protects from blaming the operator: here, the library itself makes gradients impossible for its children."""
    found = verdicts(tmp_path, WITH_A_DEVICE + AND_A_GRADIENT)
    for name in ("forked::twice", "forked::wrong"):
        status, words = found[name, "backward-gradient"]
        assert status == "not tested", found
        assert "no gradient can be computed here" in words and "fork" in words, found
        assert found[name, "crash"][0] == "passed", found


def alive(process: int) -> bool:
    """Whether a process runs: one that has ended and was not waited for is no more than a number."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def descendants(process: int) -> set[int]:
    """Return the processes that a process has started, and those that these have."""
    found: set[int] = set()
    for task in Path(f"/proc/{process}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            found |= {child, *descendants(child)}
    return found


@pytest.mark.parametrize(
    "sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda s: s.name
)
def test_everything_ends_while_a_kernel_hangs(sent: signal.Signals, tmp_path: Path) -> None:
    """Protects the user's machine from processes that stay, and the findings that are there from being lost."""
    command = opgen(tmp_path, HANGS, "--property", "hang", "--property", "undeclared-alias")
    options = ["--thorough", "hangs", "alias"]
    with open(tmp_path / "printed", "wb") as printed:
        process = subprocess.Popen(
            [*command, *options],
            cwd=tmp_path,
            stdout=printed,
            stderr=subprocess.STDOUT,
            # A shell ignores it for what runs in the background.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
    others: set[int] = set()
    try:
        started, until = tmp_path / "started", time.monotonic() + 300
        while not (started.exists() and started.read_text()) and time.monotonic() < until:
            assert process.poll() is None, (tmp_path / "printed").read_text()
            time.sleep(0.1)
        others = descendants(process.pid)
        assert len(others) >= 3 and int(started.read_text()) in others
        process.send_signal(sent)
        sent_at = time.monotonic()
        process.wait(60)
        while any(map(alive, others)) and time.monotonic() < sent_at + 60:
            time.sleep(0.05)
    finally:
        process.kill()
    left = [other for other in others if alive(other)]
    for other in left:
        os.kill(other, signal.SIGKILL)
    assert not left
    text = (tmp_path / "printed").read_text()
    assert "Traceback" not in text
    assert "stuck::alias: V0115 undeclared-alias" in text
