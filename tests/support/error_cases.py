"""The bad files of tests/golden/errors: the ending of a file's name decides how opgen reads it.

`.tags.yaml`            as the tags.yaml of a run
`.torch.yaml`           for that target, and so `.torch-stable.yaml`
`.unsupported.torch.yaml`   valid for that target, but no files are generated from it
`.unsupported.runtime.yaml`   the same for target runtime
`.beside.torch.yaml`    for that target, with a backend's file
`.strict.yaml`          under --strict-torchgen
`.bare.yaml`            without --namespace aten, with which all others are read
`.python.yaml`          with --python
`.lint.yaml`            up to the lints; all others up to the checks
`.domains.yaml`         as a file of domains, for a library with one operator
`.backend.yaml`, `.torch.backend.yaml`, `.selective.yaml`, `.derivatives.yaml`   together with the files of fixtures/
"""

from __future__ import annotations

from pathlib import Path

from opgen import data
from opgen.diagnostics import Diagnostics
from opgen.parse import decode_source, parse_domains
from opgen.pipeline.inputs import Inputs
from opgen.pipeline.linting import Stage, inspect
from opgen.verify import domains
from support.build import REPOSITORY

FOLDER = REPOSITORY / "tests" / "golden" / "errors"
_OPERATORS, _KERNELS = Path("operators.yaml"), Path("kernels.cpp")
_DIFFERENTIABLE = Path("differentiable.yaml")
_DIFFERENTIABLE_OWN = Path("differentiable_own.yaml")
_TAGS = Path("opgen/data/tags.yaml")
_FIXTURES = {
    _OPERATORS: (FOLDER / "fixtures" / "native_functions.yaml").read_bytes(),
    _DIFFERENTIABLE: (FOLDER / "fixtures" / "differentiable.yaml").read_bytes(),
    _DIFFERENTIABLE_OWN: (FOLDER / "fixtures" / "differentiable_own.yaml").read_bytes(),
    _KERNELS: (FOLDER / "fixtures" / "kernels.cpp").read_bytes(),
    _TAGS: data.read_text("tags.yaml").encode(),
}
_OWN_TAGS = b"- tag: mine\n  desc: of this library\n- tag: out_variant\n  desc: PyTorch's\n"
_BACKEND = Path("backend.yaml")
# The operators, with their arguments, of the library that a file of domains is for.
_LOADED = {"mylib::decibels": ("self",)}


def inputs_of(path: Path, content: bytes) -> Inputs:
    """Return the inputs of the run that reads a file of this name; `content` is the content of the file."""
    name = path.name
    overlay = {**_FIXTURES, path: content}
    given = {
        "yaml": (path,),
        "tags": _TAGS,
        "target": next((t for t in ("torch", "torch-stable") if f".{t}." in name), "runtime"),
        "namespace": None if name.endswith(".bare.yaml") else "aten",
        "strict_torchgen": ".strict." in name,
    }
    if name.endswith("tags.yaml"):
        given.update(yaml=(_OPERATORS,), tags=path)
    elif name.endswith("backend.yaml"):
        given.update(yaml=(_OPERATORS,), backend_yaml=path, impl_path=_KERNELS)
    elif name.endswith(".derivatives.yaml"):
        both = (_DIFFERENTIABLE, _DIFFERENTIABLE_OWN)
        own = given["target"] != "runtime"
        yaml = both[:1] if given["strict_torchgen"] else both[1:] if own else both
        given.update(yaml=yaml, derivatives=(path,))
    elif name.endswith("selective.yaml"):
        given.update(yaml=(_OPERATORS,), select=(path,))
    elif name.endswith(".unsupported.torch.yaml"):
        overlay[_TAGS] = _OWN_TAGS
    elif name.endswith(".beside.torch.yaml"):
        overlay[_BACKEND] = b"backend: XLA\ncpp_namespace: torch_xla\nsupported: []\n"
        given.update(backend_yaml=_BACKEND)
    python = name.endswith(("python.yaml", ".torch-stable.derivatives.yaml"))
    return Inputs(**given, overlay=overlay, python=python)


def report(path: Path, content: bytes) -> Diagnostics:
    """Return all problems that opgen reports for a file of this name."""
    diagnostics = Diagnostics()
    if path.name.endswith("domains.yaml"):
        source = decode_source(str(path), content, diagnostics)
        assert source is not None
        parsed = parse_domains(source, diagnostics)
        domains.check_words(parsed, diagnostics)
        domains.check_names([parsed], _LOADED, diagnostics)
        return diagnostics
    inspect(
        inputs_of(path, content),
        diagnostics,
        unsupported=".unsupported." in path.name or ".beside." in path.name,
        until=Stage.lint if ".lint." in path.name else Stage.check,
    )
    return diagnostics
