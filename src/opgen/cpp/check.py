"""E07xx: schemas that cannot be written as C++, found before anything is generated."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from opgen.cpp import structured
from opgen.cpp.cpp_types import (
    NoCppType,
    TypeContext,
    argument_type,
    native_argument_type,
    return_type,
    structured_argument_type,
)
from opgen.cpp.literals import BadDefault, default_expression
from opgen.cpp.signatures import CppSignatureGroup, DispatcherSignature, NativeSignature
from opgen.cpp.spelling import TypeSpelling
from opgen.cpp.translate import Conversions, NoConversion, translate
from opgen.diagnostics import Diagnostics
from opgen.diagnostics.codes import Code
from opgen.model.function_schema import Argument
from opgen.model.native_function import NativeFunction, Variant
from opgen.model.registry import NativeFunctionsGroup, Registry
from opgen.model.types import BaseTy, BaseType

_FOO_OUT = "foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"

E0701 = Code(
    "E0701",
    "an argument has a type without a C++ counterpart",
    "The type is part of the schema language, but no C++ type stands for it as an argument: custom "
    "classes, GraphModule, and lists of bool without a size. Use another type; bool[3] has a size.",
    "- func: foo(Tensor self, bool[] x) -> Tensor\n",
    "- func: foo(Tensor self, bool[2] x) -> Tensor\n",
    ("V156", "V157", "C15"),
)
E0702 = Code(
    "E0702",
    "a return has a type without a C++ counterpart",
    "What is returned must be a value, a tensor, a Scalar, or a list of these without a size that is "
    "not written; of the optional types only values and Tensor? can be returned.",
    "- func: foo(Tensor self) -> Tensor[2]\n",
    "- func: foo(Tensor self) -> Tensor[]\n",
    ("V158", "V159", "V160"),
)
E0703 = Code(
    "E0703",
    "a default does not fit its type",
    "The default of a list without a size is a list, written in brackets without blanks. A bare number "
    "stands for a repeated one, which needs a size, as in int[2] x=1.",
    "- func: foo(Tensor self, int[] x=1) -> Tensor\n",
    "- func: foo(Tensor self, int[] x=[1]) -> Tensor\n",
    ("V161",),
)
E0704 = Code(
    "E0704",
    "a method needs a tensor to be called on",
    "`variants: method` makes a member function of class Tensor, so the schema must have a positional "
    "argument `Tensor self`. Remove `method`, or name and type the argument so.",
    "- func: foo(Tensor x) -> Tensor\n  variants: function, method\n",
    "- func: foo(Tensor self) -> Tensor\n  variants: function, method\n",
    ("V147", "C19", "C20", "C21"),
)
E0705 = Code(
    "E0705",
    "a structured kernel cannot take TensorOptions",
    "A structured kernel's meta function decides the dtype, layout and device of its outputs, so the "
    "quartet dtype, layout, device, pin_memory has no place in its schema.",
    "- func: foo(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor\n  structured_delegate: foo.out\n\n"
    f"- func: {_FOO_OUT}\n  structured: True\n  dispatch:\n    CPU: foo_out\n",
    f"- func: foo(Tensor self) -> Tensor\n  structured_delegate: foo.out\n\n- func: {_FOO_OUT}\n"
    "  structured: True\n  dispatch:\n    CPU: foo_out\n",
    ("V154",),
)
E0706 = Code(
    "E0706",
    "a structured kernel writes something other than tensors",
    "The outputs of a structured kernel are allocated and resized one by one, so each must be a plain "
    "Tensor. Use an unstructured kernel for lists.",
    "- func: foo(Tensor self) -> Tensor[]\n  structured_delegate: foo.out\n\n"
    "- func: foo.out(Tensor self, *, Tensor(a!)[] out) -> ()\n  structured: True\n"
    "  dispatch:\n    CPU: foo_out\n",
    f"- func: foo(Tensor self) -> Tensor\n  structured_delegate: foo.out\n\n- func: {_FOO_OUT}\n"
    "  structured: True\n  dispatch:\n    CPU: foo_out\n",
    ("V155",),
)
E0707 = Code(
    "E0707",
    "a kernel takes SymInts, and the schema has none",
    "A kernel whose name holds '_symint' is given sizes as SymInt. No argument of this schema is of "
    "that type: name the kernel differently, or declare the argument as SymInt.",
    "- func: foo(Tensor self, int n) -> Tensor\n  dispatch:\n    CPU: foo_symint\n",
    "- func: foo(Tensor self, SymInt n) -> Tensor\n  dispatch:\n    CPU: foo_symint\n",
    ("V150",),
)
E0708 = Code(
    "E0708",
    "an argument cannot be handed from one C++ signature to another",
    "The public function, the dispatcher and the kernel each spell the schema's types in their own way. "
    "For this argument there is no conversion between them. Use a simpler type.",
    "- func: foo(Tensor self, SymInt?[] x) -> Tensor\n",
    "- func: foo(Tensor self, SymInt[] x) -> Tensor\n",
    ("V179", "C22", "C23", "C24", "C25", "C26"),
)

CODES = (E0701, E0702, E0703, E0704, E0705, E0706, E0707, E0708)


def check_signatures(
    registry: Registry, spelling: TypeSpelling, conversions: Conversions, diagnostics: Diagnostics
) -> None:
    """Report every operator whose C++ signatures cannot be formed; each is reported once."""
    sound: set[str] = set()
    for f in registry.functions:
        before = len(diagnostics)
        _check_types(f, diagnostics)
        _check_defaults(f, spelling, diagnostics)
        _check_method(f, diagnostics)
        _check_symint_kernels(f, diagnostics)
        if len(diagnostics) == before:
            sound.add(f.full_name)
            _check_conversions(f, conversions, diagnostics)
    for group in registry.groups:
        if group.structured and all(f.full_name in sound for f in group.functions()):
            _check_structured(group, diagnostics)


def _check_types(f: NativeFunction, diagnostics: Diagnostics) -> None:
    context = TypeContext.of(f)
    for a in f.func.arguments.flat_all:
        try:
            argument_type(a.type, mutable=a.is_write, symint=True, context=context)
            native_argument_type(a.type, mutable=a.is_write, symint=True, context=context)
        except NoCppType as problem:
            diagnostics.error(
                E0701, f"'{a.type}' cannot be an argument: {problem}", f.argument_type_span(a.name)
            )
    for index, r in enumerate(f.func.returns):
        try:
            return_type(r.type, mutable=r.is_write, context=context)
        except NoCppType as problem:
            diagnostics.error(
                E0702, f"'{r.type}' cannot be returned: {problem}", f.return_span(index)
            )


def _check_defaults(f: NativeFunction, spelling: TypeSpelling, diagnostics: Diagnostics) -> None:
    for a in f.func.arguments.flat_all:
        if a.default is None:
            continue
        try:
            default_expression(a.default, a.type, spelling, symint=False)
        except BadDefault as problem:
            diagnostics.error(E0703, str(problem), f.argument_default_span(a.name))


def _check_method(f: NativeFunction, diagnostics: Diagnostics) -> None:
    if Variant.method not in f.variants:
        return
    own = f.func.arguments.self_arg
    if own is None:
        diagnostics.error(
            E0704,
            f"'{f.func.name}' is a method, but has no positional argument 'self'",
            f.spans.value("variants"),
            hint="a method needs 'Tensor self'",
        )
    elif not _is_tensor(own.argument):
        diagnostics.error(
            E0704,
            f"'{f.func.name}' is a method, but its 'self' is '{own.argument.type}'",
            f.argument_type_span("self"),
            hint="a method needs 'Tensor self'",
        )


def _check_symint_kernels(f: NativeFunction, diagnostics: Diagnostics) -> None:
    for key, kernel in f.dispatch:
        # A structured kernel never takes SymInts: there the name is only a name.
        if kernel.supports_symint and not kernel.structured and not f.func.has_symint():
            diagnostics.error(
                E0707,
                f"kernel '{kernel.name}' takes SymInts, but no argument of '{f.func.name}' is one",
                f.spans.kernel(key),
            )


def _check_conversions(
    f: NativeFunction, conversions: Conversions, diagnostics: Diagnostics
) -> None:
    for make in _translations(f, conversions):
        try:
            make()
        except NoConversion as problem:
            diagnostics.error(E0708, f"'{f.func.name}': {problem}", f.span)
            return


def _translations(f: NativeFunction, conversions: Conversions) -> Iterator[Callable[[], object]]:
    """Every conversion that generated code makes for `f`, not yet done."""
    wanted = DispatcherSignature.from_native_function(f).arguments()
    for method in (False, True):
        if method and Variant.method not in f.variants:
            continue
        for signature in CppSignatureGroup.from_native_function(f, method=method).signatures():
            have = signature.arguments()
            yield lambda have=have, method=method: translate(  # type: ignore[misc]
                have, wanted, conversions, method=method
            )
    for _, kernel in f.dispatch:
        if not kernel.structured:
            native = NativeSignature.from_native_function(f, symint=kernel.supports_symint)
            yield lambda native=native: translate(wanted, native.arguments(), conversions)  # type: ignore[misc]


def _check_structured(group: NativeFunctionsGroup, diagnostics: Diagnostics) -> None:
    for f in group.functions():
        if f.func.arguments.tensor_options is not None:
            diagnostics.error(
                E0705,
                f"'{f.func.name}' is structured and takes TensorOptions",
                f.argument_span("dtype"),
            )
    for a in group.out.func.arguments.out:
        if not _is_tensor(a):
            diagnostics.error(
                E0706,
                f"'{group.out.func.name}' is structured, and its out '{a.name}' is '{a.type}'",
                group.out.argument_type_span(a.name),
            )
    for a in group.functional.func.arguments.flat_non_out:
        try:
            structured_argument_type(a.type)
        except NoCppType as problem:
            diagnostics.error(E0701, str(problem), group.functional.argument_type_span(a.name))
    structured.impl_arguments(group)


def _is_tensor(a: Argument) -> bool:
    return isinstance(a.type, BaseType) and a.type.name is BaseTy.Tensor
