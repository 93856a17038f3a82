"""Report schemas that cannot be written as C++ (E07xx), before anything is generated."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cache
from itertools import chain
from typing import TypeAlias

from msgspec import Struct, field

from opgen.cpp import signatures
from opgen.cpp.cpp_types import (
    CType,
    NoCppType,
    TypeContext,
    TypeSpelling,
    argument_type,
    holds_references,
    native_argument_type,
    spell,
    structured_argument_type,
    type_of_return,
)
from opgen.cpp.literals import (
    advise_on_default,
    find_misfit,
    find_misfit_to_torchgen,
    find_rejected,
)
from opgen.cpp.names import operator_struct_name, parameter_name
from opgen.cpp.signatures import Binding, DispatcherSignature, Signatures, parameters
from opgen.cpp.translate import Conversions, NoConversion, translate
from opgen.diagnostics import Diagnostics, Edit, Source, Span
from opgen.model.backend import BackendKernel, ExternalBackend
from opgen.model.dispatch_key import DispatchKey
from opgen.model.function_schema import Argument
from opgen.model.mistakes import find_out_mistake
from opgen.model.native_function import NativeFunction, Variant
from opgen.model.profile import operator_namespace
from opgen.model.registry import (
    NativeFunctionsViewGroup,
    OutlessGroup,
    Registry,
    StructuredGroup,
)
from opgen.model.types import BaseTy, BaseType, CustomClassType, ListType, Type, custom_classes


def _check_structs(functions: Sequence[NativeFunction], diagnostics: Diagnostics) -> None:
    first: dict[tuple[str, str], NativeFunction] = {}
    for f in functions:
        name = operator_struct_name(f.func)
        other = first.setdefault((operator_namespace(f.namespace), name), f)
        if other is not f:
            message = f"'{f.func.name}' and '{other.func.name}' are both '{name}' in C++"
            _report("E0712", message, f, other, diagnostics)


def _check_overloads(
    functions: Sequence[NativeFunction], signatures: Signatures, diagnostics: Diagnostics
) -> None:
    first: dict[Hashable, NativeFunction] = {}
    for f in functions:
        made = (
            (method, signature)
            for method, variant in ((False, Variant.function), (True, Variant.method))
            if variant in f.variants
            for signature in signatures.cpp(f, method=method)
        )
        for method, signature in made:
            types = tuple(b.type for b in signature.arguments)
            key = (operator_namespace(f.namespace), method, signature.name, types)
            other = first.setdefault(key, f)
            if other is not f:
                message = (
                    f"'{f.func.name}' and '{other.func.name}' are one C++ function:"
                    f" '{signature.name}' with the same parameter types"
                )
                _report("E0711", message, f, other, diagnostics)
                break


def _check_headers(functions: Sequence[NativeFunction], diagnostics: Diagnostics) -> None:
    roots: dict[str, NativeFunction] = {}
    headers: dict[str, NativeFunction] = {}
    for f in functions:
        other = roots.setdefault(f.root_name.lower(), f)
        if other.root_name != f.root_name:
            message = f"'{other.root_name}' and '{f.root_name}' are the same name on file systems that ignore case"
            _report("E0713", message, f, other, diagnostics)
        for header in _headers(f):
            headers.setdefault(header.lower(), f)
    for header in sorted(headers.keys() & roots.keys()):
        f, other = roots[header], headers[header]
        message = f"'{other.root_name}' and '{f.root_name}' both have a header {header}.h"
        _report("E0713", message, f, other, diagnostics)


def _headers(f: NativeFunction) -> Iterator[str]:
    """Yield the headers of `f`, without extension, except the one with its own name."""
    yield f"{f.root_name}_ops"
    yield f"{f.root_name}_native"
    if f.part_of_structured_group:
        yield f"{f.root_name}_meta"
    if f.dispatch:
        yield f"{f.root_name}_dispatch"


def _report(
    code: str, message: str, f: NativeFunction, other: NativeFunction, diagnostics: Diagnostics
) -> None:
    diagnostics.error(
        code, message, f.span, labels=[(other.span, "the other one")], hint="rename one of them"
    )


class _Checker(Struct, frozen=True):
    """The parts of the target that rules need, the diagnostics, and the signatures."""

    spelling: TypeSpelling
    conversions: Conversions
    diagnostics: Diagnostics
    signatures: Signatures
    # Custom classes without a C++ class. Each is reported once.
    unknown_classes: set[str] = field(default_factory=set)


def check_signatures(
    registry: Registry,
    spelling: TypeSpelling,
    conversions: Conversions,
    diagnostics: Diagnostics,
    signatures: Signatures | None = None,
) -> None:
    """Report each operator that has no valid C++ signatures.

    Conversions and collisions are checked only for operators without other errors. `signatures` is a cache.
    """
    signatures = signatures or Signatures()
    checker = _Checker(spelling, conversions, diagnostics, signatures)
    sound = {f.full_name for f in registry.functions if _is_sound(f, checker)}
    for f in registry.functions:
        if f.full_name in sound:
            for have, want, method in _translations(f, signatures):
                if not _check_translation(f, have, want, checker, method=method):
                    break
    groups: tuple[StructuredGroup, ...] = (*registry.groups, *registry.outless_groups)
    for group in groups:
        if all(f.full_name in sound for f in group.functions()):
            _check_group(group, checker)
    for view_group in registry.view_groups:
        _check_view_copy(view_group, checker)
    functions = [f for f in registry.functions if f.full_name in sound]
    _check_structs(functions, diagnostics)
    _check_overloads(functions, signatures, diagnostics)
    _check_headers(functions, diagnostics)


def _is_sound(f: NativeFunction, checker: _Checker) -> bool:
    before = len(checker.diagnostics)
    if f.is_library and not _has_known_classes(f, checker):
        return False
    _check_arguments(f, checker)
    _check_returns(f, checker)
    _check_defaults(f, checker)
    _check_method(f, checker)
    _check_symint_kernels(f, checker)
    _check_parameter_names(f, checker)
    if len(checker.diagnostics) == before:
        _check_default_order(f, checker)
    return len(checker.diagnostics) == before


def _check_arguments(f: NativeFunction, checker: _Checker) -> None:
    context = TypeContext.of(f)
    for a in f.func.arguments.flat_all:
        problem = _find_argument_problem(a.type, a.is_write, context)
        if problem is not None:
            message = f"'{a.type}' cannot be an argument: {problem}"
            checker.diagnostics.error("E0701", message, f.argument_type_span(a.name))


@cache
def _find_argument_problem(type: Type, mutable: bool, context: TypeContext) -> str | None:
    """Return why this type cannot be an argument in all APIs; None if it can."""
    try:
        for translate_type in (argument_type, native_argument_type):
            ctype = translate_type(type, mutable=mutable, symint=True, context=context)
            _raise_for_inner_references(ctype)
    except NoCppType as problem:
        return str(problem)
    return None


def _raise_for_inner_references(ctype: CType) -> None:
    if holds_references(ctype):
        raise NoCppType("C++ has no optional references, and no lists of references")


def _has_known_classes(f: NativeFunction, checker: _Checker) -> bool:
    """Return whether each custom class of `f` has a C++ class. A class without one is reported once."""
    arguments = ((a.type, f.argument_type_span, a.name) for a in f.func.arguments.flat_all)
    returns = ((r.type, f.return_span, i) for i, r in enumerate(f.func.returns))
    places: Iterator[tuple[Type, Callable[..., Span], object]] = chain(arguments, returns)
    return all(
        _is_known_class(custom_class, find_span(part), checker)
        for type, find_span, part in places
        for custom_class in custom_classes(type)
    )


def _is_known_class(custom_class: CustomClassType, span: Span, checker: _Checker) -> bool:
    if not checker.spelling.pointer:
        message = f"'{custom_class.class_name}' is a custom class, but this target supports none"
        checker.diagnostics.error("E0701", message, span)
        return False
    name = custom_class.class_name
    if custom_class.cpp is not None or name in checker.unknown_classes:
        return custom_class.cpp is not None
    checker.unknown_classes.add(name)
    message = f"the C++ class of '{name}' is not declared"
    notes = [
        "begin the file with this item:",
        f"- classes: {{{name}: {{type: ns::Class, header: class.h, define: ns::define_class}}}}",
        "'define' registers the class; leave it out if another library registers it",
    ]
    checker.diagnostics.error("E0716", message, span, notes=notes)
    return False


def _check_returns(f: NativeFunction, checker: _Checker) -> None:
    context = TypeContext.of(f)
    for index, r in enumerate(f.func.returns):
        try:
            type_of_return(f, r, context)
        except NoCppType as problem:
            checker.diagnostics.error(
                "E0702", f"'{r.type}' cannot be returned: {problem}", f.return_span(index)
            )


def _check_defaults(f: NativeFunction, checker: _Checker) -> None:
    for a in f.func.arguments.flat_all:
        if a.default is None:
            continue
        if f.is_library and a.default == "None" and str(a.type) == "Tensor":
            continue  # PyTorch's parser treats it as an undefined tensor.
        problem = find_misfit(a.default, a.type)
        if problem is None:
            find = find_rejected if f.is_library else find_misfit_to_torchgen
            problem = find(a.default, a.type)
        if problem is not None:
            span = f.argument_default_span(a.name)
            advice, same = advise_on_default(a.default, a.type)
            is_valid = same is not None and not (f.is_library and find_rejected(same, a.type))
            fix = (
                Edit(span, same)
                if same is not None and is_valid and span.text == a.default
                else None
            )
            message = f"'{a.name}' of '{f.func.name}' cannot have this default"
            notes = () if advice is None or fix is not None else (problem,)
            hint = advice or problem
            checker.diagnostics.error("E0703", message, span, notes=notes, hint=hint, fix=fix)


def _check_default_order(f: NativeFunction, checker: _Checker) -> None:
    """Report a parameter without a default after one with a default. Out arguments come first in C++."""
    last: Binding | None = None
    for binding in checker.signatures.cpp(f, method=False)[0].arguments:
        if last is not None and binding.default is None:
            message = f"'{binding.name}' of '{f.func.name}' has no default, but one before it has"
            span = f.argument_span(binding.name)
            labels = [(f.argument_default_span(last.name), "a default before it")]
            checker.diagnostics.error("E0715", message, span, labels=labels)
            return
        last = binding if binding.default is not None else last


def _check_method(f: NativeFunction, checker: _Checker) -> None:
    if Variant.method not in f.variants:
        return
    own, span = f.func.arguments.self_arg, f.spans.value("variants")
    if own is not None and _is_tensor(own.argument.type):
        return
    lack = "has no positional argument 'self'"
    if own is not None:
        lack, span = f"its 'self' is '{own.argument.type}'", f.argument_type_span("self")
    message = f"'{f.func.name}' is a method, but {lack}"
    checker.diagnostics.error("E0704", message, span, hint="a method needs 'Tensor self'")


def _check_symint_kernels(f: NativeFunction, checker: _Checker) -> None:
    for key, kernel in f.dispatch:
        # A structured kernel never takes SymInts, and the name of a library's kernel has no meaning.
        if f.is_library or kernel.structured:
            continue
        if kernel.supports_symint and not f.func.has_symint():
            checker.diagnostics.error(
                "E0707",
                f"kernel '{kernel.name}' takes SymInts, but no argument of '{f.func.name}' is one",
                f.spans.kernel(key),
            )


def _check_parameter_names(f: NativeFunction, checker: _Checker) -> None:
    # The first parameter of a function that redispatches.
    reserved = set() if f.is_library else {"dispatchKeySet"}
    if f.func.arguments.tensor_options is not None:
        reserved.add("options")
    for a in f.func.arguments.flat_all:
        name = a.name if a.name in reserved else parameter_name(a.name)
        if name in reserved:
            message = f"'{f.func.name}' would have two C++ parameters named '{a.name}'"
            span = f.argument_name_span(a.name)
            checker.diagnostics.error("E0709", message, span, hint="rename the argument")
        elif f.is_library:
            reserved.add(name)


def _check_translation(
    f: NativeFunction,
    have: tuple[Binding, ...],
    want: tuple[Binding, ...],
    checker: _Checker,
    *,
    method: bool = False,
) -> bool:
    """Return whether there is a conversion for each parameter of `want`.

    The first parameter without one is reported.
    """
    try:
        translate(have, want, checker.conversions, method=method)
    except NoConversion as problem:
        message = f"'{problem.wanted.name}' of '{f.func.name}' cannot be passed on"
        span = f.argument_span(problem.wanted.name)
        notes = _explain(f, problem.wanted, have, checker.spelling)
        checker.diagnostics.error("E0708", message, span, notes=notes)
        return False
    return True


def _explain(
    f: NativeFunction, wanted: Binding, have: Sequence[Binding], spelling: TypeSpelling
) -> Iterator[str]:
    expected = spell(wanted.type, spelling)
    actual = next((spell(b.type, spelling) for b in have if b.name == wanted.name), None)
    if actual is None:
        yield f"the function that is called takes '{expected}', which no argument converts to"
    elif actual != expected:
        yield f"it has type '{actual}', but the function that is called takes '{expected}'"
    else:
        yield "there is no conversion between this type with SymInt and with int"
    if "generated" in f.tags:
        yield f"'{f.func.name}' is generated from this entry"


def _translations(
    f: NativeFunction, signatures: Signatures
) -> Iterator[tuple[tuple[Binding, ...], tuple[Binding, ...], bool]]:
    """Yield each conversion in generated code for `f`: the source, the goal, and whether it is in a method."""
    dispatcher = signatures.dispatcher(f).arguments
    for method in (False, True):
        if not method or Variant.method in f.variants:
            for signature in signatures.cpp(f, method=method):
                yield signature.arguments, dispatcher, method
    for symint in {k.supports_symint for _, k in f.dispatch if k.is_declared}:
        yield dispatcher, signatures.native(f, symint=symint).arguments, False


def _check_group(group: StructuredGroup, checker: _Checker) -> None:
    before, report = len(checker.diagnostics), checker.diagnostics.error
    for f in group.functions():
        _check_aliased_returns(f, checker)
    if isinstance(group, OutlessGroup):
        _check_structured_returns(group.functional, checker)
    elif group.structured:
        before = len(checker.diagnostics)
        for f in group.functions():
            if f.func.arguments.tensor_options is not None:
                message = f"'{f.func.name}' is structured, but takes TensorOptions"
                report("E0705", message, f.argument_span("dtype"))
        out = group.out
        for a in out.func.arguments.out:
            if not _is_tensor(a.type):
                message = f"'{out.func.name}' is structured, but its out argument '{a.name}' is '{a.type}'"
                report("E0706", message, out.argument_type_span(a.name))
    else:
        return
    _check_structured_types(group, checker)
    if len(checker.diagnostics) == before:
        have = checker.signatures.native(group.functional, symint=False).arguments
        want = signatures.meta_arguments(group)
        _check_translation(group.functional, have, want, checker)


def _check_aliased_returns(f: NativeFunction, checker: _Checker) -> None:
    """Report a written return with the letter of two arguments."""
    for index, r in enumerate(f.func.returns):
        candidates = [a for a in f.func.arguments.flat_all if a.annotation == r.annotation]
        if not r.is_write or len(candidates) < 2:
            continue
        first, second = candidates[:2]
        mistake = find_out_mistake(f.func)
        checker.diagnostics.error(
            "E0710",
            f"'{first.name}' and '{second.name}' have the same letter, so a return of"
            f" '{f.func.name}' could be either",
            f.argument_type_span(second.name),
            labels=[
                (f.argument_type_span(first.name), "the same letter"),
                (f.return_span(index), "could be either"),
            ],
            hint=mistake.hint if mistake is not None else "give each a letter of its own",
        )
        return


def _check_structured_returns(f: NativeFunction, checker: _Checker) -> None:
    if not f.func.returns:
        message = f"'{f.func.name}' is structured, but returns nothing"
        checker.diagnostics.error("E0706", message, f.spans.key("structured"))
    for index, value in enumerate(f.func.returns):
        if not _is_tensor(value.type):
            message = f"'{f.func.name}' is structured, but returns '{value.type}'"
            checker.diagnostics.error("E0706", message, f.return_span(index))


def _check_structured_types(group: StructuredGroup, checker: _Checker) -> None:
    """Report arguments without a type in structured kernels, including precomputed ones, which only these have."""
    functional, precomputed = group.functional, group.primary.precomputed
    arguments: list[tuple[Argument, Span]] = [
        (a, functional.argument_type_span(a.name)) for a in functional.func.arguments.flat_non_out
    ]
    if precomputed is not None:
        span = group.primary.spans.value("precomputed")
        replaced = (a for _, replacements in precomputed.replace for a in replacements)
        arguments += ((a, span) for a in (*replaced, *precomputed.add))
    for a, span in arguments:
        try:
            _raise_for_inner_references(structured_argument_type(a.type))
        except NoCppType as problem:
            message = f"'{a.type}' cannot be an argument of a structured kernel: {problem}"
            checker.diagnostics.error("E0701", message, span)


def _check_view_copy(group: NativeFunctionsViewGroup, checker: _Checker) -> None:
    copy = group.view_copy
    key = DispatchKey.CompositeExplicitAutogradNonFunctional
    if copy is None or copy.find_kernel(key) is None or not copy.root_name.endswith("_copy"):
        return
    returns = group.view.func.returns
    elems = [r.type.elem if isinstance(r.type, ListType) else r.type for r in returns]
    if len(elems) != 1 or not _is_tensor(elems[0]):
        message = f"the kernel of '{copy.func.name}' cannot be generated"
        labels = [(group.view.span, "this view does not return one Tensor or one Tensor[]")]
        checker.diagnostics.error("E0714", message, copy.spans.kernel(key), labels=labels)


def _is_tensor(type: Type) -> bool:
    return isinstance(type, BaseType) and type.name is BaseTy.Tensor


_Overload: TypeAlias = tuple[str, tuple[str, ...]]


def check_overloads(
    backend: ExternalBackend, spelling: TypeSpelling, diagnostics: Diagnostics
) -> None:
    """Report kernels with the same name and parameter types, but different return types."""
    first: dict[_Overload, BackendKernel] = {}
    for kernel in backend.kernels():
        other = first.setdefault(_overload(kernel, spelling), kernel)
        if _signature(other).returns != _signature(kernel).returns:
            names = f"'{other.function.func.name}' and '{kernel.function.func.name}'"
            message = f"the kernels of {names} differ in C++ only by their return types"
            labels = [(other.span, "the other one")]
            diagnostics.error("E0811", message, kernel.span, labels=labels)


def check_coverage(
    backend: ExternalBackend,
    implementation: Source,
    spelling: TypeSpelling,
    diagnostics: Diagnostics,
) -> None:
    """Report each kernel for which `implementation` has the wrong number of definitions."""
    defined = _count_definitions(backend.class_name, implementation.text)
    by_name: dict[str, list[BackendKernel]] = {}
    for kernel in backend.kernels():
        by_name.setdefault(kernel.name, []).append(kernel)
    for name, kernels in by_name.items():
        expected = len({_overload(kernel, spelling) for kernel in kernels})
        if defined[name] == expected:
            continue
        member = f"{backend.class_name}::{name}"
        message = (
            f"{implementation.path} has {defined[name]} definitions of {member}, not {expected}"
        )
        notes = [f"define: {d}" for d in _declarations(backend, kernels, spelling)]
        diagnostics.error("E0812", message, kernels[0].span, notes=notes)


def _count_definitions(class_name: str, text: str) -> Counter[str]:
    """Count the definitions of each member of the class: `Class::name(`, without further qualification.

    Only the last one of a line counts. Source of the rule: torchgen's `error_on_missing_kernels`.
    """
    matches: list[re.Match[str]] = []
    for match in re.finditer(rf"{re.escape(class_name)}::\s*(\w*)\(", text):
        if matches and text.find("\n", matches[-1].start(), match.start()) < 0:
            matches.pop()
        matches.append(match)
    return Counter(m[1] for m in matches if text[m.start() - 1 : m.start()] != ":")


def _declarations(
    backend: ExternalBackend, kernels: list[BackendKernel], spelling: TypeSpelling
) -> Iterator[str]:
    by_overload = {_overload(kernel, spelling): kernel for kernel in reversed(kernels)}
    for kernel in reversed(by_overload.values()):
        signature = _signature(kernel)
        returns = spell(signature.returns, spelling)
        listed = parameters(signature.arguments, spelling, defaults=False)
        yield f"{returns} {backend.class_name}::{kernel.name}({listed})"


def _signature(kernel: BackendKernel) -> DispatcherSignature:
    return Signatures().dispatcher(kernel.function, symint=kernel.symint)


def _overload(kernel: BackendKernel, spelling: TypeSpelling) -> _Overload:
    return kernel.name, tuple(spell(b.type, spelling) for b in _signature(kernel).arguments)
