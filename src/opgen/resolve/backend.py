"""Resolve a BackendFile into an ExternalBackend and the registrations of its keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from opgen.diagnostics import Diagnostics
from opgen.diagnostics.suggestions import Vocabulary, did_you_mean, shorten
from opgen.model.backend import (
    BackendFile,
    BackendIndex,
    BackendKernel,
    BackendStructured,
    ExternalBackend,
    StructuredRoute,
    WrittenName,
)
from opgen.model.cpp_words import cpp_identifier
from opgen.model.dispatch_key import COMPOSITE_DISPATCH_KEYS, DispatchKey
from opgen.model.function_schema import TENSOR, SchemaKind
from opgen.model.native_function import Kernel, NativeFunction
from opgen.model.registry import NativeFunctionsGroup, OutlessGroup, Registry, StructuredGroup
from opgen.resolve.dispatch_tables import Registration, RegistrationKind, members_with_groups

# Names of keys for which no kernel can be registered.
_NO_KEYS = (DispatchKey.Undefined, DispatchKey.ORT)
# Keys for which opgen registers kernels even if no entry names them.
_OWN_KEYS = (*COMPOSITE_DISPATCH_KEYS, DispatchKey.Meta, DispatchKey.BackendSelect)


def resolve_backend(
    file: BackendFile, registry: Registry, diagnostics: Diagnostics
) -> ExternalBackend | None:
    """Return the backend that `file` describes; None if it supports nothing, or if there are errors."""
    before = diagnostics.error_count
    resolver = _Resolver(file, registry, diagnostics)
    supported = (*file.supported, *file.out_as_primary)
    forward = resolver.index(file.backend.text, supported, also=bool(file.structured))
    autograd = resolver.index(f"Autograd{file.backend}", file.autograd)
    structured = resolver.structured()
    resolver.check_not_mixed(forward, autograd)
    resolver.check_listed_once(structured, (forward, autograd))
    outs = resolver.out_as_primary()
    resolver.warn_of_names_without_effect()
    if forward is None or diagnostics.error_count > before:
        return None
    return ExternalBackend(
        cpp_namespace=file.cpp_namespace.text,
        class_name=str(file.class_name or f"{forward.key.name}NativeFunctions"),
        forward=forward,
        autograd=autograd,
        use_out_as_primary=file.use_out_as_primary,
        device_guard=file.device_guard,
        structured=structured,
        out_as_primary=outs,
        cpu_fallback=file.cpu_fallback,
    )


class _Resolver:
    def __init__(self, file: BackendFile, registry: Registry, diagnostics: Diagnostics) -> None:
        self.file, self.registry, self.diagnostics = file, registry, diagnostics
        self.named = {str(f.func.name): f for f in registry.functions}
        self.vocabulary = Vocabulary(self.named)

    def index(
        self, key_name: str, names: Sequence[WrittenName], *, also: bool = False
    ) -> BackendIndex | None:
        """Return the kernels of `names` for one key; None if there are none (nor others, `also`), or no such key."""
        if not names and not also:
            return None
        key = self._key(key_name)
        wanted = {name.text: name for name in reversed(names)}
        for name in wanted.values():
            if name.text not in self.named:
                self._report_unknown(name)
        named = ((f, wanted.get(str(f.func.name))) for f in self.registry.functions)
        kernels = tuple(self._kernel(f, name) for f, name in named if name is not None)
        return None if key is None else BackendIndex(key, kernels)

    def _key(self, name: str) -> DispatchKey | None:
        span = self.file.backend.span
        key = DispatchKey.__members__.get(name)
        if key is None or key in _NO_KEYS:
            hint = did_you_mean(name, [k for k in DispatchKey.__members__ if k != name])
            message = f"there is no dispatch key '{shorten(name)}'"
            self.diagnostics.error("E0806", message, span, hint=hint)
            return None
        if key in self.registry.dispatch_keys or key in _OWN_KEYS:
            message = f"dispatch key '{name}' already has kernels"
            named = (f for f in self.registry.functions if f.find_kernel(key) is not None)
            labels = [(f.spans.dispatch_key(key), "the first") for f in named][:1]
            self.diagnostics.error("E0807", message, span, labels=labels)
            return None
        return key

    def _kernel(self, f: NativeFunction, name: WrittenName) -> BackendKernel:
        written = next((s for s in self.file.symint if s.text == name.text), None)
        if written is not None and not f.func.has_symint():
            message = f"'{f.func.name}' has no argument of type SymInt"
            self.diagnostics.error(
                "E0810", message, written.span, labels=[(f.span, "defined here")]
            )
        kernel = str(f.func.name.name)
        kernel += "_out" if f.func.is_out_fn() else ""
        kernel += "_symint" if written is not None else ""
        return BackendKernel(f, cpp_identifier(kernel), written is not None, name.span)

    def structured(self) -> tuple[BackendStructured, ...]:
        """Return the structured kernels that the file lists, in the order of the registry's groups."""
        found: dict[str, BackendStructured] = {}
        primaries = {str(g.out.func.name): g for g in self.registry.groups if g.structured}
        for route, name in self.file.structured:
            group = primaries.get(name.text)
            if group is None:
                self._report_no_primary(name)
            elif name.text in found:
                message = f"'{name.text}' is listed already"
                labels = [(found[name.text].span, "the first time")]
                self.diagnostics.error("E0815", message, name.span, labels=labels)
            else:
                found[name.text] = self._structured(group, route, name)
        return tuple(found[name] for name in primaries if name in found)

    def _structured(
        self, group: NativeFunctionsGroup, route: StructuredRoute, name: WrittenName
    ) -> BackendStructured:
        installed = None
        if route is StructuredRoute.installed:
            # The CPU kernel, if it calls a dispatch stub for the part that depends on the device: kernels that are named for
            # a further key do, and those of element-wise loops.
            cpu = group.out.find_kernel(DispatchKey.CPU)
            is_shared = any(
                kernel == cpu and key != DispatchKey.CPU for key, kernel in group.out.dispatch
            )
            if cpu is not None and cpu.structured and (is_shared or group.out.ufunc_inner_loop):
                installed = cpu
            else:
                message = f"the kernels of '{name.text}' are for one backend each"
                labels = [(group.out.spans.value("dispatch"), "no kernel of several keys here")]
                hint = (
                    f"write a kernel of your own: list it under '{StructuredRoute.own_impl.value}'"
                )
                self.diagnostics.error("E0816", message, name.span, labels=labels, hint=hint)
        kernel = cpp_identifier(group.out.func.name.unambiguous_name)
        return BackendStructured(group, route, kernel, installed, name.span)

    def _report_no_primary(self, name: WrittenName) -> None:
        f = self.named.get(name.text)
        if f is None:
            self._report_unknown(name)
            return
        group = self.registry.group_of(f)
        if group is not None and group.structured:
            message = f"'{name.text}' is not an out variant"
            hint = f"did you mean '{group.out.func.name}'? It stands for all its variants"
        else:
            message = f"'{name.text}' is not structured"
            hint = "list it under 'supported'"
        labels = [(f.span, "defined here")]
        self.diagnostics.error("E0814", message, name.span, labels=labels, hint=hint)

    def _report_unknown(self, name: WrittenName) -> None:
        hint = self.vocabulary.did_you_mean(name.text)
        overloads = [k for k in self.named if k.partition(".")[0] == name.text]
        if "::" in name.text:
            hint = "written without the namespace"
        elif overloads:
            hint = f"did you mean '{min(overloads)}'?"
        message = f"there is no operator '{shorten(name.text)}'"
        self.diagnostics.error("E0808", message, name.span, hint=hint)

    def out_as_primary(self) -> frozenset[str]:
        """Return the full names of the operators under 'out_as_primary'. Report those from which no variant can be made."""
        found = {}
        for name in self.file.out_as_primary:
            f = self.named.get(name.text)
            reason = None if f is None else _why_not_primary(f, self.registry.group_of(f))
            if reason is not None:
                message = f"'{name.text}' cannot be primary: {reason}"
                self.diagnostics.error("E0817", message, name.span)
            elif f is not None:
                found[f.full_name] = f
        return frozenset(found)

    def check_listed_once(
        self, structured: Iterable[BackendStructured], indices: Iterable[BackendIndex | None]
    ) -> None:
        """Report kernels of operators that a structured kernel already serves."""
        members = {f.full_name: s for s in structured for f in s.group.functions()}
        for kernel in (k for index in indices if index is not None for k in index.kernels):
            found = members.get(kernel.function.full_name)
            if found is not None:
                name = kernel.function.func.name
                message = (
                    f"'{name}' is made from the structured kernel of '{found.group.out.func.name}'"
                )
                labels = [(found.span, "listed here")]
                self.diagnostics.error("E0815", message, kernel.span, labels=labels)

    def check_not_mixed(self, forward: BackendIndex | None, autograd: BackendIndex | None) -> None:
        """Report operators whose variants are split between the two keys."""
        if forward is None or autograd is None:
            return
        first = {self._variants_of(k.function): k for k in reversed(forward.kernels)}
        for kernel in autograd.kernels:
            other = first.get(self._variants_of(kernel.function))
            if other is None:
                continue
            f, g = kernel.function.func.name, other.function.func.name
            message = f"'{f}' is supported already"
            if f != g:
                message = f"'{f}' is under 'autograd', its variant '{g}' under 'supported'"
            self.diagnostics.error(
                "E0809", message, kernel.span, labels=[(other.span, "supported")]
            )

    def _variants_of(self, f: NativeFunction) -> str:
        """Return the name that identifies all variants of one operator: that of the functional one."""
        group = self.registry.group_of(f)
        return f.full_name if group is None else group.functional.full_name

    def warn_of_names_without_effect(self) -> None:
        listed = {
            name.text
            for name in (*self.file.supported, *self.file.autograd, *self.file.out_as_primary)
        }
        for name in self.file.symint:
            if name.text not in listed:
                message = f"'{shorten(name.text)}' is neither supported nor under autograd"
                self.diagnostics.warning("W1802", message, name.span)
        forward = (*self.file.supported, *self.file.out_as_primary, *self.file.structured)
        if self.file.autograd and not forward:
            message = "nothing is generated, since no operator is supported"
            self.diagnostics.warning("W1802", message, self.file.autograd[0].span)


def _why_not_primary(f: NativeFunction, group: NativeFunctionsGroup | None) -> str | None:
    if not f.func.is_out_fn() or group is None:
        return "it is not an out variant of another operator"
    if group.structured:
        return "it is structured, so that all variants are made from any out kernel"
    arguments = group.functional.func.arguments
    if any(a.type != TENSOR for a in f.func.arguments.out) or not f.func.returns:
        return "it does not write plain tensors that it returns"
    if arguments.tensor_options is not None:
        return "it takes tensor options, so a new tensor need not be like one of its arguments"
    if not any(a.type == TENSOR for a in arguments.flat_non_out):
        return "it has no tensor argument from which a new tensor could take its options"
    return None


def backend_registrations(
    backend: ExternalBackend, index: BackendIndex, registry: Registry
) -> tuple[Registration, ...]:
    """Return the registrations for the key of `index`: its kernels, and variants made from other kernels."""
    return tuple(
        Registration(
            function,
            index.key,
            kind,
            _kernel(backend, index, function),
            group,
            backend.device_guard,
        )
        for function, group in members_with_groups(registry)
        if (kind := _kind(backend, index, function, group)) is not None
    )


def _kernel(backend: ExternalBackend, index: BackendIndex, f: NativeFunction) -> Kernel | None:
    structured = backend.find_structured(f)
    if structured is not None and index is backend.forward:
        return Kernel(structured.name, backend.cpp_namespace, structured=True)
    kernel = index.find_kernel(f)
    if kernel is None:
        return None
    return Kernel(kernel.name, f"{backend.cpp_namespace}::{backend.class_name}", structured=False)


def _kind(
    backend: ExternalBackend,
    index: BackendIndex,
    f: NativeFunction,
    group: StructuredGroup | None,
) -> RegistrationKind | None:
    if f.manual_kernel_registration:
        return None
    if index is backend.forward and backend.find_structured(f) is not None:
        return RegistrationKind.structured
    if index.find_kernel(f) is not None:
        return RegistrationKind.external
    if group is None or isinstance(group, OutlessGroup):
        return None
    if group.out.full_name in backend.out_as_primary and index is backend.forward:
        # The out variant's kernel serves those that return the argument that they write.
        is_one = len(group.out.func.arguments.out) == 1
        kind = f.func.kind()
        if kind is SchemaKind.functional or (kind is SchemaKind.inplace and is_one):
            return RegistrationKind.from_out
    if backend.use_out_as_primary or not _is_made_from_functional(f, group, index):
        return None
    return RegistrationKind.from_functional


def _is_made_from_functional(
    f: NativeFunction, group: NativeFunctionsGroup, index: BackendIndex
) -> bool:
    """Return whether the functional variant has a kernel, and one result for each argument that `f` writes."""
    functional = group.functional
    if f.func.kind() not in (SchemaKind.inplace, SchemaKind.out):
        return False
    if index.find_kernel(functional) is None or functional.manual_kernel_registration:
        return False
    returns = functional.func.returns
    written = f.func.arguments.mutable_arg_names
    return len(written) == len(returns) and all(r.type.is_tensor_like() for r in returns)
