"""What a target cannot do with some operators, reported before views are built."""

from __future__ import annotations

from opgen.diagnostics import Diagnostics
from opgen.diagnostics.codes import Code
from opgen.model.backend import BackendFile, ExternalBackend
from opgen.model.native_function import Variant
from opgen.model.registry import Registry
from opgen.targets.base import FileKind, Target

_BACKEND = "backend: XLA\ncpp_namespace: torch_xla\nsupported:\n- neg\n"

W1001 = Code(
    "W1001",
    "a method becomes a function only",
    "The library uses the class Tensor of another one (--extends), which cannot get new members. The "
    "operator is generated as a function. Remove `method` from `variants` to say so yourself.",
    "- func: foo(Tensor self) -> Tensor\n  variants: function, method\n",
    "- func: foo(Tensor self) -> Tensor\n  variants: function\n",
)

E0813 = Code(
    "E0813",
    "a target without external backends",
    "The target has no files for external backends (--backend-yaml).",
    _BACKEND,
    _BACKEND,
    (),
    "backend.yaml",
)

E0818 = Code(
    "E0818",
    "a target without a CPU fallback",
    "'cpu_fallback' lets operators without a kernel of the backend run on the CPU, with copies to it and back. Only "
    "PyTorch has such a fallback (--target torch); for opgen's own runtime, register a boxed one yourself.",
    _BACKEND + "cpu_fallback: true\n",
    _BACKEND,
    (),
    "backend.yaml",
)

E0819 = Code(
    "E0819",
    "a backend in the namespace of the operators' own kernels",
    "With --target torch, the classes of structured kernels derive from those of PyTorch, which are in at::meta and "
    "at::native. Those of a backend in namespace at would have the same names.",
    "backend: PrivateUse1\ncpp_namespace: at\nstructured:\n- add.out\n",
    "backend: PrivateUse1\ncpp_namespace: at::mine\nstructured:\n- add.out\n",
    (),
    "backend.yaml",
    target="torch",
)

CODES = (W1001, E0813, E0818, E0819)


def report_unsupported(registry: Registry, *, extends: bool, diagnostics: Diagnostics) -> None:
    """Report methods where class Tensor is another library's."""
    if not extends:
        return
    for f in registry.functions:
        if Variant.method in f.variants:
            diagnostics.warning(
                W1001,
                f"'{f.func.name}' cannot be a method of a class Tensor that is another library's",
                f.spans.value("variants"),
            )


def report_backend(
    target: Target, file: BackendFile, backend: ExternalBackend, diagnostics: Diagnostics
) -> None:
    """Report an external backend, if `target` makes no files for one, or not all that it asks for."""
    span, fallback = file.backend.span, backend.cpu_fallback
    if target.installed is not None and backend.structured and backend.cpp_namespace == "at":
        message = f"target {target.name} has classes of the same names in this namespace"
        hint = "write a namespace of yours, or one within it: 'at::mine'"
        diagnostics.error(E0819, message, file.cpp_namespace.span, hint=hint)
    if target.files and FileKind.BACKEND not in target.files:
        message = f"target {target.name} makes no files for external backends"
        diagnostics.error(E0813, message, span)
    elif fallback and target.fallback_header is None:
        message = f"target {target.name} has no CPU fallback"
        diagnostics.error(E0818, message, span, hint="leave out 'cpu_fallback'")
