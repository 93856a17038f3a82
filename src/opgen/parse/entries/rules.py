"""Check the rules about one entry as a whole, one function each.

Each rule declares the keys that it depends on. It is skipped if the value of one of them is invalid, because that has
been reported, and if the entry has none of them. A rule yields its findings: usually none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import asdict

from opgen import data
from opgen.diagnostics import Edit, Span
from opgen.diagnostics.suggestions import did_you_mean
from opgen.model import profile
from opgen.model.dispatch_key import (
    COMPOSITE_DISPATCH_KEYS,
    STRUCTURED_DISPATCH_KEYS,
    UFUNC_DISPATCH_KEYS,
    DispatchKey,
)
from opgen.model.function_schema import FunctionSchema, SchemaKind, argument_offsets, return_offsets
from opgen.model.mistakes import OutMistake, find_out_mistake
from opgen.model.native_function import (
    AliasAnalysisKind,
    DeviceCheckType,
    KernelSource,
    NativeFunction,
    Variant,
)
from opgen.model.profile import operator_namespace
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


Rule = Callable[[Draft, NativeFunction], Iterator[Finding]]


def check_entry(draft: Draft, f: NativeFunction) -> None:
    """Report every rule that the entry violates. `f` has the values of its keys, without what they imply."""
    written = frozenset(key.value for key, _ in draft.spans.node.pairs)
    for needs, rule in _rules(written, f.is_library):
        if needs.isdisjoint(draft.bad):
            for finding in rule(draft, f):
                draft.context.diagnostics.error(**asdict(finding))


@lru_cache(maxsize=1024)
def _rules(written: frozenset[str], is_library: bool) -> list[tuple[frozenset[str], Rule]]:
    """Return the rules about entries with these keys."""
    skipped = _ONLY_TORCHGEN if is_library else ()
    return [(n, rule) for n, rule in _RULES if not (n.isdisjoint(written) or rule in skipped)]


def _fake_is_needed(draft: Draft, f: NativeFunction) -> Iterator[Finding]:
    if f.fake is None:
        return
    labels: tuple[tuple[Span, str], ...] = ()
    if f.part_of_structured_group:
        reason = "its meta function computes what it returns"
    elif f.find_kernel(DispatchKey.Meta) is not None:
        reason = "it has a kernel for Meta"
        labels = ((f.spans.dispatch_key(DispatchKey.Meta), "here"),)
    elif f.has_composite_implicit_autograd_kernel or not draft.is_written("dispatch"):
        reason = "it decomposes into the operators that it calls"
    else:
        return
    yield Finding("E0255", f"'{f.func.name}' needs no fake: {reason}", f.spans.key("fake"), labels)


def _effects_are_kept(draft: Draft, f: NativeFunction) -> Iterator[Finding]:
    """Source of the rules: `has_effects` of PyTorch 2.13; composites decompose before it is asked."""
    if f.effects is None:
        return
    span = f.spans.key("effects")
    aliased = next((a for a in f.func.arguments.flat_all if a.annotation is not None), None)
    if aliased is not None:
        message = (
            f"'{f.func.name}' writes or returns '{aliased.name}', so PyTorch ignores its effects"
        )
        hint = "let one operator write, and another have the effects"
        yield Finding("E0257", message, span, hint=hint)
    elif f.has_composite_implicit_autograd_kernel or not (
        draft.is_written("dispatch") or f.part_of_structured_group
    ):
        message = f"'{f.func.name}' decomposes into the operators that it calls, so it has no effects of its own"
        hint = "write 'CompositeExplicitAutograd' for its kernel"
        yield Finding("E0257", message, span, hint=hint)


def _python_kernels_are_plain(draft: Draft, f: NativeFunction) -> Iterator[Finding]:
    for key, kernel in f.dispatch:
        if kernel.source is not KernelSource.python:
            continue
        if f.part_of_structured_group:
            message = f"'{f.func.name}' is structured, so its kernels are C++ classes"
            hint = "write an operator that is not structured"
        elif key is DispatchKey.Meta:
            message = "PyTorch does not take the results without data from a Python kernel for Meta"
            hint = "write a line 'fake', or leave out the row and call torch.library.register_fake"
        else:
            continue
        yield Finding("E0259", message, f.spans.kernel(key), hint=hint)


def _annotations_are_analysed(draft: Draft, f: NativeFunction) -> Iterator[Finding]:
    """Source of the rule: PyTorch's registration of an operator for TorchScript refuses other kinds."""
    kind = f.alias_analysis
    aliased = next((a for a in f.func.arguments.flat_all if a.annotation is not None), None)
    if kind in (None, AliasAnalysisKind.from_schema) or aliased is None:
        return
    message = f"the schema says what '{f.func.name}' does with '{aliased.name}': PyTorch registers no other alias analysis"
    hint = "remove 'alias_analysis', or the annotations"
    yield Finding("E0261", message, f.spans.key("alias_analysis"), hint=hint)


def _const_refs_without_out(draft: Draft, f: NativeFunction) -> Iterator[Finding]:
    key = "use_const_ref_for_mutable_tensors"
    if not (f.use_const_ref_for_mutable_tensors and f.func.arguments.out):
        return
    if profile.holds(profile.Rule.NO_CONST_REF_TO_OUTS, draft.context.tags.names):
        message = f"'{f.func.name}' has out arguments, so it cannot have '{key}'"
        yield Finding("E0249", message, f.spans.key(key))


def _methods_in_no_module(draft: Draft, f: NativeFunction) -> Iterator[Finding]:
    if f.python_module is not None and Variant.method in f.variants:
        message = f"'{f.func.name}' is a method, so it cannot be in a Python module"
        label = (f.spans.item("variants", "method"), "made a method here")
        yield Finding("E0248", message, f.spans.key("python_module"), (label,))


def _precomputed_when_structured(draft: Draft, f: NativeFunction) -> Iterator[Finding]:
    if not f.structured and draft.is_written("precomputed"):
        message = f"'{f.func.name}' is not structured, so nothing can be precomputed for it"
        yield Finding("E0230", message, f.spans.key("precomputed"))


def _replaced_arguments_exist(draft: Draft, f: NativeFunction) -> Iterator[Finding]:
    if f.precomputed is None or not f.structured:
        return
    replaceable = [a.name for a in f.func.arguments.flat_non_out if a.name != "self"]
    for name, _ in f.precomputed.replace:
        if name not in replaceable:
            message = f"'{name}' is not an argument of '{f.func.name}' that can be replaced"
            hint = f"these can be: {', '.join(replaceable)}" if replaceable else None
            span = f.spans.value("precomputed")
            start = span.source.text.find(f"{name} -> ", span.start)
            if 0 <= start <= f.spans.entry.end:
                span = Span(span.source, start, start + len(name))
            yield Finding("E0233", message, span, hint=hint)


def _no_table_with_manual_registration(draft: Draft, f: NativeFunction) -> Iterator[Finding]:
    if f.manual_kernel_registration and draft.is_written("dispatch"):
        message = f"kernels of '{f.func.name}' are registered by hand, so this table has no effect"
        label = (f.spans.key("manual_kernel_registration"), "because of this key")
        yield Finding("E0216", message, f.spans.key("dispatch"), (label,))


def _table_is_not_the_default(draft: Draft, f: NativeFunction) -> Iterator[Finding]:
    """Check two rules about a table whose only key is CompositeImplicitAutograd."""
    kernel, name = f.find_kernel(_IMPLICIT), default_kernel_name(f.func)
    if kernel is None or len(f.dispatch) > 1 or f.has_ignored_rows:
        return
    if kernel.name == name and kernel.namespace is None:
        message = "this table is the default: remove it"
        yield Finding("E0212", message, f.spans.key("dispatch"), fix=f.spans.remove_key("dispatch"))
    elif not kernel.supports_symint and f.structured_delegate is None:
        message = f"the only kernel of '{f.func.name}' must be named '{name}'"
        hint = f"rename it to '{name}' and remove the table"
        yield Finding("E0213", message, f.spans.kernel(_IMPLICIT), hint=hint)


def _factories_have_a_table(draft: Draft, f: NativeFunction) -> Iterator[Finding]:
    if f.part_of_structured_group or draft.is_written("dispatch"):
        return
    name = str(f.func.name.name)
    if name.startswith("new_") or name.endswith("_like") or f.func.is_factory:
        message = f"'{f.func.name}' creates a tensor, so it needs a dispatch table"
        note = f"add 'dispatch:' with 'CompositeExplicitAutograd: {name}' or kernels for single backends"
        yield Finding("E0214", message, f.span, notes=(note,))


def _composite_keys_agree(draft: Draft, f: NativeFunction) -> Iterator[Finding]:
    keys = [key for key, _ in f.dispatch if key in COMPOSITE_DISPATCH_KEYS]
    if len(keys) <= 1:
        return
    if len(keys) == 2 and _NESTED in keys and _NONFUNCTIONAL not in keys:
        return
    second = next((key for key in keys[1:] if key is not _NESTED), keys[1])
    first = next((key for key in keys if key not in (_NESTED, second)), keys[0])
    message = f"'{second}' cannot be combined with '{first}'"
    label = (f.spans.dispatch_key(first), "the other kernel for all backends")
    yield Finding("E0215", message, f.spans.dispatch_key(second), (label,))


def _kernels_share_namespace(draft: Draft, f: NativeFunction) -> Iterator[Finding]:
    default = operator_namespace(f.namespace)
    for key, kernel in f.dispatch[1:]:
        first_key, first = f.dispatch[0]
        names = [k.namespace or default for k in (first, kernel)]
        if names[0] != names[1]:
            message = f"kernels of '{f.func.name}' are in different namespaces: '{names[0]}' and '{names[1]}'"
            label = (f.spans.kernel(first_key), "the first")
            yield Finding("E0219", message, f.spans.kernel(key), (label,))
            return


def _ufuncs_are_structured(draft: Draft, f: NativeFunction) -> Iterator[Finding]:
    if not f.ufunc_inner_loop:
        return
    is_functional = f.func.kind() is SchemaKind.functional
    outless = is_functional and draft.context.no_outless is None and not _asks_for_variants(f)
    if not f.structured or outless:
        lacks = "is not an out variant" if f.structured else "is not structured"
        message = f"'{f.func.name}' has an inner loop but {lacks}"
        yield Finding("E0223", message, f.spans.key("ufunc_inner_loop"))
    for key, _ in f.dispatch:
        if key in UFUNC_DISPATCH_KEYS:
            message = f"the {key} kernel of '{f.func.name}' is generated from its inner loop"
            label = (f.spans.key("ufunc_inner_loop"), "the inner loop")
            yield Finding("E0224", message, f.spans.dispatch_key(key), (label,))


def _delegates_name_no_kernels(draft: Draft, f: NativeFunction) -> Iterator[Finding]:
    if f.structured_delegate is None:
        return
    for key, _ in f.dispatch:
        if key in STRUCTURED_DISPATCH_KEYS:
            message = f"the {key} kernel of '{f.func.name}' is that of its delegate"
            label = (f.spans.value("structured_delegate"), "delegated here")
            yield Finding("E0217", message, f.spans.dispatch_key(key), (label,))


def _out_variants_are_functions(draft: Draft, f: NativeFunction) -> Iterator[Finding]:
    if f.func.arguments.out and f.variants != {Variant.function}:
        message = f"'{f.func.name}' has out arguments, so it is a function only"
        span = f.spans.value("variants")
        yield Finding("E0240", message, span, fix=Edit(span, "function"))


def _structured_is_an_out_variant(draft: Draft, f: NativeFunction) -> Iterator[Finding]:
    if not f.structured or f.func.kind() is SchemaKind.out:
        return
    message = f"'{f.func.name}' is not an out variant, so it cannot be structured"
    mistake = find_out_mistake(f.func)
    if f.func.kind() is not SchemaKind.functional and mistake is not None:
        label = (f.spans.key("structured"), "structured")
        message = f"'{f.func.name}' is structured, but not an out variant: {mistake.message}"
        yield Finding("E0241", message, _span_of_mistake(mistake, f), (label,), hint=mistake.hint)
    elif f.func.kind() is not SchemaKind.functional:
        hint = "did you mean 'structured_delegate: NAME.out'?"
        yield Finding("E0241", message, f.spans.key("structured"), hint=hint)
    elif draft.context.no_outless is not None and not _asks_for_variants(f):
        message = f"{message} {draft.context.no_outless}"
        hint = (
            "add an out variant with 'structured: True', and 'structured_delegate: NAME.out' here"
        )
        if f.is_library:
            hint = f"add 'autogen: {f.func.name.to_out()}'"
        if draft.context.strict_torchgen:
            hint = f"{hint}; or run without --strict-torchgen"
        yield Finding("E0241", message, f.spans.key("structured"), hint=hint)


def _asks_for_variants(f: NativeFunction) -> bool:
    """Return whether an entry that is structured stands for all variants of its operator."""
    return f.is_library and bool(f.autogen)


def _span_of_mistake(mistake: OutMistake, f: NativeFunction) -> Span:
    """Return the type of the argument, or all returns."""
    if mistake.argument is None:
        places = [(start, start + len(str(r))) for r, start in return_offsets(f.func)]
        return f.spans.schema(places[0][0], places[-1][1]) if places else f.span
    starts = (start for a, start in argument_offsets(f.func) if a is mistake.argument)
    start = next(starts)
    return f.spans.schema(start, start + len(mistake.argument.type_text))


def _structured_is_guarded(draft: Draft, f: NativeFunction) -> Iterator[Finding]:
    if not f.device_guard and (f.part_of_structured_group):
        message = f"'{f.func.name}' is structured, so its device guard cannot be turned off"
        yield Finding("E0242", message, f.spans.key("device_guard"))


def _out_variants_do_not_delegate(draft: Draft, f: NativeFunction) -> Iterator[Finding]:
    if f.structured_delegate is not None and f.func.kind() is SchemaKind.out:
        message = f"'{f.func.name}' is an out variant, so it cannot delegate to another"
        hint = None if f.structured else "did you mean 'structured: True'?"
        yield Finding("E0243", message, f.spans.key("structured_delegate"), hint=hint)


def _no_default_args_have_defaults(draft: Draft, f: NativeFunction) -> Iterator[Finding]:
    if not f.cpp_no_default_args:
        return
    defaults = {a.name for a in f.func.arguments.flat_all if a.default is not None}
    names = {a.name for a in f.func.arguments.flat_all}
    for name in f.cpp_no_default_args:
        if name not in defaults:
            message = (
                f"the argument '{name}' of '{f.func.name}' has no default"
                if name in names
                else f"'{f.func.name}' has no argument '{name}'"
            )
            span = f.spans.item("cpp_no_default_args", name)
            hint = None if name in names else did_you_mean(name, sorted(defaults))
            yield Finding("E0244", message, span, hint=hint)


def _base_class_when_structured(draft: Draft, f: NativeFunction) -> Iterator[Finding]:
    if f.structured_inherits is not None and not f.structured:
        message = f"'{f.func.name}' is not structured, so it has no base class"
        hint = "add 'structured: True', or remove this line"
        yield Finding("E0245", message, f.spans.key("structured_inherits"), hint=hint)


def _foreach_is_not_checked(draft: Draft, f: NativeFunction) -> Iterator[Finding]:
    checked = f.device_check is not DeviceCheckType.NoCheck
    if checked and str(f.func.name).startswith("_foreach"):
        message = f"'{f.func.name}' needs 'device_check: NoCheck'"
        written = draft.spans.node.get("device_check") is not None
        span = f.spans.value("device_check") if written else f.span
        added = f.spans.add_key("device_check: NoCheck")
        yield Finding("E0246", message, span, fix=Edit(span, "NoCheck") if written else added)


def _random_is_tagged(draft: Draft, f: NativeFunction) -> Iterator[Finding]:
    if "nondeterministic_seeded" in f.tags:
        return
    reason = explain_random(f.func, draft.context.tags.names)
    if reason is not None:
        message = f"'{f.func.name}' needs the tag 'nondeterministic_seeded': {reason}"
        yield Finding("E0247", message, f.span, fix=f.spans.add_tag("nondeterministic_seeded"))


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
    if not profile.holds(profile.Rule.RANDOM_BY_ARGUMENT_NAME, tags):
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
        ("func dispatch structured structured_delegate", _factories_have_a_table),
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
        ("func device_check", _foreach_is_not_checked),
        ("func tags", _random_is_tagged),
        ("fake dispatch structured structured_delegate", _fake_is_needed),
        ("effects dispatch structured structured_delegate", _effects_are_kept),
        ("alias_analysis", _annotations_are_analysed),
        ("dispatch structured structured_delegate", _python_kernels_are_plain),
    )
)
