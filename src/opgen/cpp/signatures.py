"""Schemas into C++ signatures: the public API, the dispatcher's, and the kernels'."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property
from typing import TypeAlias

from opgen.cpp.cpp_types import argument_type, native_argument_type, returns_type
from opgen.cpp.literals import default_expression
from opgen.cpp.names import cpp_name, native_name, parameter_name
from opgen.cpp.spelling import TypeSpelling, spell
from opgen.cpp.type_values import TENSOR_OPTIONS, Base, CType, Optional, TypeContext
from opgen.dataclasses import dataclass, field
from opgen.model.function_schema import Argument, Arguments, SelfArgument, TensorOptionsArguments
from opgen.model.native_function import NativeFunction
from opgen.model.types import BaseTy, BaseType, OptionalType, Type


@dataclass(frozen=True, slots=True)
class Default:
    """A default as the schema writes it; `symint` says whether SymInt is a type of its own here."""

    text: str
    type: Type | None
    symint: bool

    def spelled(self, spelling: TypeSpelling) -> str:
        """The C++ expression. Raises literals.BadDefault."""
        if self.type is None:
            return spelling.defaults.get(self.text, self.text)
        return default_expression(self.text, self.type, spelling, symint=self.symint)


@dataclass(frozen=True, slots=True)
class Binding:
    """A C++ parameter: a name, a type, and the default that it has, if any."""

    name: str
    type: CType
    default: Default | None = None
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Made once: the same few thousand are looked up tens of thousands of times.
        object.__setattr__(self, "_hash", hash((self.name, self.type, self.default)))

    def __hash__(self) -> int:
        return self._hash

    def declaration(self, spelling: TypeSpelling, *, defaults: bool = True) -> str:
        """`const Scalar& alpha = 1`, or without the default."""
        text = f"{spell(self.type, spelling)} {self.name}"
        if self.default is None or not defaults:
            return text
        return f"{text}{spelling.assign}{self.default.spelled(spelling)}"


# What makes the C++ type of an argument: `argument_type`, `native_argument_type`.
_TypeOf: TypeAlias = Callable[..., CType]


@dataclass(frozen=True, slots=True)
class Bindings:
    """The C++ parameter of an argument, made once: the operators of a file have most arguments in common."""

    _known: dict[tuple[_TypeOf, Argument, TypeContext, bool, bool], Binding] = field(
        default_factory=dict
    )
    _lists: dict[Hashable, tuple[Binding, ...]] = field(default_factory=dict)

    def every(self, key: Hashable, make: Callable[[], Iterable[Binding]]) -> tuple[Binding, ...]:
        """What `make` makes, which `key` tells all of: half of the operators have the arguments of another."""
        found = self._lists.get(key)
        if found is None:
            found = self._lists[key] = tuple(make())
        return found

    def of(
        self,
        type_of: _TypeOf,
        argument: Argument,
        context: TypeContext,
        *,
        symint: bool,
        default: bool,
    ) -> Binding:
        """Its type is `type_of` the argument's; `default` says whether it has the argument's, if any."""
        key = (type_of, argument, context, symint, default)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = _binding(*key)
        return found


def parameters(
    bindings: Sequence[Binding], spelling: TypeSpelling, *, defaults: bool = True
) -> str:
    """A parameter list: `const Tensor& self, const Scalar& alpha = 1`."""
    return ", ".join(b.declaration(spelling, defaults=defaults) for b in bindings)


@dataclass(frozen=True)
class CppSignature:
    """A function of the public C++ API.

    The plain form gathers TensorOptions and takes outs first; the faithful form has the arguments of
    the schema in its order. A method leaves out `self`.
    """

    function: NativeFunction
    method: bool
    faithful: bool
    symint: bool
    bindings: Bindings = field(default_factory=Bindings, repr=False, compare=False)

    @property
    def name(self) -> str:
        name = cpp_name(self.function.func, faithful=self.faithful, symint=self.symint)
        return f"__dispatch_{name}" if self.function.manual_cpp_binding else name

    @property
    def returns(self) -> CType:
        return returns_type(self.function)

    def arguments(self) -> tuple[Binding, ...]:
        return self._arguments

    @cached_property
    def _arguments(self) -> tuple[Binding, ...]:
        f = self.function
        context = TypeContext.of(f)
        form = (CppSignature, self.method, self.faithful, self.symint, f.cpp_no_default_args)
        key = (f.func.arguments, context, form)
        return self.bindings.every(key, lambda: self._made(f.func.arguments, context))

    def _made(self, arguments: Arguments, context: TypeContext) -> list[Binding]:
        if self.faithful:
            ordered = (*arguments.non_out, *arguments.out)
        else:
            ordered = (*arguments.out, *arguments.non_out)
        found = [b for a in ordered for b in self._bindings(a, context)]
        return _with_defaults_last(found) if self.function.is_library else found

    def decl(self, spelling: TypeSpelling, *, scope: str = "") -> str:
        """The declaration, with defaults; `scope`, such as `Tensor::`, stands before the name."""
        return _declaration(self.returns, scope + self.name, self.arguments(), spelling)

    def _bindings(
        self, argument: Argument | SelfArgument | TensorOptionsArguments, context: TypeContext
    ) -> tuple[Binding, ...]:
        match argument:
            case Argument():
                return (self._binding(argument, context),)
            case SelfArgument(own):
                return () if self.method else (self._binding(own, context),)
            case TensorOptionsArguments():
                if self.faithful:
                    return tuple(self._binding(a, context) for a in argument.all())
                return (Binding("options", TENSOR_OPTIONS, _options_default(argument)),)

    def _binding(self, argument: Argument, context: TypeContext) -> Binding:
        default = not self.faithful and argument.name not in self.function.cpp_no_default_args
        return self.bindings.of(
            argument_type, argument, context, symint=self.symint, default=default
        )


@dataclass(frozen=True, slots=True)
class CppSignatureGroup:
    """The public C++ signatures of one operator; those that do not exist are None.

    A faithful form exists if there are TensorOptions or outs, the forms with SymInt if an argument
    that is no out has that type.
    """

    signature: CppSignature
    faithful_signature: CppSignature | None
    symint_signature: CppSignature | None
    symint_faithful_signature: CppSignature | None

    @staticmethod
    def from_native_function(
        f: NativeFunction, *, method: bool, bindings: Bindings | None = None
    ) -> CppSignatureGroup:
        shared = Bindings() if bindings is None else bindings
        arguments = f.func.arguments
        faithful = arguments.tensor_options is not None or bool(arguments.out)
        symint = f.func.has_symint()

        def make(*, faithful: bool, symint: bool) -> CppSignature:
            return CppSignature(f, method, faithful, symint, shared)

        return CppSignatureGroup(
            signature=make(faithful=False, symint=False),
            faithful_signature=make(faithful=True, symint=False) if faithful else None,
            symint_signature=make(faithful=False, symint=True) if symint else None,
            symint_faithful_signature=(
                make(faithful=True, symint=True) if faithful and symint else None
            ),
        )

    def signatures(self) -> tuple[CppSignature, ...]:
        """Those that exist: plain, faithful, and the same with SymInt."""
        every = (
            self.signature,
            self.faithful_signature,
            self.symint_signature,
            self.symint_faithful_signature,
        )
        return tuple(s for s in every if s is not None)


@dataclass(frozen=True)
class DispatcherSignature:
    """The signature through which the dispatcher calls: the schema's arguments in its order."""

    function: NativeFunction
    symint: bool = True
    bindings: Bindings = field(default_factory=Bindings, repr=False, compare=False)

    @staticmethod
    def from_native_function(f: NativeFunction, *, symint: bool = True) -> DispatcherSignature:
        return DispatcherSignature(f, symint)

    @property
    def name(self) -> str:
        return cpp_name(self.function.func)

    @property
    def returns(self) -> CType:
        return returns_type(self.function)

    def arguments(self) -> tuple[Binding, ...]:
        return self._arguments

    @cached_property
    def _arguments(self) -> tuple[Binding, ...]:
        arguments, context = self.function.func.arguments, TypeContext.of(self.function)
        key = (arguments, context, DispatcherSignature, self.symint)
        return self.bindings.every(
            key,
            lambda: [
                self.bindings.of(argument_type, a, context, symint=self.symint, default=False)
                for a in arguments.flat_all
            ],
        )

    def decl(self, spelling: TypeSpelling) -> str:
        return _declaration(self.returns, self.name, self.arguments(), spelling)


@dataclass(frozen=True)
class NativeSignature:
    """The signature of an unstructured kernel: TensorOptions scattered and optional, outs last."""

    function: NativeFunction
    symint: bool
    bindings: Bindings = field(default_factory=Bindings, repr=False, compare=False)

    @staticmethod
    def from_native_function(f: NativeFunction, *, symint: bool) -> NativeSignature:
        return NativeSignature(f, symint)

    @property
    def name(self) -> str:
        return native_name(self.function.func)

    @property
    def returns(self) -> CType:
        return returns_type(self.function)

    def arguments(self) -> tuple[Binding, ...]:
        return self._arguments

    @cached_property
    def _arguments(self) -> tuple[Binding, ...]:
        arguments, context = self.function.func.arguments, TypeContext.of(self.function)
        ordered = (*arguments.non_out, *arguments.out)
        return self.bindings.every(
            (arguments, context, NativeSignature, self.symint),
            lambda: [b for a in ordered for b in self._bindings(a, context)],
        )

    def decl(self, spelling: TypeSpelling, *, name: str | None = None) -> str:
        return _declaration(self.returns, name or self.name, self.arguments(), spelling)

    def _bindings(
        self, argument: Argument | SelfArgument | TensorOptionsArguments, context: TypeContext
    ) -> tuple[Binding, ...]:
        match argument:
            case Argument():
                return (self._binding(argument, context),)
            case SelfArgument(own):
                return (self._binding(own, context),)
            case TensorOptionsArguments():
                default = None if self.function.func.is_out_fn() else Default("{}", None, False)
                return tuple(_optional_option(a, default) for a in argument.all())

    def _binding(self, argument: Argument, context: TypeContext) -> Binding:
        default = not self.function.func.is_out_fn()
        return self.bindings.of(
            native_argument_type, argument, context, symint=self.symint, default=default
        )


@dataclass(frozen=True, slots=True)
class Signatures:
    """The signatures of operators, each worked out once and kept under the operator's full name.

    Checks, and the views of every backend, ask for the same ones.
    """

    _cpp: dict[tuple[str, bool], CppSignatureGroup] = field(default_factory=dict)
    _dispatcher: dict[str, DispatcherSignature] = field(default_factory=dict)
    _native: dict[tuple[str, bool], NativeSignature] = field(default_factory=dict)
    _bindings: Bindings = field(default_factory=Bindings)

    def cpp(self, f: NativeFunction, *, method: bool) -> CppSignatureGroup:
        key = (f.full_name, method)
        found = self._cpp.get(key)
        if found is None:
            found = CppSignatureGroup.from_native_function(
                f, method=method, bindings=self._bindings
            )
            self._cpp[key] = found
        return found

    def dispatcher(self, f: NativeFunction) -> DispatcherSignature:
        """The one with SymInt."""
        found = self._dispatcher.get(f.full_name)
        if found is None:
            found = self._dispatcher[f.full_name] = DispatcherSignature(f, True, self._bindings)
        return found

    def native(self, f: NativeFunction, *, symint: bool) -> NativeSignature:
        key = (f.full_name, symint)
        found = self._native.get(key)
        if found is None:
            found = self._native[key] = NativeSignature(f, symint, self._bindings)
        return found


def _binding(
    type_of: _TypeOf, argument: Argument, context: TypeContext, symint: bool, has_default: bool
) -> Binding:
    # Without a SymInt in it the forms with and without SymInt share one type, which `translate` sees at once.
    symint = symint and argument.type.is_symint_like()
    ctype = type_of(argument.type, mutable=argument.is_write, symint=symint, context=context)
    default = _default(argument, symint=symint) if has_default else None
    return Binding(parameter_name(argument.name), ctype, default)


def _with_defaults_last(bindings: Sequence[Binding]) -> list[Binding]:
    """Without the defaults of parameters that stand before one without: C++ has them at the end only."""
    last = max((i for i, b in enumerate(bindings) if b.default is None), default=-1)
    return [Binding(b.name, b.type) if i < last else b for i, b in enumerate(bindings)]


def _optional_option(argument: Argument, default: Default | None) -> Binding:
    """One of dtype, layout, device, pin_memory: optional in kernels, whatever the schema says."""
    type = argument.type.elem if isinstance(argument.type, OptionalType) else argument.type
    assert isinstance(type, BaseType)
    name = "bool" if type.name is BaseTy.bool else type.name.name
    return Binding(argument.name, Optional(Base(name)), default)


def _default(argument: Argument, *, symint: bool) -> Default | None:
    if argument.default is None:
        return None
    return Default(argument.default, argument.type, symint)


def _options_default(options: TensorOptionsArguments) -> Default | None:
    if all(a.default == "None" for a in options.all()):
        return Default("{}", None, False)
    return Default("long", None, False) if options.dtype.default == "long" else None


def _declaration(
    returns: CType, name: str, bindings: Sequence[Binding], spelling: TypeSpelling
) -> str:
    return f"{spell(returns, spelling)} {name}({parameters(bindings, spelling)})"
