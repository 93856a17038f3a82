"""Operators that a target makes no files for, reported before anything is generated."""

from __future__ import annotations

from opgen.diagnostics import Diagnostics
from opgen.diagnostics.codes import Code
from opgen.model.registry import Registry
from opgen.parse import builtin_tags
from opgen.targets.base import Target
from opgen.targets.releases import UNREGISTERED_TAGS
from opgen.targets.unsupported import report_unsupported

_GOOD = "- func: custom::foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n"

E0753 = Code(
    "E0753",
    "an operator in a namespace that the target's world has already",
    "The operators of a torch extension are PyTorch's neighbours, not its own: give them a namespace, as in "
    "`func: custom::foo(...)`. Without one they would be aten's, in C++ namespace at.",
    "- func: foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n",
    _GOOD,
    target="torch",
)
E0754 = Code(
    "E0754",
    "an inner loop for a target that makes none",
    "The loops of 'ufunc_inner_loop' are made for target runtime only. Write the kernel yourself: name it in "
    "'dispatch', and define it with OPGEN_IMPL_FUNC.",
    "- func: custom::foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
    "  structured_inherits: TensorIteratorBase\n  ufunc_inner_loop:\n    Generic: foo (AllAndComplex)\n"
    "- func: custom::foo(Tensor self) -> Tensor\n  structured_delegate: foo.out\n",
    _GOOD,
    target="torch",
)
E0755 = Code(
    "E0755",
    "a tag that the target's world does not know",
    "Tags are registered with the operators. PyTorch has a fixed list of them, which a tags.yaml of your own does "
    "not make longer.",
    "- func: custom::foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n  tags: mine\n",
    _GOOD,
    target="torch",
)

E0756 = Code(
    "E0756",
    "a backend file beside operators of one's own",
    "With --target torch, a backend file (--backend-yaml) lists kernels for PyTorch's own operators, and is read beside "
    "PyTorch's native_functions.yaml. For operators of a library of yours the entry names the kernel: "
    "write a row for the backend's key under 'dispatch', and leave out --backend-yaml.",
    "- func: custom::foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n",
    "- func: foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n",
    target="torch",
)

W0757 = Code(
    "W0757",
    "a tag that is not registered with PyTorch",
    "Some release of PyTorch does the wrong thing with the tag, so opgen registers the operator without it; nothing else "
    "changes. docs/torch-releases.md has the list, and what goes wrong.",
    "- func: custom::foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n"
    "- func: custom::foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  dispatch:\n    CPU: foo_out_cpu\n"
    "  tags: out_variant\n",
    "- func: custom::foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n"
    "- func: custom::foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  dispatch:\n    CPU: foo_out_cpu\n",
    target="torch",
)

CODES = (E0753, E0754, E0755, E0756, W0757)


def report_not_installed(registry: Registry, target: Target, diagnostics: Diagnostics) -> None:
    """Report the first operator that is not of the library that `target` has backends for."""
    if target.installed is None:
        return
    namespaces = target.installed.namespaces
    f = next((f for f in registry.functions if f.namespace not in namespaces), None)
    if f is not None:
        message = f"'{f.full_name}' is not an operator of {target.name}'s own"
        hint = "name the backend's kernel under 'dispatch', without --backend-yaml"
        diagnostics.error(E0756, message, f.span, hint=hint)


def report_refused(registry: Registry, target: Target, diagnostics: Diagnostics) -> None:
    """Report operators that `target` cannot make files for."""
    report_unsupported(registry, extends=target.tensor_header is not None, diagnostics=diagnostics)
    known = None if target.knows_all_tags else frozenset(builtin_tags().names)
    for f in registry.functions:
        if f.namespace in target.own_namespaces:
            message = f"'{f.full_name}' is in a namespace of {target.name}'s own"
            hint = f"write `func: mylib::{f.func.name}(...)`, with a namespace of yours"
            diagnostics.error(E0753, message, f.span, hint=hint)
        if f.ufunc_inner_loop and not target.makes_ufuncs:
            message = f"target {target.name} makes no inner loops"
            diagnostics.error(E0754, message, f.spans.key("ufunc_inner_loop"))
        for tag in () if known is None else sorted(f.tags - known):
            message = f"target {target.name} does not know the tag '{tag}'"
            diagnostics.error(E0755, message, f.spans.value("tags"))
        for tag in sorted(f.tags - target.registered_tags(f)):
            span = f.spans.item("tags", tag)
            if span.text == tag:  # written, not derived
                message = f"the tag '{tag}' is not registered: {UNREGISTERED_TAGS[tag]}"
                diagnostics.warning(W0757, message, span)
