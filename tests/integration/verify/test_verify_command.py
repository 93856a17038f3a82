"""`opgen verify` on operators that a Python file registers, and on what it cannot verify."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numpy", reason="opgen[verify] is not installed")

needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed"
)

# Pairs of operators: one breaks a promise, the other keeps it.
LIBRARY = '''\
"""Operators of the namespace promises, registered in Python."""

import torch

library = torch.library.Library("promises", "DEF")


def define(schema, kernel, fake=None):
    name = library.define(schema)
    library.impl(name, kernel, "CPU")
    torch.library.register_fake(f"promises::{name}", fake or kernel, lib=library)


def add_one(x):
    x.add_(1)
    return x.clone()


define("rows(Tensor x) -> Tensor", lambda x: x.view(x.shape), torch.clone)
define("rows_ok(Tensor x) -> Tensor", torch.clone)
define("add_one(Tensor x) -> Tensor", add_one, torch.clone)
define("add_one_ok(Tensor x) -> Tensor", lambda x: x + 1)
define("total(Tensor x) -> Tensor", torch.sum, lambda x: x.new_empty((1,)))
define("total_ok(Tensor x) -> Tensor", torch.sum)
'''
BROKEN = {
    "promises::rows": "undeclared-alias",
    "promises::add_one": "undeclared-write",
    "promises::total": "meta-shape",
}


def opgen(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "opgen", "verify", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.slow
@needs_torch
def test_broken_promises_are_found_and_kept_ones_hold(tmp_path: Path) -> None:
    """Protects the whole way from the command line to the report, with a program that shows each finding."""
    (tmp_path / "promises.py").write_text(LIBRARY)
    options = ["--torch-namespace", "promises", "--load", "promises.py", "--quick", "-j", "1"]
    for name in dict.fromkeys(BROKEN.values()):
        options += ["--property", name]
    options += ["--report", "found.html", "--programs", "programs", "--format", "json"]
    done = opgen(*options, folder=tmp_path)
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    failed = {
        (report["name"], verdict["property"])
        for report in found["operators"]
        for verdict in report["verdicts"]
        if verdict["status"] == "failed"
    }
    assert failed == set(BROKEN.items())
    assert found["counts"]["passed"] >= 12 and "not tested" not in found["counts"]
    assert (tmp_path / "found.html").read_text().count('class="violated" title') == len(BROKEN)
    program = tmp_path / "programs" / "promises--add_one-undeclared-write.py"

    def run(*arguments: str) -> tuple[int, str]:
        command = [sys.executable, str(program), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    code, text = run()
    assert code == 1 and "V0110" in text and "writes x" in text, text
    code, text = run("calls")
    assert code == 0 and "tensor" in text, text
    (tmp_path / "promises.py").write_text(LIBRARY.replace("x.add_(1)", "x = x + 1"))
    code, text = run()
    assert code == 0 and "undeclared-write: passed" in text, text


@pytest.mark.slow
@needs_torch
def test_mistakes_in_the_domains_of_a_loaded_library(tmp_path: Path) -> None:
    (tmp_path / "promises.py").write_text(LIBRARY)
    (tmp_path / "mine.yaml").write_text("promises::total_ok:\n  values:\n    y: {one_of: [1]}\n")
    options = ["--torch-namespace", "promises", "--load", "promises.py", "--domains", "mine.yaml"]
    done = opgen(*options, folder=tmp_path)
    assert done.returncode == 1 and not done.stdout
    assert "error[E0855]: 'promises::total_ok' has no argument 'y'" in done.stderr
    assert "mine.yaml:3:5" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((), 2, "name the library"),
        (("--load", "nosuch", "a.yaml"), 1, "No module named 'nosuch'"),
        (("--load", "json", "a.yaml"), 1, "json is not a package of target runtime"),
        (("--load", "json"), 1, "cannot read native_functions.yaml"),
        (("--load", "json", "broken.yaml"), 1, "broken.yaml:1:18"),
        (("--load", "json", "a.yaml", "--domains", "no.yaml"), 1, "cannot read no.yaml"),
        (("--load", "json", "a.yaml", "--domains", "bad.yaml"), 1, "bad.yaml:2:3"),
        (("--build", "nowhere", "a.yaml"), 1, "nowhere has no library; 'opgen build"),
        (("--load", "json", "--property", "out-agree"), 2, "did you mean 'out-agrees'?"),
        (("--load", "json", "--report", "a.txt"), 2, "ends in none of"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_bad_input(arguments: tuple[str, ...], code: int, words: str, tmp_path: Path) -> None:
    """Protects users from tracebacks, and from a success when nothing was verified."""
    (tmp_path / "a.yaml").write_text("- func: mylib::f(Tensor self) -> Tensor\n")
    (tmp_path / "broken.yaml").write_text("- func: mylib::f(Tensr self) -> Tensor\n")
    (tmp_path / "bad.yaml").write_text("mylib::f:\n  valus: 3\n")
    done = opgen(*arguments, folder=tmp_path)
    assert done.returncode == code and words in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and not done.stdout


@pytest.mark.slow
@needs_torch
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("totl_ok",), "the library has no operator 'totl_ok'; did you mean 'total_ok'?"),
        (("--torch-namespace", "nosuch"), "the library has no operators that can be verified"),
    ],
)
def test_operators_that_do_not_exist(
    arguments: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    (tmp_path / "promises.py").write_text(LIBRARY)
    done = opgen("--target", "torch", "--load", "promises.py", *arguments, folder=tmp_path)
    assert done.returncode == 1 and words in done.stderr, done.stderr


@pytest.mark.slow
@needs_torch
def test_repeated_indices_are_no_findings(tmp_path: Path) -> None:
    """Protects from false alarms: which of two elements counts is unspecified, and formulas give a gradient to both."""
    options = ["--torch-namespace", "aten", "--load", "math", "--quick", "-j", "1"]
    options += ["--property", "backward-gradient", "--property", "strided-inputs"]
    done = opgen(*options, "index_copy", "put", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
