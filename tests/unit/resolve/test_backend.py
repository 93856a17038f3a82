"""External backends: which kernels exist, how they are called, and which variants are made from functional ones."""

from __future__ import annotations

from resolving import key

from opgen.diagnostics import Diagnostics, Source
from opgen.model.backend import ExternalBackend
from opgen.model.registry import Registry
from opgen.parse.files.backend import parse_backend
from opgen.resolve.backend import backend_registrations, resolve_backend
from opgen.resolve.dispatch_tables import RegistrationKind
from support.inputs import registry_of

HEAD = "backend: XLA\ncpp_namespace: x\n"
GROUP = """\
- func: foo(Tensor self, SymInt n) -> Tensor
  structured_delegate: foo.out
- func: foo_(Tensor(a!) self, SymInt n) -> Tensor(a!)
  structured_delegate: foo.out
- func: foo.out(Tensor self, SymInt n, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: foo_out
"""


def backend_of(text: str, registry: Registry) -> ExternalBackend:
    diagnostics = Diagnostics()
    file = parse_backend(Source("backend.yaml", HEAD + text), diagnostics)
    assert file is not None
    backend = resolve_backend(file, registry, diagnostics)
    assert backend is not None and not len(diagnostics)
    return backend


def registered(text: str, operators: str) -> dict[str, RegistrationKind]:
    registry = registry_of(operators)
    backend = backend_of(text, registry)
    rows = backend_registrations(backend, backend.forward, registry)
    return {str(row.function.func.name): row.kind for row in rows}


def test_kernels_are_called_like_operators_without_overload() -> None:
    registry = registry_of(GROUP)
    backend = backend_of("supported: [foo, foo_, foo.out]\nsymint: [foo]\n", registry)
    assert [k.name for k in backend.forward.kernels] == ["foo_symint", "foo_", "foo_out"]
    assert (backend.class_name, backend.header) == ("XLANativeFunctions", "XLANativeFunctions.h")
    assert backend.find_index(key("XLA")) is backend.forward
    assert backend.find_index(key("AutogradXLA")) is None


def test_autograd_has_a_separate_index() -> None:
    registry = registry_of(GROUP + "- func: bar(Tensor self) -> Tensor\n")
    backend = backend_of("supported: [bar]\nautograd: [foo]\nclass_name: K\n", registry)
    assert backend.autograd is not None and backend.autograd.key is key("AutogradXLA")
    assert [k.name for k in backend.autograd.kernels] == ["foo"]
    assert (backend.class_name, backend.header) == ("K", "XLANativeFunctions.h")


def test_variants_are_made_from_the_functional_kernel() -> None:
    external, made = RegistrationKind.external, RegistrationKind.from_functional
    assert registered("supported: [foo]\n", GROUP) == {
        "foo": external,
        "foo.out": made,
        "foo_": made,
    }
    assert registered("supported: [foo, foo.out]\n", GROUP)["foo.out"] is external
    assert registered("supported: [foo.out]\n", GROUP) == {"foo.out": external}
    assert registered("supported: [foo]\nuse_out_as_primary: True\n", GROUP) == {"foo": external}


def test_no_variant_is_made_where_results_would_be_lost() -> None:
    mutable = """\
- func: foo(Tensor self, Tensor(a!) seed) -> Tensor
  dispatch:
    CPU: foo
  autogen: foo_functional, foo.out
"""
    made = registered("supported: [foo_functional]\n", mutable)
    assert set(made) == {"foo_functional", "foo.out"}, "the out variant writes out and seed"
    more = """\
- func: foo(Tensor self, Tensor(a!) seed) -> Tensor
  dispatch:
    CPU: foo
- func: foo_functional(Tensor self, Tensor seed) -> (Tensor, Tensor seed_out)
  dispatch:
    CPU: foo_functional
  autogen: foo_functional.out
"""
    made = registered("supported: [foo_functional]\n", more)
    assert "foo" not in made, "the mutable variant returns one tensor and writes another"


def test_hand_registered_operators_are_left_alone() -> None:
    by_hand = "- func: foo(Tensor self) -> Tensor\n  manual_kernel_registration: True\n"
    assert registered("supported: [foo]\n", by_hand) == {}


def test_a_name_means_the_operators_of_all_namespaces() -> None:
    operators = "- func: custom::foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo\n"
    registry = registry_of(operators)
    (kernel,) = backend_of("supported: [foo, foo]\n", registry).forward.kernels
    assert kernel.function.full_name == "custom::foo"
