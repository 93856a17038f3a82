"""Report operators and backends that a target has no files for, before any file is built."""

from __future__ import annotations

from opgen.diagnostics import Diagnostics
from opgen.diagnostics.codes import Code, Example
from opgen.model.backend import BackendFile, ExternalBackend
from opgen.model.native_function import AliasAnalysisKind, KernelSource, Variant
from opgen.model.registry import Registry
from opgen.parse import builtin_tags
from opgen.targets.base import FileKind, Target
from opgen.targets.releases import UNREGISTERED_TAGS

_GOOD = "- func: custom::foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n"
_BACKEND = "backend: XLA\ncpp_namespace: torch_xla\nsupported:\n- neg\n"

W1001 = Code(
    "W1001",
    "a method is generated as a function only",
    "The library uses the class Tensor of another library (--extends), to which opgen cannot add members. opgen "
    "generates the operator as a function. To silence this warning, remove `method` from `variants`.",
    Example(
        "- func: foo(Tensor self) -> Tensor\n  variants: function, method\n",
        "- func: foo(Tensor self) -> Tensor\n  variants: function\n",
    ),
)

E0813 = Code(
    "E0813",
    "a target without external backends",
    "The target has no files for external backends (--backend-yaml).",
    None,
    (),
    "backend.yaml",
)

E0818 = Code(
    "E0818",
    "a target without a CPU fallback",
    "'cpu_fallback' runs operators for which the backend has no kernel on the CPU, and copies their tensors "
    "there and back. Only PyTorch has such a fallback (--target torch). For opgen's own runtime, register a "
    "boxed fallback yourself.",
    Example(_BACKEND + "cpu_fallback: true\n", _BACKEND),
    (),
    "backend.yaml",
)

E0819 = Code(
    "E0819",
    "a backend in the namespace of the operators' own kernels",
    "With --target torch, the classes of structured kernels derive from PyTorch's classes in at::meta and "
    "at::native. The classes of a backend in namespace at would have the same names.",
    Example(
        "backend: PrivateUse1\ncpp_namespace: at\nstructured:\n- add.out\n",
        "backend: PrivateUse1\ncpp_namespace: at::mine\nstructured:\n- add.out\n",
    ),
    (),
    "backend.yaml",
    target="torch",
)

E0753 = Code(
    "E0753",
    "an operator in PyTorch's own namespace",
    "The operators of a PyTorch extension must be in a namespace of their own, as in `func: custom::foo(...)`. "
    "Without a namespace they would belong to aten, in the C++ namespace at.",
    Example("- func: foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n", _GOOD),
    target="torch",
)
E0754 = Code(
    "E0754",
    "an inner loop for a target that does not support it",
    "opgen generates kernels from 'ufunc_inner_loop' for target runtime only. Write the kernel yourself: name it "
    "in 'dispatch', and define it with OPGEN_IMPL_FUNC.",
    Example(
        "- func: custom::foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
        "  structured_inherits: TensorIteratorBase\n  ufunc_inner_loop:\n    Generic: foo (AllAndComplex)\n"
        "- func: custom::foo(Tensor self) -> Tensor\n  structured_delegate: foo.out\n",
        _GOOD,
    ),
    target="torch",
)
E0755 = Code(
    "E0755",
    "a tag that PyTorch does not have",
    "Operators are registered with their tags, and PyTorch has a fixed list of tags. A tags.yaml of your own "
    "cannot add to it.",
    Example(
        "- func: custom::foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n  tags: mine\n",
        _GOOD,
    ),
    target="torch",
)

E0756 = Code(
    "E0756",
    "a backend file together with operators of your own",
    "With --target torch, a backend file (--backend-yaml) lists kernels for PyTorch's own operators, and is read "
    "together with PyTorch's native_functions.yaml. For operators of your own library, name the kernel in the "
    "entry: add a row for the backend's key under 'dispatch', and leave out --backend-yaml.",
    Example(
        "- func: custom::foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n",
        "- func: foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n",
    ),
    target="torch",
)

W0757 = Code(
    "W0757",
    "a tag that opgen does not register with PyTorch",
    "Some release of PyTorch mishandles the tag, so opgen registers the operator without it. Nothing else "
    "changes. docs/reference/torch.md lists these tags and explains what goes wrong.",
    Example(
        "- func: custom::foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n"
        "- func: custom::foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  dispatch:\n    CPU: foo_out_cpu\n"
        "  tags: out_variant\n",
        "- func: custom::foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n"
        "- func: custom::foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  dispatch:\n    CPU: foo_out_cpu\n",
    ),
    target="torch",
)
E0758 = Code(
    "E0758",
    "a kernel in Python for a target that does not support it",
    "A row 'python' is for target torch, whose package registers Python functions with PyTorch. Write the kernel in C++ for "
    "the other targets.",
    Example(
        "- func: custom::foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: python\n",
        _GOOD,
    ),
)
E0759 = Code(
    "E0759",
    "an alias analysis for a target that cannot register it",
    "PyTorch's stable ABI registers every operator as its schema says: TorchScript removes a call that writes an argument "
    "without an annotation. Say in the schema what the operator writes, or use target torch.",
    Example(
        "- func: custom::add_to(Tensor x, Tensor out) -> ()\n  dispatch:\n    CPU: add_to_cpu\n"
        "  alias_analysis: conservative\n",
        "- func: custom::add_to(Tensor x, Tensor(a!) out) -> ()\n  dispatch:\n    CPU: add_to_cpu\n",
    ),
    target="torch-stable",
)

CODES = (E0753, E0754, E0755, E0756, W0757, E0758, E0759, E0813, E0818, E0819, W1001)


def report_not_installed(registry: Registry, target: Target, diagnostics: Diagnostics) -> None:
    """Report the first operator that is not in the library for which `target` generates backends."""
    if target.installed is None:
        return
    namespaces = target.installed.namespaces
    f = next((f for f in registry.functions if f.namespace not in namespaces), None)
    if f is not None:
        message = f"'{f.full_name}' is not one of {target.name}'s own operators"
        hint = "name the backend's kernel under 'dispatch', without --backend-yaml"
        diagnostics.error(E0756, message, f.span, hint=hint)


def report_operators(registry: Registry, target: Target, diagnostics: Diagnostics) -> None:
    """Report operators, or parts of them, for which `target` has no files."""
    if target.cpp.tensor_header is not None:
        report_methods(registry, diagnostics)
    known = None if target.schema.knows_all_tags else frozenset(builtin_tags().names)
    for f in registry.functions:
        if f.namespace in target.schema.own_namespaces:
            message = f"'{f.full_name}' is in one of {target.name}'s own namespaces"
            hint = f"write `func: mylib::{f.func.name}(...)`, with your own namespace"
            diagnostics.error(E0753, message, f.span, hint=hint)
        if f.ufunc_inner_loop and not target.schema.makes_ufuncs:
            message = f"target {target.name} does not support inner loops"
            diagnostics.error(E0754, message, f.spans.key("ufunc_inner_loop"))
        for key, kernel in f.dispatch if not target.dispatch.has_python_kernels else ():
            if kernel.source is KernelSource.python:
                message = f"target {target.name} does not support kernels in Python"
                hint = "write a C++ kernel, or use target torch"
                diagnostics.error(E0758, message, f.spans.kernel(key), hint=hint)
        kind = f.alias_analysis
        if kind is AliasAnalysisKind.conservative and not target.schema.has_alias_analysis:
            message = f"target {target.name} cannot register a conservative alias analysis"
            hint = "say in the schema what it writes, as in 'Tensor(a!) out', or use target torch"
            diagnostics.error(E0759, message, f.spans.value("alias_analysis"), hint=hint)
        for tag in () if known is None else sorted(f.tags - known):
            message = f"target {target.name} does not know the tag '{tag}'"
            diagnostics.error(E0755, message, f.spans.value("tags"))
        for tag in sorted(f.tags - target.schema.registered_tags(f)):
            span = f.spans.item("tags", tag)
            if span.text == tag:  # written, not derived
                message = f"the tag '{tag}' is not registered: {UNREGISTERED_TAGS[tag]}"
                diagnostics.warning(W0757, message, span)


def report_methods(registry: Registry, diagnostics: Diagnostics) -> None:
    """Report methods, for a library that uses another library's class Tensor."""
    for f in registry.functions:
        if Variant.method in f.variants:
            diagnostics.warning(
                W1001,
                f"'{f.func.name}' cannot be a method: class Tensor belongs to another library",
                f.spans.value("variants"),
            )


def report_backend(
    target: Target, file: BackendFile, backend: ExternalBackend, diagnostics: Diagnostics
) -> None:
    """Report an external backend if `target` has no files for it, or lacks something that it asks for."""
    span, fallback = file.backend.span, backend.cpu_fallback
    if target.installed is not None and backend.structured and backend.cpp_namespace == "at":
        message = f"target {target.name} has classes of the same names in this namespace"
        hint = "use your own namespace, or one within it: 'at::mine'"
        diagnostics.error(E0819, message, file.cpp_namespace.span, hint=hint)
    if target.plan.kinds and FileKind.BACKEND not in target.plan.kinds:
        message = f"target {target.name} does not support external backends"
        diagnostics.error(E0813, message, span)
    elif fallback and target.installed is None:
        message = f"target {target.name} has no CPU fallback"
        diagnostics.error(E0818, message, span, hint="leave out 'cpu_fallback'")
