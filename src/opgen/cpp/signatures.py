"""Build C++ signatures from schemas: those of the public API, of the dispatcher, and of kernels."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct, field

from opgen.cpp.cpp_types import (
    TENSOR_OPTIONS,
    Base,
    CType,
    Optional,
    TypeContext,
    TypeSpelling,
    argument_type,
    native_argument_type,
    returns_type,
    spell,
    structured_argument_type,
    without_reference,
)
from opgen.cpp.literals import default_expression
from opgen.cpp.names import cpp_name, meta_namespace, native_name, parameter_name
from opgen.model.function_schema import (
    TENSOR,
    Argument,
    Arguments,
    SelfArgument,
    TensorOptionsArguments,
)
from opgen.model.native_function import Kernel, NativeFunction
from opgen.model.registry import OutlessGroup, StructuredGroup
from opgen.model.types import BaseType, OptionalType, Type


class Default(Struct, frozen=True):
    """A default as the schema writes it. `symint` is whether SymInt arguments have the type SymInt, not int64_t."""

    text: str
    type: Type | None
    symint: bool

    def spelled(self, spelling: TypeSpelling) -> str:
        """Return the C++ expression. Raises literals.BadDefault."""
        if self.type is None:
            return spelling.defaults.get(self.text, self.text)
        return default_expression(self.text, self.type, spelling, symint=self.symint)


class Binding(Struct, frozen=True, cache_hash=True):
    """A C++ parameter: a name, a type, and a default if it has one."""

    name: str
    type: CType
    default: Default | None = None

    def declaration(self, spelling: TypeSpelling, *, defaults: bool = True) -> str:
        """Return `const Scalar& alpha = 1`, or the same without the default."""
        text = f"{spell(self.type, spelling)} {self.name}"
        if self.default is None or not defaults:
            return text
        return f"{text}{spelling.assign}{self.default.spelled(spelling)}"


def parameters(
    bindings: Sequence[Binding], spelling: TypeSpelling, *, defaults: bool = True
) -> str:
    """Return a parameter list: `const Tensor& self, const Scalar& alpha = 1`."""
    return ", ".join(b.declaration(spelling, defaults=defaults) for b in bindings)


class Signature(Struct, frozen=True):
    """A C++ function of an operator, with SymInt or with int64_t where the schema has SymInt."""

    function: NativeFunction
    symint: bool
    returns: CType
    arguments: tuple[Binding, ...]

    @property
    def name(self) -> str:
        return cpp_name(self.function.func)

    def decl(self, spelling: TypeSpelling, *, scope: str = "", name: str | None = None) -> str:
        """Return the declaration, with defaults. `scope`, such as `Tensor::`, is put before the name."""
        given = parameters(self.arguments, spelling)
        return f"{spell(self.returns, spelling)} {scope}{name or self.name}({given})"


class CppSignature(Signature, frozen=True):
    """A function of the public C++ API.

    The plain form gathers TensorOptions, and takes out arguments first. The faithful form has the arguments of the
    schema in its order. A method has no parameter for `self`.
    """

    faithful: bool

    @property
    def name(self) -> str:
        name = cpp_name(self.function.func, faithful=self.faithful, symint=self.symint)
        return f"__dispatch_{name}" if self.function.manual_cpp_binding else name


class DispatcherSignature(Signature, frozen=True):
    """The signature by which the dispatcher calls: the arguments of the schema, in its order."""


class NativeSignature(Signature, frozen=True):
    """The signature of an unstructured kernel: TensorOptions as four optional parameters, out arguments last."""

    @property
    def name(self) -> str:
        return native_name(self.function.func)


_Made = TypeVar("_Made")
# Translates the type of an argument: `argument_type` or `native_argument_type`.
_TypeOf: TypeAlias = Callable[..., CType]
# Returns the parameter of an argument, with its default or without.
_Bind: TypeAlias = Callable[[_TypeOf, Argument, bool], Binding]


class Signatures(Struct, frozen=True):
    """Makes each signature once, by the full name of the operator: checks, and the files of each backend, use the same.

    All methods raise NoCppType.
    """

    _made: dict[Hashable, Any] = field(default_factory=dict)

    def cpp(self, f: NativeFunction, *, method: bool) -> tuple[CppSignature, ...]:
        """Return the public signatures, of the function or of the method: plain, faithful, and the same with SymInt.

        A faithful form exists if there are TensorOptions or out arguments. Forms with SymInt exist if an argument that is
        not an out argument has that type.
        """
        return self._once((CppSignature, f.full_name, method), lambda: self._cpp(f, method))

    def _cpp(self, f: NativeFunction, method: bool) -> tuple[CppSignature, ...]:
        has_faithful = f.func.arguments.tensor_options is not None or bool(f.func.arguments.out)
        returns = returns_type(f)
        return tuple(
            CppSignature(
                f,
                symint,
                returns,
                self._list(
                    _public, f, symint, method, faithful, f.is_library, f.cpp_no_default_args
                ),
                faithful,
            )
            for symint in (False, True)[: 1 + f.func.has_symint()]
            for faithful in (False, True)[: 1 + has_faithful]
        )

    def dispatcher(self, f: NativeFunction, *, symint: bool = True) -> DispatcherSignature:
        """Return the dispatcher's signature."""
        return self._once(
            (DispatcherSignature, f.full_name, symint),
            lambda: DispatcherSignature(
                f, symint, returns_type(f), self._list(_dispatched, f, symint)
            ),
        )

    def native(self, f: NativeFunction, *, symint: bool) -> NativeSignature:
        """Return the signature of an unstructured kernel."""
        return self._once(
            (NativeSignature, f.full_name, symint),
            lambda: NativeSignature(f, symint, returns_type(f), self._list(_native, f, symint)),
        )

    def _list(
        self,
        order: Callable[..., Iterable[Binding]],
        f: NativeFunction,
        symint: bool,
        *form: Hashable,
    ) -> tuple[Binding, ...]:
        """Return the parameters in an order. Half of the operators have the same as another, and most have some."""
        arguments, context = f.func.arguments, TypeContext.of(f)

        def bind(type_of: _TypeOf, argument: Argument, default: bool) -> Binding:
            key = (type_of, argument, context, symint, default)
            return self._once(key, lambda: _binding(*key))

        key = (order, arguments, context, symint, form)
        return self._once(key, lambda: tuple(order(arguments, bind, *form)))

    def _once(self, key: Hashable, make: Callable[[], _Made]) -> _Made:
        found: _Made | None = self._made.get(key)
        if found is None:
            found = self._made[key] = make()
        return found


def _public(
    arguments: Arguments,
    bind: _Bind,
    method: bool,
    faithful: bool,
    is_library: bool,
    without_default: Collection[str],
) -> list[Binding]:
    if faithful:
        ordered = (*arguments.non_out, *arguments.out)
    else:
        ordered = (*arguments.out, *arguments.non_out)
    found = []
    for argument in ordered:
        match argument:
            case TensorOptionsArguments() if not faithful:
                found.append(Binding("options", TENSOR_OPTIONS, _options_default(argument)))
            case SelfArgument() if method:
                pass
            case _:
                for a in _flat(argument):
                    default = not faithful and a.name not in without_default
                    found.append(bind(argument_type, a, default))
    return _with_defaults_last(found) if is_library else found


def _dispatched(arguments: Arguments, bind: _Bind) -> Iterator[Binding]:
    return (bind(argument_type, a, False) for a in arguments.flat_all)


def _native(arguments: Arguments, bind: _Bind) -> Iterator[Binding]:
    is_out = bool(arguments.out)
    for argument in (*arguments.non_out, *arguments.out):
        for a in _flat(argument):
            if isinstance(argument, TensorOptionsArguments):
                # Kernels always take dtype, layout, device and pin_memory as optionals.
                elem = a.type.elem if isinstance(a.type, OptionalType) else a.type
                assert isinstance(elem, BaseType)
                default = None if is_out else Default("{}", None, False)
                yield Binding(a.name, Optional(Base(elem.name.name)), default)
            else:
                yield bind(native_argument_type, a, not is_out)


def _flat(
    argument: Argument | SelfArgument | TensorOptionsArguments,
) -> tuple[Argument, ...]:
    match argument:
        case Argument():
            return (argument,)
        case SelfArgument(own):
            return (own,)
        case TensorOptionsArguments():
            return tuple(argument.all())


def _binding(
    type_of: _TypeOf, argument: Argument, context: TypeContext, symint: bool, has_default: bool
) -> Binding:
    # Without a SymInt in it, both forms share one type object, so that `translate` compares by identity.
    symint = symint and argument.type.is_symint_like()
    ctype = type_of(argument.type, mutable=argument.is_write, symint=symint, context=context)
    default = None
    if has_default and argument.default is not None:
        default = Default(argument.default, argument.type, symint)
    return Binding(parameter_name(argument.name), ctype, default)


def _with_defaults_last(bindings: Sequence[Binding]) -> list[Binding]:
    """Remove defaults of parameters before one without a default: C++ allows defaults only at the end."""
    last = max((i for i, b in enumerate(bindings) if b.default is None), default=-1)
    return [Binding(b.name, b.type) if i < last else b for i, b in enumerate(bindings)]


def _options_default(options: TensorOptionsArguments) -> Default | None:
    if all(a.default == "None" for a in options.all()):
        return Default("{}", None, False)
    return Default("long", None, False) if options.dtype.default == "long" else None


def struct_name(group: StructuredGroup) -> str:
    """Return the name of the group's meta class, such as `structured_add_Tensor`, after its functional member."""
    return f"structured_{str(group.functional.func.name).replace('.', '_')}"


def meta_class(group: StructuredGroup) -> str:
    """Return the full name of the group's meta class, such as `at::meta::structured_add_Tensor`."""
    return f"{meta_namespace(group.functional.namespace)}::{struct_name(group)}"


def meta_arguments(group: StructuredGroup, *, symint: bool = False) -> tuple[Binding, ...]:
    """Return the parameters of `meta`: the arguments of the functional member."""
    return _bindings(group.functional.func.arguments.flat_non_out, symint=symint)


def impl_arguments(group: StructuredGroup) -> tuple[Binding, ...]:
    """Return the parameters of `impl`: arguments or their precomputed replacements, additions, then outputs."""
    arguments = group.primary.func.arguments
    inputs: list[Argument] = list(arguments.flat_non_out)
    if group.primary.precomputed is not None:
        replace = dict(group.primary.precomputed.replace)
        own = arguments.self_arg.argument if arguments.self_arg is not None else None
        # self is never replaced, even if the YAML has a replacement.
        inputs = [b for a in inputs for b in (replace.get(a.name, (a,)) if a is not own else (a,))]
        inputs += group.primary.precomputed.add
    return (*_bindings(inputs), *out_arguments(group))


def out_arguments(group: StructuredGroup) -> tuple[Binding, ...]:
    """Return the parameters of `impl` for the outputs."""
    if isinstance(group, OutlessGroup):
        return _bindings(_outputs(group))
    return _bindings(group.out.func.arguments.out)


def precomputed_elements(group: StructuredGroup, *, symint: bool = False) -> tuple[Binding, ...]:
    """Return the members of the struct that `meta` returns: replacements in the order of the YAML, then additions."""
    precomputed = group.primary.precomputed
    if precomputed is None:
        return ()
    elements = [a for _, replacements in precomputed.replace for a in replacements]
    elements += precomputed.add
    bindings = _bindings(elements, symint=symint)
    return tuple(Binding(b.name, without_reference(b.type)) for b in bindings)


def impl_struct(group: StructuredGroup, kernel: Kernel, spelling: TypeSpelling, export: str) -> str:
    """Return the declaration of a structured kernel's class. `export` is a macro that makes it visible, or empty."""
    head = " ".join(filter(None, ("struct", export, f"structured_{kernel.name}")))
    return (
        f"{head} : public {meta_class(group)} {{\n"
        f"void impl({parameters(impl_arguments(group), spelling)});\n}};\n"
    )


def _outputs(group: OutlessGroup) -> tuple[Argument, ...]:
    """Return the outputs of `meta` as arguments with unique names: those of the returns, else `out`."""
    func = group.functional.func
    taken = {a.name for a in func.arguments.flat_all}
    if group.primary.precomputed is not None:
        replaced = (b for _, bs in group.primary.precomputed.replace for b in bs)
        taken |= {b.name for b in (*replaced, *group.primary.precomputed.add)}
    names: list[str] = []
    for index, value in enumerate(func.returns):
        name = value.name or ("out" if len(func.returns) == 1 else f"out{index}")
        while name in taken:
            name += "_"
        taken.add(name)
        names.append(name)
    return tuple(Argument(name, TENSOR, None, None) for name in names)


def _bindings(arguments: Iterable[Argument], *, symint: bool = False) -> tuple[Binding, ...]:
    return tuple(
        Binding(parameter_name(a.name), structured_argument_type(a.type, symint=symint))
        for a in arguments
    )
