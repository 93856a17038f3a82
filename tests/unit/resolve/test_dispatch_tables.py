"""The registrations for each dispatch key, and the kernels that calls reach."""

from __future__ import annotations

import pytest
from resolving import STRUCTURED, function, key

from opgen.resolve.computed_table import computed_table
from opgen.resolve.dispatch_tables import (
    find_registration,
    members_with_groups,
    registrations_by_key,
)
from support.inputs import registry_of

_OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"


def dispatch_lines(keys: list[str]) -> str:
    """Return a row for each key. A missing table means a single kernel for CompositeImplicitAutograd."""
    if keys == ["CompositeImplicitAutograd"]:
        return ""
    kernels = {k: "foo" if k == "CompositeImplicitAutograd" else f"foo_{k}" for k in keys}
    return "  dispatch:\n" + "".join(f"    {k}: {v}\n" for k, v in kernels.items())


def rows(text: str, key_name: str) -> list[tuple[str, str, str | None]]:
    """Return the rows registered for a key, even if the registry has no others for it."""
    registry = registry_of(text)
    found = (
        find_registration(registry, f, key(key_name)) for f, _ in members_with_groups(registry)
    )
    return [
        (str(r.function.func.name), r.kind.name, r.kernel.name if r.kernel else None)
        for r in found
        if r is not None
    ]


@pytest.mark.parametrize(
    ("key_name", "expected"),
    [
        ("CPU", [(n, "structured", "foo_out") for n in ("foo", "foo.out", "foo_")]),
        ("CUDA", [(n, "structured", "foo_out") for n in ("foo", "foo.out", "foo_")]),
        (
            "SparseCPU",
            [("foo", "unstructured", "foo_sparse"), ("foo.out", "unstructured", "foo_sparse_out")],
        ),
        ("Meta", [(n, "structured", None) for n in ("foo", "foo.out", "foo_")]),
        (
            "CompositeExplicitAutogradNonFunctional",
            [(n, "composite_structured", None) for n in ("foo", "foo_")],
        ),
        ("MPS", []),
        ("CompositeExplicitAutograd", []),
    ],
)
def test_structured_groups(key_name: str, expected: list[tuple[str, str, str | None]]) -> None:
    """The kernel of the out variant serves all variants, but only for backends. For other keys, kernels are made of
    the functional and the in-place variant, and none for the out variant, which they call.
    """
    assert rows(STRUCTURED, key_name) == expected


def test_a_group_is_registered_at_the_place_of_its_first_member() -> None:
    """Protects stable output, in the order of torchgen's register files."""
    text = """\
- func: b_(Tensor(a!) self) -> Tensor(a!)
  dispatch:
    CPU: b_
- func: a(Tensor self) -> Tensor
  dispatch:
    CPU: a
- func: b.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  dispatch:
    CPU: b_out
- func: b(Tensor self) -> Tensor
  dispatch:
    CPU: b
"""
    assert [name for name, _, _ in rows(text, "CPU")] == ["b", "b.out", "b_", "a"]


def test_only_cuda_and_xpu_guard_devices() -> None:
    """Protects the cost of a call on the CPU, where there is only one device."""
    rows = registrations_by_key(registry_of(STRUCTURED))
    assert all(r.device_guard for r in rows[key("CUDA")])
    for name in ("CPU", "Meta", "SparseCPU", "CompositeExplicitAutogradNonFunctional"):
        assert not any(r.device_guard for r in rows.get(key(name), ()))


@pytest.mark.parametrize(
    ("schema", "dispatch", "has_stub"),
    [
        ("foo_(Tensor(a!) self) -> Tensor(a!)", "CPU", True),
        ("foo_(Tensor(a!) self) -> Tensor(a!)", "CompositeExplicitAutograd", False),
        ("foo_(Tensor(a!) self) -> Tensor(a!)", "CompositeImplicitAutograd", False),
        ("foo_(Tensor(a!) self) -> Tensor(a!)", "Meta", False),
        ("foo_(Tensor(a!)[] self) -> ()", "CPU", False),
        ("foo(Tensor self) -> Tensor", "CPU", False),
    ],
)
def test_stubs_for_in_place_operators_on_meta(schema: str, dispatch: str, has_stub: bool) -> None:
    """Protects tracing with meta tensors: in-place operators work there without a kernel."""
    found = rows(f"- func: {schema}\n{dispatch_lines([dispatch])}", "Meta")
    assert [kind for _, kind, _ in found if kind == "meta_inplace_stub"] == (
        ["meta_inplace_stub"] if has_stub else []
    )


@pytest.mark.parametrize(
    ("name", "expected"), [("empty", 1), ("new_empty", 0), ("empty_like", 0), ("renew_x", 1)]
)
def test_backend_select(name: str, expected: int) -> None:
    """Protects factories: without a tensor argument, only the options name the backend."""
    schema = f"{name}(int n, *, {_OPTIONS}) -> Tensor"
    text = f"- func: {schema}\n  dispatch:\n    CompositeExplicitAutograd: {name}\n"
    assert len(rows(text, "BackendSelect")) == expected
    assert rows("- func: foo(Tensor self) -> Tensor\n", "BackendSelect") == []


def test_registered_by_hand() -> None:
    """Protects hand-written registrations: a generated one would collide with them."""
    text = "- func: foo(Tensor self) -> Tensor\n  manual_kernel_registration: True\n"
    assert rows(text, "CompositeImplicitAutograd") == []
    registry = registry_of(text)
    reasons = {cell.reason for cell in computed_table(registry, function(registry, "foo"))}
    assert reasons == {"registered by hand"}


def table(text: str, name: str) -> dict[str, str | None]:
    """Return, for each runtime key, the key under which the called kernel is registered."""
    registry = registry_of(text)
    return {
        cell.key.name: cell.registration.key.name if cell.registration else None
        for cell in computed_table(registry, function(registry, name))
    }


# Tensors of each kind that the rules of precedence distinguish.
_ALL_KEYS = """\
- func: every(Tensor self) -> Tensor
  dispatch:
    CPU, SparseCPU, SparseCsrCPU, NestedTensorCPU, Meta, ZeroTensor: every
"""
_CIA, _NESTED, _CEA, _CEANF = (
    "CompositeImplicitAutograd",
    "CompositeImplicitAutogradNestedTensor",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
)


@pytest.mark.parametrize(
    ("dispatch", "strided", "sparse", "nested"),
    [
        ([_CIA], _CIA, _CIA, _CIA),
        ([_CEA], _CEA, _CEA, None),
        ([_CEANF], _CEANF, None, None),
        ([_NESTED, _CIA], _CIA, _CIA, _NESTED),
        ([_NESTED, _CEA], _CEA, _CEA, _NESTED),
        (["CPU", _CEA], "CPU", _CEA, None),
    ],
)
def test_precedence(
    dispatch: list[str], strided: str | None, sparse: str | None, nested: str | None
) -> None:
    """Protects `opgen explain`: the expected values are those that ATen's dispatcher prints for operators with these
    kernels.
    """
    text = f"{_ALL_KEYS}- func: foo(Tensor self) -> Tensor\n{dispatch_lines(dispatch)}"
    found = table(text, "foo")
    other = next((k for k in dispatch if k not in ("CPU", _NESTED)), None)
    assert found == {
        "CPU": strided,
        "SparseCPU": sparse,
        "SparseCsrCPU": other,
        "NestedTensorCPU": nested,
        "Meta": other,
        "ZeroTensor": None,
    }


def test_reasons() -> None:
    """Protects the texts that `opgen explain` shows to people."""
    registry = registry_of(_ALL_KEYS + STRUCTURED)
    cells = {c.key.name: c.reason for c in computed_table(registry, function(registry, "foo"))}
    assert cells == {
        "CPU": "the structured kernel foo_out of foo.out",
        "SparseCPU": "its own kernel foo_sparse",
        "SparseCsrCPU": f"{_CEANF}: allocates by its meta function, then calls foo.out",
        "CUDA": "the structured kernel foo_out of foo.out",
        "NestedTensorCPU": f"no kernel for this key, and {_CEANF} does not serve it",
        "Meta": "the meta function of its structured group",
        "ZeroTensor": f"no kernel for this key, and {_CEANF} does not serve it",
    }
