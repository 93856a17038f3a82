"""Backend files: opgen declares and registers what gen_backend_stubs declares and registers.

The cases are those of src/opgen/data/torchgen_cases.md by number, many random ones, and a large one with PyTorch's
operators.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from compare import normalised
from loading import load_registry

from opgen.cpp.check import check_coverage, check_overloads
from opgen.diagnostics import Diagnostics, Source, known_codes
from opgen.emit.common.context import Context, Library
from opgen.emit.kernels.headers import backend_members
from opgen.emit.reports.dump import dump_rows
from opgen.model.backend import ExternalBackend
from opgen.model.registry import Registry
from opgen.parse.files.backend import parse_backend
from opgen.resolve.backend import resolve_backend
from opgen.targets import TARGETS

_TORCH = TARGETS["torch"]
_PAGE = Path(__file__).parents[3] / "src" / "opgen" / "data" / "torchgen_cases.md"
_NATIVE = """\
- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  structured_delegate: add.out
- func: add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)
  structured_delegate: add.out
- func: add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: add_out
- func: view_sym(Tensor self, SymInt[] size) -> Tensor
  dispatch:
    CPU: view_sym
  autogen: view_sym.out
- func: neg(Tensor self) -> Tensor
  dispatch:
    CPU: neg
- func: abs(Tensor self) -> Tensor
- func: by_hand(Tensor self) -> Tensor
  manual_kernel_registration: True
- func: arange(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
  dispatch:
    CPU: arange
  autogen: arange.out
- func: split(Tensor self) -> Tensor[]
  dispatch:
    CPU: split
  autogen: split.out
- func: _foreach_neg(Tensor[] self) -> Tensor[]
  device_check: NoCheck
  dispatch:
    CPU: foreach_neg
- func: _foreach_neg_(Tensor(a!)[] self) -> ()
  device_check: NoCheck
  dispatch:
    CPU: foreach_neg_
  autogen: _foreach_neg.out
- func: mut(Tensor self, Tensor(a!) b) -> Tensor
  dispatch:
    CPU: mut_cpu
  autogen: mut.out, mut_functional
- func: custom::foo(Tensor self) -> Tensor
  dispatch:
    CPU: foo
"""
_TAGS = "".join(
    f"- tag: {tag}\n  desc: x\n"
    for tag in ("generated", "core", "pt2_compliant_tag", "out", "inplace")
)
_HEAD = "backend: XLA\ncpp_namespace: x\n"

# Cases that torchgen rejects (B) or crashes on (BC), by number; opgen reports the code.
_REFUSED = {
    "B01": ("- neg\n", "E0801"),
    "B01 empty": ("", "E0801"),
    "B02": ("cpp_namespace: x\n", "E0803"),
    "B03": ("backend: XLA\ncpp_namespace:\n", "E0803"),
    "B04": (f"{_HEAD}use_out_as_primary: 1\n", "E0804"),
    "B05": (f"{_HEAD}device_guard: yes please\n", "E0804"),
    "B06": (f"{_HEAD}supported: add\n", "E0804"),
    "B06 mapping": (f"{_HEAD}supported: {{neg: 1}}\n", "E0804"),
    "B07": (f"{_HEAD}symint: a\n", "E0804"),
    "B08": (f"{_HEAD}autograd: neg\n", "E0804"),
    "B09": (f"{_HEAD}supported: [add_out]\n", "E0808"),
    "B09 empty": (f"{_HEAD}supported: ['']\n", "E0808"),
    "B09 dot": (f"{_HEAD}supported: [neg.]\n", "E0808"),
    "B10": (f"{_HEAD}foo: 1\n", "E0802"),
    "B10 headers": (f"{_HEAD}extra_headers: []\n", "E0802"),
    "B11": (f"{_HEAD}supported: [nag]\n", "E0808"),
    "B11 overload": (f"{_HEAD}supported: [add]\n", "E0808"),
    "B11 namespace": (f"{_HEAD}supported: ['custom::foo']\n", "E0808"),
    "B12": ("backend: Foo\ncpp_namespace: x\nsupported: [neg]\n", "E0806"),
    "B13": ("backend: Vulkan\ncpp_namespace: x\nautograd: [neg]\n", "E0806"),
    "B14": ("backend: CPU\ncpp_namespace: x\nsupported: [neg]\n", "E0807"),
    "B15": (f"{_HEAD}supported: [add.Tensor]\nautograd: [add.out]\n", "E0809"),
    "B15 one": (f"{_HEAD}supported: [neg]\nautograd: [neg]\n", "E0809"),
    "B16": (f"{_HEAD}supported: [neg]\nsymint: [neg]\n", "E0810"),
    "B18": ("backend: XLA\ncpp_namespace: a::b::c\nsupported: [neg]\n", "E0805"),
    "B20": ("backend: Meta\ncpp_namespace: x\nsupported: [add.out]\n", "E0807"),
    "B21": (f"{_HEAD}backend: XLA\n", "E0103"),
    "BC1": (f"{_HEAD}supported: [1]\n", "E0804"),
    "BC1 null": (f"{_HEAD}supported: [null]\n", "E0804"),
    "BC2": (f"{_HEAD}supported: [neg]\nfull_codegen:\n", "E0804"),
    "BC3": (f"{_HEAD}supported: [neg]\nsymint: [[2]]\n", "E0804"),
    "BC4": ("backend: XLA\ncpp_namespace: 1\nsupported: [neg]\n", "E0804"),
    "BC5": (f"{_HEAD}1: x\n", "E0802"),
}
# Cases that torchgen accepts (BA), and opgen does not.
_STRICTER = {
    "BA1": (f"{_HEAD}class_name: a::b\nsupported: [neg]\n", "E0805"),
    "BA2": ("backend: XLA\ncpp_namespace: a-b\nsupported: [neg]\n", "E0805"),
    "BA4": ("backend: Undefined\ncpp_namespace: x\nsupported: [neg]\n", "E0806"),
    "BA5": ("backend: Meta\ncpp_namespace: x\nsupported: [neg]\n", "E0807"),
    "BA5 composite": (
        "backend: CompositeExplicitAutogradNonFunctional\ncpp_namespace: x\nsupported: [neg]\n",
        "E0807",
    ),
}
# Cases at which torchgen stops (B, BC), and opgen does not.
_LOOSER = {
    "B23": f"{_HEAD}supported: [neg]\nautograd:\n",
    "BC6": f"{_HEAD}supported: [mut_functional]\n",
    "BC7": f"{_HEAD}supported: [_foreach_neg]\n",
}


@pytest.fixture(scope="module")
def folder(packaged: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small operator library that the cases refer to."""
    assert packaged
    made = tmp_path_factory.mktemp("native")
    (made / "native_functions.yaml").write_text(_NATIVE)
    (made / "tags.yaml").write_text(_TAGS)
    return made


@pytest.fixture(scope="module")
def registry(folder: Path) -> Registry:
    return load_registry(folder)


def _theirs(text: str, folder: Path, out: Path, impl: str | None = None) -> Any:
    from torchgen_neighbours import run_backend_stubs  # noqa: PLC0415 - torch may not be there

    return run_backend_stubs(text, folder, out / "out", impl)


def _ours(
    text: str, registry: Registry, impl: str | None = None
) -> tuple[ExternalBackend | None, set[str]]:
    diagnostics = Diagnostics()
    file = parse_backend(Source("backend.yaml", text), diagnostics)
    backend = None
    if file is not None and not diagnostics.has_errors:
        backend = resolve_backend(file, registry, diagnostics)
    if backend is not None:
        check_overloads(backend, _TORCH.cpp.spelling, diagnostics)
    if backend is not None and impl is not None:
        check_coverage(backend, Source("impl.cpp", impl), _TORCH.cpp.spelling, diagnostics)
    return backend, {d.code for d in diagnostics if d.severity.value == "error"}


def _declared(backend: ExternalBackend, registry: Registry) -> set[str]:
    context = Context(registry, _TORCH, Library("library"), backend)
    return {normalised(m.head) for m in backend_members(context)}


def _registered(backend: ExternalBackend, registry: Registry) -> dict[tuple[str, str], str | None]:
    keys = {index.key.name for index in backend.indices}
    rows = dump_rows(registry, _TORCH, "registrations", None, backend=backend)
    return {
        (row["key"], row["name"].rpartition("::")[2]): row["kernel"]
        for row in rows
        if row["key"] in keys
    }


def _assert_same(backend: ExternalBackend, registry: Registry, theirs: Any) -> None:
    assert _registered(backend, registry) == theirs.registered
    assert _declared(backend, registry) == set(map(normalised, theirs.declarations))


@pytest.mark.parametrize("number", _REFUSED)
def test_both_reject(number: str, registry: Registry, folder: Path, tmp_path: Path) -> None:
    text, code = _REFUSED[number]
    with pytest.raises(Exception):  # noqa: B017 - torchgen raises exceptions of any class
        _theirs(text, folder, tmp_path)
    assert _ours(text, registry)[1] == {code}


@pytest.mark.parametrize("number", _STRICTER)
def test_only_opgen_rejects(number: str, registry: Registry, folder: Path, tmp_path: Path) -> None:
    text, code = _STRICTER[number]
    assert _theirs(text, folder, tmp_path) is not None
    assert _ours(text, registry)[1] == {code}


@pytest.mark.parametrize("number", _LOOSER)
def test_only_torchgen_stops(number: str, registry: Registry, folder: Path, tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        _theirs(_LOOSER[number], folder, tmp_path)
    backend, codes = _ours(_LOOSER[number], registry)
    assert backend is not None and not codes


@pytest.mark.parametrize(
    "text",
    [
        f"{_HEAD}supported:\n",
        f"{_HEAD}autograd: [neg]\n",
        "backend: Foo\ncpp_namespace: x\n",
        f"{_HEAD}non_native: 3\nir_gen:\n",
    ],
)
def test_no_supported_operators_give_no_output(
    text: str, registry: Registry, folder: Path, tmp_path: Path
) -> None:
    assert not _theirs(text, folder, tmp_path).registered
    assert _ours(text, registry) == (None, set())


def _draw(number: int, names: list[str]) -> str:
    """Return a backend file for the operators `names`: mostly valid, with autograd and symint lists."""
    r = random.Random(number)
    lists: defaultdict[str, list[str]] = defaultdict(list)
    for name in r.sample(names, r.randrange(1, len(names))):
        lists[r.choices(["supported", "autograd", "full_codegen"], [6, 2, 1])[0]].append(name)
    lists["symint"] = r.sample(["view_sym", "view_sym.out", "abs"], r.randrange(2))
    if r.random() < 0.2 and lists["supported"]:
        lists["supported"].append(lists["supported"][0])
    lines = [f"cpp_namespace: {r.choice(['x', 'a::b'])}", f"backend: {r.choice(['XLA', 'HPU'])}"]
    lines += [f"{key}: [{', '.join(items)}]" for key, items in lists.items() if items]
    if r.random() < 0.3:
        lines.append("class_name: Kernels")
    for flag in ("use_out_as_primary", "device_guard"):
        if r.random() < 0.4:
            lines.append(f"{flag}: {r.choice(['true', 'false'])}")
    return "\n".join(lines) + "\n"


@pytest.mark.slow
def test_the_same_verdicts_and_output(registry: Registry, folder: Path, tmp_path: Path) -> None:
    """Compare declarations, registrations and rejections for many combinations of keys."""
    names = [
        str(f.func.name) for f in registry.functions if f.root_name not in ("mut", "mut_functional")
    ]
    names = [n for n in names if not n.startswith("_foreach_neg")]
    agreed = {"accepted": 0, "refused": 0}
    for number in range(400):
        text = _draw(number, names)
        backend, codes = _ours(text, registry)
        try:
            theirs = _theirs(text, folder, tmp_path / _subfolder(tmp_path, number))
        except AssertionError as error:
            assert codes, f"{text}\n{error}"
            agreed["refused"] += 1
            continue
        assert not codes, f"{text}\n{codes}"
        if backend is None:
            assert not theirs.registered
        else:
            _assert_same(backend, registry, theirs)
            agreed["accepted"] += 1
    assert agreed["accepted"] > 100 and agreed["refused"] > 50, agreed


def _subfolder(parent: Path, number: int) -> str:
    (parent / str(number)).mkdir()
    return str(number)


@pytest.mark.parametrize(
    "impl",
    [
        "",
        "at::Tensor XLANativeFunctions::neg(const at::Tensor& self) {}",
        "at::Tensor XLANativeFunctions::neg(int) {}\nat::Tensor XLANativeFunctions::add(a) {}",
        "Tensor XLANativeFunctions::  neg(int) {}\nTensor XLANativeFunctions::add(a) {}\n"
        "Tensor XLANativeFunctions::view_sym_symint(a) {}",
        "return x::XLANativeFunctions::neg(a);\nTensor XLANativeFunctions::add(a) {}\n"
        "Tensor XLANativeFunctions::view_sym_symint(a) {}",
        "a XLANativeFunctions::neg(int)\nb XLANativeFunctions::neg(x)\nTensor XLANativeFunctions::add()"
        "\nTensor XLANativeFunctions::view_sym_symint(a) {}",
    ],
)
def test_the_same_coverage(impl: str, registry: Registry, folder: Path, tmp_path: Path) -> None:
    text = f"{_HEAD}supported: [neg, add.Tensor]\nautograd: [view_sym]\nsymint: [view_sym]\n"
    _, codes = _ours(text, registry, impl)
    try:
        _theirs(text, folder, tmp_path, impl)
    except AssertionError as error:
        missing = re.findall(r"missing a kernel definition for (\w+)", str(error))
        assert missing and codes == {"E0812"}
    else:
        assert not codes


@pytest.mark.slow
def test_every_functional_operator_of_pytorch(packaged: Path, tmp_path: Path) -> None:
    """Protects real backends: hundreds of operators, whose variants are made from the functional ones."""
    registry = load_registry(packaged / "native")
    keys = {f.full_name for f in registry.functions if not f.func.is_out_fn()}
    wanted = []
    for f in registry.functions:
        group = registry.group_of(f)
        lists = f.func.arguments.mutable_arg_names
        if f.full_name in keys and not lists and f.namespace == "aten" and group is not None:
            inplace, mutable = group.inplace, group.mutable
            crashes = mutable is not None or (inplace is not None and not inplace.func.returns)
            if not crashes and (group.out.func.returns or len(group.out.func.arguments.out) == 1):
                wanted.append(str(f.func.name))
    text = f"{_HEAD}supported:\n" + "".join(f"- {name}\n" for name in wanted)
    backend, codes = _ours(text, registry)
    theirs = _theirs(text, packaged / "native", tmp_path)
    assert backend is not None and not codes
    ours = _registered(backend, registry)
    # Variants that write more than they return: torchgen's wrapper does not compile (BA7).
    assert {name for name in theirs.registered if name not in ours} == set()
    assert ours == theirs.registered and len(ours) > 2000
    assert _declared(backend, registry) == set(map(normalised, theirs.declarations))


def test_the_page_names_codes() -> None:
    """The two tables of src/opgen/data/torchgen_cases.md."""
    rows = re.findall(r"^\| ((?:B[CA]?|S[CA]?)\d+) \|.*\| ([^|]*) \|$", _PAGE.read_text(), re.M)
    assert rows and len(rows) == len({number for number, _ in rows})
    assert {code for _, said in rows for code in re.findall(r"[EW]\d{4}", said)} <= set(
        known_codes()
    )
