"""Check the rules about one entry as a whole, one function each.

Each rule declares the keys that it depends on. It is skipped if the value of one of them is invalid, because that has
been reported. A rule yields its findings: usually none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from msgspec import Struct

from opgen import data
from opgen.diagnostics import Diagnostics, Edit, Span
from opgen.diagnostics.suggestions import did_you_mean
from opgen.model import release
from opgen.model.dispatch_key import (
    COMPOSITE_DISPATCH_KEYS,
    STRUCTURED_DISPATCH_KEYS,
    UFUNC_DISPATCH_KEYS,
    DispatchKey,
)
from opgen.model.function_schema import (
    FunctionSchema,
    SchemaKind,
    argument_offsets,
    return_offsets,
)
from opgen.model.native_function import AliasAnalysisKind, DeviceCheckType, KernelSource, Variant
from opgen.model.out_slips import OutSlip, find_out_slip
from opgen.model.profile import Profile, operator_namespace
from opgen.parse.entries.draft import Draft, default_kernel_name

_IMPLICIT = DispatchKey.CompositeImplicitAutograd
_NONFUNCTIONAL = DispatchKey.CompositeExplicitAutogradNonFunctional
_NESTED = DispatchKey.CompositeImplicitAutogradNestedTensor

_NOT_RANDOM = data.read_exempt("V111")


class Finding(Struct, frozen=True):
    code: str
    message: str
    span: Span
    labels: tuple[tuple[Span, str], ...] = ()
    notes: tuple[str, ...] = ()
    hint: str | None = None
    fix: Edit | None = None


Rule = Callable[[Draft, FunctionSchema], Iterator[Finding]]


def check_entry(draft: Draft, diagnostics: Diagnostics) -> None:
    """Report every rule that the entry violates."""
    if draft.func is None:
        return
    is_library = draft.profile is Profile.library
    for needs, rule in _RULES:
        if is_library and rule in _ONLY_TORCHGEN:
            continue
        if draft.bad and not draft.bad.isdisjoint(needs):
            continue
        for finding in rule(draft, draft.func):
            diagnostics.error(
                finding.code,
                finding.message,
                finding.span,
                labels=finding.labels,
                notes=finding.notes,
                hint=finding.hint,
                fix=finding.fix,
            )


def _fake_is_needed(draft: Draft, func: FunctionSchema) -> Iterator[Finding]:
    if draft.fake is None:
        return
    keys = {row.key for row in draft.dispatch}
    labels: tuple[tuple[Span, str], ...] = ()
    if draft.structured or draft.structured_delegate is not None:
        reason = "its meta function computes what it returns"
    elif DispatchKey.Meta in keys:
        reason = "it has a kernel for Meta"
        labels = ((draft.spans.dispatch_key(DispatchKey.Meta), "here"),)
    elif _IMPLICIT in keys or not draft.has_dispatch:
        reason = "it decomposes into the operators that it calls"
    else:
        return
    message = f"'{func.name}' needs no fake: {reason}"
    yield Finding("E0255", message, draft.spans.key("fake"), labels)


def _effects_are_kept(draft: Draft, func: FunctionSchema) -> Iterator[Finding]:
    """Source of the rules: `has_effects` of PyTorch 2.13; composites decompose before it is asked."""
    if draft.effects is None:
        return
    span = draft.spans.key("effects")
    aliased = next((a for a in func.arguments.flat_all if a.annotation is not None), None)
    is_composite = any(row.key is _IMPLICIT for row in draft.dispatch)
    is_structured = draft.structured or draft.structured_delegate is not None
    if aliased is not None:
        message = (
            f"'{func.name}' writes or returns '{aliased.name}', so PyTorch ignores its effects"
        )
        hint = "let one operator write, and another have the effects"
        yield Finding("E0257", message, span, hint=hint)
    elif is_composite or not (draft.has_dispatch or is_structured):
        message = f"'{func.name}' decomposes into the operators that it calls, so it has no effects of its own"
        hint = "write 'CompositeExplicitAutograd' for its kernel"
        yield Finding("E0257", message, span, hint=hint)


def _python_kernels_are_plain(draft: Draft, func: FunctionSchema) -> Iterator[Finding]:
    is_structured = draft.structured or draft.structured_delegate is not None
    for row in draft.dispatch:
        if row.source is not KernelSource.python:
            continue
        if is_structured:
            message = f"'{func.name}' is structured, so its kernels are C++ classes"
            hint = "write an operator that is not structured"
        elif row.key is DispatchKey.Meta:
            message = "PyTorch does not take the results without data from a Python kernel for Meta"
            hint = "write a line 'fake', or leave out the row and call torch.library.register_fake"
        else:
            continue
        yield Finding("E0259", message, draft.spans.kernel(row.key), hint=hint)


def _annotations_are_analysed(draft: Draft, func: FunctionSchema) -> Iterator[Finding]:
    """Source of the rule: PyTorch's registration of an operator for TorchScript refuses other kinds."""
    kind = draft.alias_analysis
    aliased = next((a for a in func.arguments.flat_all if a.annotation is not None), None)
    if kind in (None, AliasAnalysisKind.from_schema) or aliased is None:
        return
    message = f"the schema says what '{func.name}' does with '{aliased.name}': PyTorch registers no other alias analysis"
    hint = "remove 'alias_analysis', or the annotations"
    yield Finding("E0261", message, draft.spans.key("alias_analysis"), hint=hint)


def _const_refs_without_out(draft: Draft, func: FunctionSchema) -> Iterator[Finding]:
    key = "use_const_ref_for_mutable_tensors"
    if not (draft.use_const_ref_for_mutable_tensors and func.arguments.out):
        return
    if release.holds(release.Rule.NO_CONST_REF_TO_OUTS, draft.declared_tags):
        message = f"'{func.name}' has out arguments, so it cannot have '{key}'"
        yield Finding("E0249", message, draft.spans.key(key))


def _methods_in_no_module(draft: Draft, func: FunctionSchema) -> Iterator[Finding]:
    if draft.python_module is not None and Variant.method in draft.variants:
        message = f"'{func.name}' is a method, so it cannot be in a Python module"
        label = (draft.spans.item("variants", "method"), "made a method here")
        yield Finding("E0248", message, draft.spans.key("python_module"), (label,))


def _precomputed_when_structured(draft: Draft, func: FunctionSchema) -> Iterator[Finding]:
    if draft.has_precomputed and not draft.structured:
        message = f"'{func.name}' is not structured, so nothing can be precomputed for it"
        yield Finding("E0230", message, draft.spans.key("precomputed"))


def _replaced_arguments_exist(draft: Draft, func: FunctionSchema) -> Iterator[Finding]:
    if draft.precomputed is None or not draft.structured:
        return
    replaceable = [a.name for a in func.arguments.flat_non_out if a.name != "self"]
    for name, _ in draft.precomputed.replace:
        if name not in replaceable:
            message = f"'{name}' is not an argument of '{func.name}' that can be replaced"
            hint = f"these can be: {', '.join(replaceable)}" if replaceable else None
            span = draft.spans.value("precomputed")
            yield Finding("E0233", message, _replaced(draft, name, span), hint=hint)


def _replaced(draft: Draft, name: str, value: Span) -> Span:
    """Return the place in the `value` of `precomputed` where `name` is replaced; `value` if it is not found."""
    start = value.source.text.find(f"{name} -> ", value.start)
    if start < 0 or start > draft.spans.entry.end:
        return value
    return Span(value.source, start, start + len(name))


def _no_table_with_manual_registration(draft: Draft, func: FunctionSchema) -> Iterator[Finding]:
    if draft.has_dispatch and draft.manual_kernel_registration:
        message = f"kernels of '{func.name}' are registered by hand, so this table has no effect"
        label = (draft.spans.key("manual_kernel_registration"), "because of this key")
        yield Finding("E0216", message, draft.spans.key("dispatch"), (label,))


def _table_is_not_the_default(draft: Draft, func: FunctionSchema) -> Iterator[Finding]:
    """Check two rules about a table whose only key is CompositeImplicitAutograd."""
    if draft.dispatch_key_count != 1 or [row.key for row in draft.dispatch] != [_IMPLICIT]:
        return
    row, name = draft.dispatch[0], default_kernel_name(func)
    if row.kernel == name and row.namespace is None:
        message = "this table is the default: remove it"
        fix = draft.spans.remove_key("dispatch")
        yield Finding("E0212", message, draft.spans.key("dispatch"), fix=fix)
    elif "_symint" not in row.kernel and draft.structured_delegate is None:
        message = f"the only kernel of '{func.name}' must be named '{name}'"
        hint = f"rename it to '{name}' and remove the table"
        yield Finding("E0213", message, draft.spans.kernel(_IMPLICIT), hint=hint)


def _factories_have_a_table(draft: Draft, func: FunctionSchema) -> Iterator[Finding]:
    if draft.has_dispatch or draft.structured or draft.structured_delegate is not None:
        return
    name = str(func.name.name)
    if name.startswith("new_") or name.endswith("_like") or func.is_factory:
        message = f"'{func.name}' creates a tensor, so it needs a dispatch table"
        note = f"add 'dispatch:' with 'CompositeExplicitAutograd: {name}' or kernels for single backends"
        yield Finding("E0214", message, draft.spans.schema_name(), notes=(note,))


def _composite_keys_agree(draft: Draft, func: FunctionSchema) -> Iterator[Finding]:
    keys = [row.key for row in draft.dispatch if row.key in COMPOSITE_DISPATCH_KEYS]
    if len(keys) <= 1:
        return
    if len(keys) == 2 and _NESTED in keys and _NONFUNCTIONAL not in keys:
        return
    second = next((key for key in keys[1:] if key is not _NESTED), keys[1])
    first = next((key for key in keys if key not in (_NESTED, second)), keys[0])
    message = f"'{second}' cannot be combined with '{first}'"
    label = (draft.spans.dispatch_key(first), "the other kernel for all backends")
    yield Finding("E0215", message, draft.spans.dispatch_key(second), (label,))


def _kernels_share_namespace(draft: Draft, func: FunctionSchema) -> Iterator[Finding]:
    default = operator_namespace(draft.namespace)
    for row in draft.dispatch[1:]:
        first = draft.dispatch[0]
        names = [r.namespace or default for r in (first, row)]
        if names[0] != names[1]:
            message = f"kernels of '{func.name}' are in different namespaces: '{names[0]}' and '{names[1]}'"
            label = (draft.spans.kernel(first.key), "the first")
            yield Finding("E0219", message, draft.spans.kernel(row.key), (label,))
            return


def _ufuncs_are_structured(draft: Draft, func: FunctionSchema) -> Iterator[Finding]:
    if not draft.ufunc_inner_loop:
        return
    is_functional = func.kind() is SchemaKind.functional
    outless = is_functional and draft.no_outless is None and not _asks_for_variants(draft)
    if not draft.structured or outless:
        lacks = "is not an out variant" if draft.structured else "is not structured"
        message = f"'{func.name}' has an inner loop but {lacks}"
        yield Finding("E0223", message, draft.spans.key("ufunc_inner_loop"))
    for row in draft.dispatch:
        if row.key in UFUNC_DISPATCH_KEYS:
            message = f"the {row.key} kernel of '{func.name}' is generated from its inner loop"
            label = (draft.spans.key("ufunc_inner_loop"), "the inner loop")
            yield Finding("E0224", message, draft.spans.dispatch_key(row.key), (label,))


def _delegates_name_no_kernels(draft: Draft, func: FunctionSchema) -> Iterator[Finding]:
    if draft.structured_delegate is None:
        return
    for row in draft.dispatch:
        if row.key in STRUCTURED_DISPATCH_KEYS:
            message = f"the {row.key} kernel of '{func.name}' is that of its delegate"
            label = (draft.spans.value("structured_delegate"), "delegated here")
            yield Finding("E0217", message, draft.spans.dispatch_key(row.key), (label,))


def _out_variants_are_functions(draft: Draft, func: FunctionSchema) -> Iterator[Finding]:
    if func.arguments.out and draft.variants != {Variant.function}:
        message = f"'{func.name}' has out arguments, so it is a function only"
        span = draft.spans.value("variants")
        yield Finding("E0240", message, span, fix=Edit(span, "function"))


def _structured_is_an_out_variant(draft: Draft, func: FunctionSchema) -> Iterator[Finding]:
    if not draft.structured or func.kind() is SchemaKind.out:
        return
    message = f"'{func.name}' is not an out variant, so it cannot be structured"
    slip = find_out_slip(func)
    if func.kind() is not SchemaKind.functional and slip is not None:
        label = (draft.spans.key("structured"), "structured")
        message = f"'{func.name}' is structured, but not an out variant: {slip.message}"
        span = _span_of_slip(slip, draft, func)
        yield Finding("E0241", message, span, (label,), hint=slip.hint)
    elif func.kind() is not SchemaKind.functional:
        hint = "did you mean 'structured_delegate: NAME.out'?"
        yield Finding("E0241", message, draft.spans.key("structured"), hint=hint)
    elif draft.no_outless is not None and not _asks_for_variants(draft):
        message = f"{message} {draft.no_outless}"
        hint = (
            "add an out variant with 'structured: True', and 'structured_delegate: NAME.out' here"
        )
        if draft.profile is Profile.library:
            hint = f"add 'autogen: {func.name.to_out()}'"
        if draft.is_strict:
            hint = f"{hint}; or run without --strict-torchgen"
        yield Finding("E0241", message, draft.spans.key("structured"), hint=hint)


def _asks_for_variants(draft: Draft) -> bool:
    """Return whether an entry that is structured stands for all variants of its operator."""
    return draft.profile is Profile.library and bool(draft.autogen)


def _span_of_slip(slip: OutSlip, draft: Draft, func: FunctionSchema) -> Span:
    """Return the type of the argument, or all returns."""
    if slip.argument is None:
        places = [(start, start + len(str(r))) for r, start in return_offsets(func)]
        return (
            draft.spans.schema(places[0][0], places[-1][1]) if places else draft.spans.schema_name()
        )
    starts = (start for a, start in argument_offsets(func) if a is slip.argument)
    start = next(starts)
    return draft.spans.schema(start, start + len(slip.argument.type_text))


def _structured_is_guarded(draft: Draft, func: FunctionSchema) -> Iterator[Finding]:
    if not draft.device_guard and (draft.structured or draft.structured_delegate is not None):
        message = f"'{func.name}' is structured, so its device guard cannot be turned off"
        yield Finding("E0242", message, draft.spans.key("device_guard"))


def _out_variants_do_not_delegate(draft: Draft, func: FunctionSchema) -> Iterator[Finding]:
    if draft.structured_delegate is not None and func.kind() is SchemaKind.out:
        message = f"'{func.name}' is an out variant, so it cannot delegate to another"
        hint = None if draft.structured else "did you mean 'structured: True'?"
        span = draft.spans.key("structured_delegate")
        yield Finding("E0243", message, span, hint=hint)


def _no_default_args_have_defaults(draft: Draft, func: FunctionSchema) -> Iterator[Finding]:
    if not draft.cpp_no_default_args:
        return
    defaults = {a.name for a in func.arguments.flat_all if a.default is not None}
    names = {a.name for a in func.arguments.flat_all}
    for name in draft.cpp_no_default_args:
        if name not in defaults:
            message = (
                f"the argument '{name}' of '{func.name}' has no default"
                if name in names
                else f"'{func.name}' has no argument '{name}'"
            )
            span = draft.spans.item("cpp_no_default_args", name)
            hint = None if name in names else did_you_mean(name, sorted(defaults))
            yield Finding("E0244", message, span, hint=hint)


def _base_class_when_structured(draft: Draft, func: FunctionSchema) -> Iterator[Finding]:
    if draft.structured_inherits is not None and not draft.structured:
        message = f"'{func.name}' is not structured, so it has no base class"
        hint = "add 'structured: True', or remove this line"
        yield Finding("E0245", message, draft.spans.key("structured_inherits"), hint=hint)


def _foreach_is_not_checked(draft: Draft, func: FunctionSchema) -> Iterator[Finding]:
    checked = draft.device_check is not DeviceCheckType.NoCheck
    if checked and str(func.name).startswith("_foreach"):
        message = f"'{func.name}' needs 'device_check: NoCheck'"
        written = draft.node("device_check") is not None
        span = draft.spans.value("device_check") if written else draft.spans.schema_name()
        added = draft.spans.add_key("device_check: NoCheck")
        yield Finding("E0246", message, span, fix=Edit(span, "NoCheck") if written else added)


def _random_is_tagged(draft: Draft, func: FunctionSchema) -> Iterator[Finding]:
    if "nondeterministic_seeded" in draft.tags:
        return
    reason = explain_random(func, draft.declared_tags)
    if reason is not None:
        message = f"'{func.name}' needs the tag 'nondeterministic_seeded': {reason}"
        fix = draft.spans.add_tag("nondeterministic_seeded")
        yield Finding("E0247", message, draft.spans.schema_name(), fix=fix)


def explain_random(func: FunctionSchema, tags: Collection[str]) -> str | None:
    """Return why an operator counts as one that draws random numbers, for a message; None if it does not.

    `tags` are the declared ones, which tell the release. Source of the rules: torchgen's NativeFunction.
    """
    name = str(func.name)
    # Since 2.15. The results of _philox_randint_ and similar operators depend only on their arguments.
    if "rand" in name and "_philox_" not in name:
        return "its name contains 'rand'"
    if func.arguments.has_generator_arg():
        return "it takes a Generator"
    if "backward" in name or (name,) in _NOT_RANDOM:
        return None
    if "dropout" in name:
        return "its name contains 'dropout'"
    if not release.holds(release.Rule.RANDOM_BY_ARGUMENT_NAME, tags):
        return None
    argument = next((a for a in func.arguments.flat_all if "dropout" in a.name), None)
    return (
        None
        if argument is None
        else f"the name of its argument '{argument.name}' contains 'dropout'"
    )


# Rules that PyTorch's registry does not have. They hold only by torchgen's rules, as for namespace aten.
_ONLY_TORCHGEN: frozenset[Rule] = frozenset(
    {
        _const_refs_without_out,
        _table_is_not_the_default,
        _factories_have_a_table,
        _composite_keys_agree,
        _kernels_share_namespace,
        _foreach_is_not_checked,
        _random_is_tagged,
    }
)
_RULES: tuple[tuple[frozenset[str], Rule], ...] = tuple(
    (frozenset(needs.split()), rule)
    for needs, rule in (
        ("use_const_ref_for_mutable_tensors", _const_refs_without_out),
        ("python_module variants", _methods_in_no_module),
        ("precomputed structured", _precomputed_when_structured),
        ("precomputed structured", _replaced_arguments_exist),
        ("dispatch manual_kernel_registration", _no_table_with_manual_registration),
        ("dispatch structured_delegate", _table_is_not_the_default),
        ("dispatch structured structured_delegate", _factories_have_a_table),
        ("dispatch", _composite_keys_agree),
        ("dispatch", _kernels_share_namespace),
        ("ufunc_inner_loop structured dispatch autogen", _ufuncs_are_structured),
        ("structured_delegate dispatch", _delegates_name_no_kernels),
        ("variants", _out_variants_are_functions),
        ("structured autogen", _structured_is_an_out_variant),
        ("structured structured_delegate device_guard", _structured_is_guarded),
        ("structured_delegate", _out_variants_do_not_delegate),
        ("cpp_no_default_args", _no_default_args_have_defaults),
        ("structured_inherits structured", _base_class_when_structured),
        ("device_check", _foreach_is_not_checked),
        ("tags", _random_is_tagged),
        ("fake dispatch structured structured_delegate", _fake_is_needed),
        ("effects dispatch structured structured_delegate", _effects_are_kept),
        ("alias_analysis", _annotations_are_analysed),
        ("dispatch structured structured_delegate", _python_kernels_are_plain),
    )
)
