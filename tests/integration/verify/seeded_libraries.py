"""Build and verify the three libraries with seeded defects, and compare what is found with the manifest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import yaml

from opgen.verify.runner.messages import FAILED, MODES, Request
from opgen.verify.runner.session import Verification, verify_request
from support.build import environment, jobs, launcher, run, tool

SEEDED = Path(__file__).parent / "seeded"
HAND = "libseeded_hand.so"
_HAND = ("hand_values", "hand_writes", "hand_autograd")


class Defect(msgspec.Struct, frozen=True):
    """One row of the manifest."""

    id: str
    library: str
    operator: str
    property: str
    kind: str
    defect: str

    @property
    def base(self) -> str:
        return self.operator.rstrip("_")


class Score(msgspec.Struct, frozen=True):
    """Defects found and missed with their properties, and what is reported of operators without a defect."""

    found: tuple[str, ...]
    missed: tuple[str, ...]
    alarms: tuple[str, ...]
    verification: Verification


def manifest() -> tuple[Defect, ...]:
    text = (SEEDED / "manifest.yaml").read_text(encoding="utf-8")
    return msgspec.convert(yaml.safe_load(text)["defects"], tuple[Defect, ...])


def properties_of_manifest() -> list[str]:
    text = (SEEDED / "manifest.yaml").read_text(encoding="utf-8")
    return list(yaml.safe_load(text)["properties"])


def build_generated(target: str, folder: Path) -> Request:
    """Build the library of a target with its Python package; return the request to verify it."""
    schemas = SEEDED / f"{target}.yaml"
    formulas = SEEDED / f"{target}_derivatives.yaml"
    kernels = SEEDED / f"{target}_kernels.cpp"
    tree = folder / target
    variables = environment() | {"CXXFLAGS": "-O0"}
    if launcher():
        variables["CMAKE_CXX_COMPILER_LAUNCHER"] = launcher()[0]
    command = [tool("opgen"), "build", schemas, "--target", target, "--derivatives", formulas]
    command += ["--kernels", kernels, "--python", "--build-type", "None", "-o", tree]
    run([*command, "-j", str(jobs())], env=variables)
    return Request(
        target=target,
        loads=(f"seeded_{target}",),
        folders=(str(tree / "cmake-build" / "python"),),
        namespaces=(f"seeded_{target}",) if target == "torch" else (),
        yaml=(str(schemas),),
        derivatives=(str(formulas),),
    )


def build_hand(torch: Path, folder: Path) -> Path:
    """Compile the library that is registered by hand, against the torch in a folder; return it."""
    return build_for_torch(torch, folder / HAND, _HAND)


def build_for_torch(torch: Path, library: Path, names: Sequence[str]) -> Path:
    """Compile sources of the seeded folder into a library for the torch in a folder; return it."""
    include = torch / "include"
    flags = ["-std=c++20", "-O0", "-fPIC", "-fopenmp", f"-I{SEEDED}", "-isystem", include]
    flags += ["-isystem", include / "torch" / "csrc" / "api" / "include"]
    objects = []
    for name in names:
        objects.append(library.parent / f"{name}.o")
        command = [*launcher(), tool("g++"), *flags, "-c", SEEDED / f"{name}.cpp"]
        run([*command, "-o", objects[-1]], env=environment())
    libraries = [f"-L{torch / 'lib'}", "-ltorch", "-ltorch_cpu", "-lc10"]
    rpath = f"-Wl,-rpath,{torch / 'lib'}"
    run([tool("g++"), "-shared", "-fopenmp", "-o", library, *objects, *libraries, rpath])
    return library


def hand_request() -> Request:
    """Return the request for the library registered by hand, which $SEEDED_HAND names."""
    return Request(target="torch", loads=(str(SEEDED / "hand.py"),), namespaces=("seeded_hand",))


def score(library: str, request: Request, mode: str, **variables: str) -> Score:
    """Verify a library, and compare the findings with its defects."""
    assert mode in MODES
    request = msgspec.structs.replace(request, mode=mode)
    verification = verify_request(request, jobs(), environment=variables)
    failed: dict[str, dict[str, str]] = {}
    for report in verification.operators:
        own = failed.setdefault(report.group.partition("::")[2], {})
        for verdict in report.verdicts:
            if verdict.status == FAILED:
                own[verdict.property] = verdict.findings[0].message
    found, missed = [], []
    for defect in manifest():
        if defect.library == library:
            hit = defect.property in failed.get(defect.base, {})
            (found if hit else missed).append(f"{defect.id} {defect.operator}: {defect.property}")
    alarms = [
        f"{operator}: {name}: {message}"
        for operator, messages in failed.items()
        if operator.endswith("_ok")
        for name, message in messages.items()
    ]
    return Score(tuple(found), tuple(missed), tuple(alarms), verification)
