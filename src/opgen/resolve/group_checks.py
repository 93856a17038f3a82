"""Check variants and the groups that they form, one function per rule: E05xx."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from opgen import data
from opgen.diagnostics import Diagnostics, Edit, Span
from opgen.diagnostics.suggestions import only_near
from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import FunctionSchema, SchemaKind
from opgen.model.mistakes import find_inplace_mistake
from opgen.model.native_function import NativeFunction
from opgen.model.registry import NativeFunctionsGroup, StructuredGroup
from opgen.resolve.checks import Entries, describe_difference, signature_notes
from opgen.resolve.variants import Variants, can_have_out, is_lone_out, may_have_variants, wants_out

_LONE_OUTS = frozenset(data.read_names("lone_outs.txt"))
_NO_TENSOR_RESULTS = frozenset(data.read_names("no_tensor_results.txt"))


class Completed(Struct, frozen=True):
    """The variants of one signature: as written, and with those generated from `base`.

    `tags` are the names of all tags that are declared. `is_whole` is False if an invalid entry may be
    another variant: then nothing is generated, and nothing is reported as missing.
    """

    written: Variants
    all: Variants
    base: NativeFunction | None
    group: NativeFunctionsGroup | None
    entries: Entries
    tags: tuple[str, ...]
    is_whole: bool = True

    @property
    def is_library(self) -> bool:
        """Return whether the rules of PyTorch's runtime apply to the operator."""
        return self.written.members[0].is_library

    @property
    def must_be_group(self) -> bool:
        """Return whether functional and out variants are requested: by torchgen's rules, or by a library's entry."""
        return not self.is_library or any(
            f.autogen or f.part_of_structured_group for f in self.written.members
        )

    @property
    def generated(self) -> tuple[NativeFunction, ...]:
        return self.all.members[len(self.written.by_role) :]

    @property
    def autogen_span(self) -> Span:
        """Return the place of the key `autogen`, or where it belongs."""
        asking = (f.spans.value("autogen") for f in self.written.members if f.autogen)
        return next(asking, self.written.members[0].span)


# Returns whether it reported anything.
Rule = Callable[[Completed, Diagnostics], bool]


def check_variants(variants: Completed, diagnostics: Diagnostics) -> None:
    """Report every rule that these variants break."""
    if not variants.is_library:
        _kinds_differ(variants.written, diagnostics)
    # any() stops at the first rule that reports: later ones would report the same mistake again.
    rules = _RULES if variants.is_whole else (_scratch_is_alone,)
    any(rule(variants, diagnostics) for rule in rules)


def check_generated_names(
    sets: Iterable[Completed], entries: Entries, diagnostics: Diagnostics
) -> None:
    """Report generated variants whose name another operator has."""
    taken = dict(entries.by_name)
    for variants in sets:
        for f in variants.generated:
            other = taken.setdefault(f.scoped_name, f)
            if other is f:
                continue
            generated = "generated" in other.tags
            diagnostics.error(
                "E0507",
                f"'{f.func.name}' would be generated, but there is another operator of that name",
                variants.autogen_span,
                labels=[(other.span, "generated for this one" if generated else "written here")],
                notes=signature_notes(f, other),
            )


def check_group(group: NativeFunctionsGroup, entries: Entries, diagnostics: Diagnostics) -> None:
    """Report every rule about groups that this one breaks."""
    for f in group.functions():
        if f.namespace != group.functional.namespace:
            message = f"'{f.full_name}' and '{group.functional.full_name}' are variants of one operator in two namespaces"
            labels = [(group.functional.span, "the functional variant")]
            diagnostics.error("E0512", message, f.span, labels=labels)
    _functional_beside_mutable_is_marked(group, diagnostics)
    if _members_are_structured_alike(group, entries, diagnostics) and group.structured:
        if group.mutable is not None:
            message = f"'{group.mutable.func.name}' writes an argument, so it cannot be structured"
            span = group.mutable.spans.key("structured_delegate")
            diagnostics.error("E0515", message, span)
        check_structured_kernels(group, NOT_STRUCTURED, diagnostics)
        _members_delegate_to_out(group, entries, diagnostics)
        _structured_has_a_kernel(group, diagnostics)


def _kinds_differ(variants: Variants, diagnostics: Diagnostics) -> None:
    for f in variants.duplicates:
        other = variants.find(f.func.kind())
        assert other is not None
        kind = f.func.kind().name.replace("inplace", "in-place")
        diagnostics.error(
            "E0501",
            f"'{f.func.name}' and '{other.func.name}' are both the {kind} variant of one operator",
            f.span,
            labels=[(other.span, "the other one")],
            notes=[f"both have the signature: {f.func.signature()}"],
        )


def _out_has_sibling(variants: Completed, diagnostics: Diagnostics) -> bool:
    out = variants.written.find(SchemaKind.out)
    if (
        out is None
        or not variants.must_be_group
        or not is_lone_out(variants.written)
        or not may_have_variants(variants.written, variants.tags)
        or str(out.func.name) in _LONE_OUTS
    ):
        return False
    entries = variants.entries
    for f in entries.functions:
        missing = f.scope == out.scope and entries.find_delegate(f) is None
        if missing and only_near(str(f.structured_delegate or ""), (str(out.func.name),)):
            # It reports that it names no operator.
            return True
    siblings = [f for f in entries.functions if entries.find_delegate(f) is out]
    text = "delegates to it, but has another signature"
    message = f"'{out.func.name}' is an out variant, but there is no functional variant of it"
    if siblings:
        name = siblings[0].func.name
        message = f"'{name}' delegates to '{out.func.name}', which has another signature"
    else:
        named = (f for f in entries.functions if f.scoped_root == out.scoped_root)
        siblings = [f for f in named if f.func.kind() is SchemaKind.functional]
        text = "has another signature"
    hint = describe_difference(out, siblings[0]) if siblings else None
    labels = [(f.span, text) for f in siblings]
    notes = (
        signature_notes(out, *siblings) if siblings else (f"it would be: {out.func.signature()}",)
    )
    diagnostics.error("E0502", message, out.span, hint=hint, labels=labels, notes=notes)
    return True


def _results_can_be_outs(variants: Completed, diagnostics: Diagnostics) -> bool:
    base = variants.base
    if (
        base is None
        or not variants.must_be_group
        or variants.written.find(SchemaKind.out) is not None
        or can_have_out(base)
        or str(base.func.name) in _NO_TENSOR_RESULTS
    ):
        return False
    message = f"'{base.func.name}' returns no tensor, so there can be no out variant of it"
    hint = "give it a CompositeImplicitAutograd kernel, or let it return a tensor"
    diagnostics.error("E0503", message, base.span, hint=hint)
    return True


def _out_schema_can_be_made(variants: Completed, diagnostics: Diagnostics) -> bool:
    base = variants.base
    if base is None or not wants_out(variants.written, base):
        return False
    if variants.all.find(SchemaKind.out) is not None:
        return False
    report_no_out(base, variants.autogen_span, diagnostics)
    return True


def report_no_out(base: NativeFunction, span: Span, diagnostics: Diagnostics) -> None:
    """Report at `span` that no out variant of `base` can be generated, with the reason."""
    message = f"no out variant of '{base.func.name}' can be generated"
    hint = None
    if base.func.returns_are_aliased():
        code, reason = "E0504", "it returns an argument that it writes"
        hint = find_inplace_mistake(base.func)
    elif mixed := [r.type for r in base.func.returns if not r.type.is_tensor_like()]:
        code, reason = "E0506", f"it returns {mixed[0]} besides tensors"
    else:
        code, reason = "E0505", "it returns more than there are letters for alias sets"
    diagnostics.error(code, f"{message}: {reason}", span, hint=hint)


def _generated_can_be_made(variants: Completed, diagnostics: Diagnostics) -> bool:
    base = variants.written.members[0]
    strange = [f for f in variants.generated if f.func.signature() != base.func.signature()]
    for f in strange:
        message = (
            f"'{f.func.name}' would be generated with another signature than '{base.func.name}'"
        )
        diagnostics.error("E0519", message, variants.autogen_span, notes=signature_notes(base, f))
    generated = (f.func for f in variants.generated)
    return bool(strange) or any(report_same_names(base, f, diagnostics, 1) for f in generated)


def report_same_names(
    base: NativeFunction, out: FunctionSchema, diagnostics: Diagnostics, most: int | None = None
) -> bool:
    """Report arguments of `base` with the name of an out argument of its variant `out`; return whether there are any."""
    outs = {a.name for a in out.arguments.out}
    same = [a.name for a in out.arguments.flat_non_out if a.name in outs]
    for name in same[:most]:
        message = f"'{out.name}' would be generated with two arguments called '{name}'"
        span = base.argument_name_span(name)
        diagnostics.error("E0508", message, span, hint="give this one another name")
    return bool(same)


def _scratch_is_alone(variants: Completed, diagnostics: Diagnostics) -> bool:
    scratch = variants.written.find(SchemaKind.scratch)
    if scratch is None or len(variants.written.by_role) == 1:
        return False
    other = next(f for f in variants.written.members if f is not scratch)
    message = f"'{scratch.func.name}' has scratch arguments, so it cannot be a variant of '{other.func.name}'"
    span = scratch.span
    diagnostics.error("E0509", message, span, labels=[(other.span, "has the same signature")])
    return True


def _functional_is_there(variants: Completed, diagnostics: Diagnostics) -> bool:
    members = variants.all.members
    if len(members) == 1 or variants.all.find(SchemaKind.functional) is not None:
        return False
    if not variants.must_be_group:
        return False
    first, *others = members
    names = f"'{first.func.name}' and '{others[0].func.name}'"
    message = f"{names} are variants of one operator, but there is no functional variant"
    labels = [(f.span, "another variant") for f in others]
    notes = [f"it would be: {first.func.signature(keep_return_names=True)}"]
    diagnostics.error("E0510", message, first.span, labels=labels, notes=notes)
    return True


def _autogen_names_what_is_generated(variants: Completed, diagnostics: Diagnostics) -> bool:
    group = variants.group
    if group is None or (group.structured and variants.generated):
        # Without a group nothing is generated, and torchgen too ignores the request. In a structured group
        # nothing may be generated: see _members_are_structured_alike.
        return False
    # The usual order: the functional variant first.
    wanted = [
        str(f.func.name) for f in sorted(variants.generated, key=lambda f: f.func.is_out_fn())
    ]
    asked = list(dict.fromkeys(str(n) for f in variants.written.members for n in f.autogen))
    if sorted(wanted) == sorted(asked):
        return False
    if not asked:
        message = f"no 'autogen' asks for {_quoted(wanted)}, which must be generated"
    elif not wanted:
        message = f"'autogen' asks for {_quoted(asked)}, but nothing is missing"
    else:
        message = f"'autogen' asks for {_quoted(asked)}, but should ask for {_quoted(wanted)}"
    text = ", ".join(wanted)
    hint, fix = _other_name(variants), None
    if hint is None:
        hint = f"write 'autogen: {text}'" if wanted else "remove 'autogen'"
        fix = _fix_autogen(variants, text)
    diagnostics.error("E0511", message, variants.autogen_span, hint=hint, fix=fix)
    return True


def _other_name(variants: Completed) -> str | None:
    """Return a hint if `autogen` has only names of another, similar operator: then either name may be misspelt."""
    asked = {name.name.base for f in variants.written.members for name in f.autogen}
    own = {f.func.name.name.base for f in variants.written.members}
    if not asked or not asked.isdisjoint(own):
        return None
    name = min(own)
    if all(only_near(base, (name,)) is None for base in asked):
        return None
    return f"one of the two names is misspelt: '{name}' in 'func', '{min(asked)}' here"


def _fix_autogen(variants: Completed, wanted: str) -> Edit | None:
    """Return the edit that sets `autogen` to `wanted`, if exactly one entry has the key or should have it."""
    asking = [f for f in variants.written.members if f.autogen]
    if not asking:
        return None if variants.base is None else variants.base.spans.add_key(f"autogen: {wanted}")
    if len(asking) > 1:
        return None
    if not wanted:
        return asking[0].spans.remove_key("autogen")
    return Edit(variants.autogen_span, wanted)


def _quoted(names: list[str]) -> str:
    return " and ".join(f"'{name}'" for name in names)


# In this order: a failure of one rule makes later ones fail too.
_RULES: tuple[Rule, ...] = (
    _scratch_is_alone,
    _out_has_sibling,
    _results_can_be_outs,
    _out_schema_can_be_made,
    _generated_can_be_made,
    _functional_is_there,
    _autogen_names_what_is_generated,
)


def _functional_beside_mutable_is_marked(
    group: NativeFunctionsGroup, diagnostics: Diagnostics
) -> None:
    name, mutable = group.functional.func.name, group.mutable
    if mutable is None or name.name.functional_overload or group.functional.is_library:
        return
    message = f"'{name}' is the functional variant of '{mutable.func.name}', so its name must end in '_functional'"
    labels, hint = [(mutable.span, "writes an argument")], f"call it '{name.name.base}_functional'"
    diagnostics.error("E0513", message, group.functional.span, labels=labels, hint=hint)


def _members_are_structured_alike(
    group: NativeFunctionsGroup, entries: Entries, diagnostics: Diagnostics
) -> bool:
    strange = [f for f in group.functions() if f.part_of_structured_group != group.structured]
    out = group.out
    for f in strange:
        if f.structured and not f.func.is_out_fn():
            # check_structured_beside_out reports it.
            continue
        if f.structured_delegate is not None and not entries.has_structured_delegate(f):
            # The delegate itself is invalid, and already reported.
            continue
        fix = None
        if f.structured_delegate is not None:
            message = f"'{f.func.name}' has a structured delegate, but '{out.func.name}' is not structured"
            span, hint = f.spans.key("structured_delegate"), None
        elif "generated" in f.tags:
            message = f"'{f.func.name}' would be generated, but '{out.func.name}' is structured"
            span, hint = f.span, f"write it, with 'structured_delegate: {out.func.name}'"
        else:
            message = (
                f"'{out.func.name}' is structured, but '{f.func.name}' does not delegate to it"
            )
            span, hint = f.span, f"add 'structured_delegate: {out.func.name}'"
            fix = add_delegate(f, out)
        labels = [(out.span, "the out variant")]
        diagnostics.error("E0514", message, span, labels=labels, hint=hint, fix=fix)
    return not strange


def add_delegate(f: NativeFunction, out: NativeFunction) -> Edit | None:
    """Return the edit that adds `structured_delegate`; None if the entry has kernels or other keys that exclude it."""
    has_kernels = f.spans.key("dispatch") != f.span
    may_delegate = f.func.kind() in (SchemaKind.functional, SchemaKind.inplace)
    if has_kernels or f.manual_kernel_registration or not (f.device_guard and may_delegate):
        return None
    return f.spans.add_key(f"structured_delegate: {out.func.name}")


def check_structured_kernels(
    group: StructuredGroup, reasons: Mapping[DispatchKey, str], diagnostics: Diagnostics
) -> None:
    """Report kernels for keys that have `reasons` to have none, and members that are registered by hand."""
    report_rows(group.primary, reasons, diagnostics)
    for f in group.functions():
        if f.manual_kernel_registration:
            message = f"'{f.func.name}' is structured, so it cannot be registered by hand"
            span = f.spans.key("manual_kernel_registration")
            diagnostics.error("E0518", message, span)


def report_rows(
    f: NativeFunction, reasons: Mapping[DispatchKey, str], diagnostics: Diagnostics
) -> None:
    for key, reason in reasons.items():
        if f.find_kernel(key) is not None:
            message = f"'{f.func.name}' is structured, so it cannot have a kernel for {key}"
            diagnostics.error("E0516", message, f.spans.dispatch_key(key), hint=reason)


_DECOMPOSES = "it has a kernel for each backend"
# Keys that structured operators have no kernels for, with the reason.
NOT_STRUCTURED = {
    DispatchKey.CompositeImplicitAutograd: _DECOMPOSES,
    DispatchKey.CompositeImplicitAutogradNestedTensor: _DECOMPOSES,
    DispatchKey.Meta: "its meta function serves for that",
    DispatchKey.CompositeExplicitAutogradNonFunctional: "one is made from its meta function",
}


def _members_delegate_to_out(
    group: NativeFunctionsGroup, entries: Entries, diagnostics: Diagnostics
) -> None:
    out = group.out
    for f in filter(None, (group.functional, group.inplace)):
        if entries.has_structured_delegate(f) and f.structured_delegate != out.func.name:
            given, place = f.structured_delegate, f.spans.value("structured_delegate")
            message = (
                f"'{f.func.name}' delegates to '{given}', but its out variant is '{out.func.name}'"
            )
            labels, fix = [(out.span, "has the same signature")], Edit(place, str(out.func.name))
            diagnostics.error("E0517", message, place, labels=labels, fix=fix)


def _structured_has_a_kernel(group: NativeFunctionsGroup, diagnostics: Diagnostics) -> None:
    """Warn if no row of the group names a kernel, unless an option left the rows out."""
    # Without the key, the place is that of the operator's name.
    if any(f.dispatch or f.spans.key("dispatch") != f.span for f in group.functions()):
        return
    f = group.out
    name = f"{f.func.name.name}_out_cpu"
    message = f"'{f.func.name}' is structured, but no backend has a kernel: only its meta function can be called"
    hint = f"add 'dispatch:' with a row such as 'CPU: {name}'"
    diagnostics.warning("W0536", message, f.spans.key("structured"), hint=hint)
