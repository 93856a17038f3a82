"""Build C++ signatures from schemas: those of the public API, of the dispatcher, and of kernels."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct, field

from opgen.cpp.cpp_types import (
    argument_type,
    native_argument_type,
    returns_type,
    structured_argument_type,
)
from opgen.cpp.literals import default_expression
from opgen.cpp.names import cpp_name, meta_namespace, native_name, parameter_name
from opgen.cpp.type_values import (
    TENSOR_OPTIONS,
    Base,
    CType,
    Optional,
    TypeContext,
    TypeSpelling,
    spell,
    without_reference,
)
from opgen.model.function_schema import (
    TENSOR,
    Argument,
    Arguments,
    SelfArgument,
    TensorOptionsArguments,
)
from opgen.model.native_function import Kernel, NativeFunction
from opgen.model.registry import OutlessGroup, StructuredGroup
from opgen.model.types import BaseTy, BaseType, OptionalType, Type


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


_Signature = TypeVar("_Signature")
# Translates the type of an argument: `argument_type` or `native_argument_type`.
_TypeOf: TypeAlias = Callable[..., CType]


class Bindings(Struct, frozen=True):
    """A cache of C++ parameters: most operators of a file have arguments in common."""

    _single: dict[tuple[_TypeOf, Argument, TypeContext, bool, bool], Binding] = field(
        default_factory=dict
    )
    _lists: dict[Hashable, tuple[Binding, ...]] = field(default_factory=dict)

    def parameter_list(
        self, key: Hashable, build: Callable[[], Iterable[Binding]]
    ) -> tuple[Binding, ...]:
        """Return the result of `build`, which must depend only on `key`.

        Half of the operators have the same parameters as another operator.
        """
        cached = self._lists.get(key)
        if cached is None:
            cached = self._lists[key] = tuple(build())
        return cached

    def parameter(
        self,
        type_of: _TypeOf,
        argument: Argument,
        context: TypeContext,
        *,
        symint: bool,
        default: bool,
    ) -> Binding:
        """Return the parameter of an argument, with the type that `type_of` returns for it.

        `default` is whether the parameter has the argument's default.
        """
        key = (type_of, argument, context, symint, default)
        cached = self._single.get(key)
        if cached is None:
            cached = self._single[key] = _binding(*key)
        return cached


def parameters(
    bindings: Sequence[Binding], spelling: TypeSpelling, *, defaults: bool = True
) -> str:
    """Return a parameter list: `const Tensor& self, const Scalar& alpha = 1`."""
    return ", ".join(b.declaration(spelling, defaults=defaults) for b in bindings)


class CppSignature(Struct, frozen=True, dict=True):
    """A function of the public C++ API.

    The plain form gathers TensorOptions, and takes out arguments first. The faithful form has the arguments of the
    schema in its order. A method has no parameter for `self`.
    """

    function: NativeFunction
    method: bool
    faithful: bool
    symint: bool
    bindings: Bindings = field(default_factory=Bindings)

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
        return self.bindings.parameter_list(key, lambda: self._build(f.func.arguments, context))

    def _build(self, arguments: Arguments, context: TypeContext) -> list[Binding]:
        if self.faithful:
            ordered = (*arguments.non_out, *arguments.out)
        else:
            ordered = (*arguments.out, *arguments.non_out)
        built = [b for a in ordered for b in self._bindings(a, context)]
        return _with_defaults_last(built) if self.function.is_library else built

    def decl(self, spelling: TypeSpelling, *, scope: str = "") -> str:
        """Return the declaration, with defaults. `scope`, such as `Tensor::`, is put before the name."""
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
        return self.bindings.parameter(
            argument_type, argument, context, symint=self.symint, default=default
        )


def cpp_signatures(
    f: NativeFunction, *, method: bool, bindings: Bindings | None = None
) -> tuple[CppSignature, ...]:
    """Return the public C++ signatures of one operator: plain, faithful, and the same with SymInt.

    A faithful form exists if there are TensorOptions or out arguments. Forms with SymInt exist if an argument that is
    not an out argument has that type.
    """
    shared = Bindings() if bindings is None else bindings
    has_faithful = f.func.arguments.tensor_options is not None or bool(f.func.arguments.out)
    return tuple(
        CppSignature(f, method, faithful, symint, shared)
        for symint in (False, True)[: 1 + f.func.has_symint()]
        for faithful in (False, True)[: 1 + has_faithful]
    )


class SchemaSignature(Struct, frozen=True, dict=True):
    """The base of signatures that have the arguments of the schema, with or without SymInt."""

    function: NativeFunction
    symint: bool = True
    bindings: Bindings = field(default_factory=Bindings)

    @property
    def returns(self) -> CType:
        return returns_type(self.function)

    def arguments(self) -> tuple[Binding, ...]:
        return self._arguments

    @cached_property
    def _arguments(self) -> tuple[Binding, ...]:
        arguments, context = self.function.func.arguments, TypeContext.of(self.function)
        key = (arguments, context, type(self), self.symint)
        return self.bindings.parameter_list(key, lambda: self._build(arguments, context))

    def _build(self, arguments: Arguments, context: TypeContext) -> list[Binding]:
        raise NotImplementedError


class DispatcherSignature(SchemaSignature, frozen=True, dict=True):
    """The signature by which the dispatcher calls: the arguments of the schema, in its order."""

    @property
    def name(self) -> str:
        return cpp_name(self.function.func)

    def decl(self, spelling: TypeSpelling) -> str:
        return _declaration(self.returns, self.name, self.arguments(), spelling)

    def _build(self, arguments: Arguments, context: TypeContext) -> list[Binding]:
        return [
            self.bindings.parameter(argument_type, a, context, symint=self.symint, default=False)
            for a in arguments.flat_all
        ]


class NativeSignature(SchemaSignature, frozen=True, dict=True):
    """The signature of an unstructured kernel: TensorOptions as four optional parameters, out arguments last."""

    @property
    def name(self) -> str:
        return native_name(self.function.func)

    def decl(self, spelling: TypeSpelling, *, name: str | None = None) -> str:
        return _declaration(self.returns, name or self.name, self.arguments(), spelling)

    def _build(self, arguments: Arguments, context: TypeContext) -> list[Binding]:
        ordered = (*arguments.non_out, *arguments.out)
        return [b for a in ordered for b in self._bindings(a, context)]

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
        return self.bindings.parameter(
            native_argument_type, argument, context, symint=self.symint, default=default
        )


class Signatures(Struct, frozen=True):
    """A cache of signatures by the full name of the operator.

    Checks, and the generated files of each backend, use the same signatures.
    """

    _made: dict[Hashable, Any] = field(default_factory=dict)
    _bindings: Bindings = field(default_factory=Bindings)

    def cpp(self, f: NativeFunction, *, method: bool) -> tuple[CppSignature, ...]:
        """Return the public signatures, of the function or of the method."""
        key = (CppSignature, f.full_name, method)
        return self._once(key, lambda: cpp_signatures(f, method=method, bindings=self._bindings))

    def dispatcher(self, f: NativeFunction) -> DispatcherSignature:
        """Return the dispatcher's signature, with SymInt."""
        key = (DispatcherSignature, f.full_name)
        return self._once(key, lambda: DispatcherSignature(f, True, self._bindings))

    def native(self, f: NativeFunction, *, symint: bool) -> NativeSignature:
        """Return the signature of an unstructured kernel."""
        key = (NativeSignature, f.full_name, symint)
        return self._once(key, lambda: NativeSignature(f, symint, self._bindings))

    def _once(self, key: Hashable, make: Callable[[], _Signature]) -> _Signature:
        found: _Signature | None = self._made.get(key)
        if found is None:
            found = self._made[key] = make()
        return found


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


def _optional_option(argument: Argument, default: Default | None) -> Binding:
    """Return the parameter of dtype, layout, device or pin_memory, which kernels always take as an optional."""
    type = argument.type.elem if isinstance(argument.type, OptionalType) else argument.type
    assert isinstance(type, BaseType)
    name = "bool" if type.name is BaseTy.bool else type.name.name
    return Binding(argument.name, Optional(Base(name)), default)


def _options_default(options: TensorOptionsArguments) -> Default | None:
    if all(a.default == "None" for a in options.all()):
        return Default("{}", None, False)
    return Default("long", None, False) if options.dtype.default == "long" else None


def _declaration(
    returns: CType, name: str, bindings: Sequence[Binding], spelling: TypeSpelling
) -> str:
    return f"{spell(returns, spelling)} {name}({parameters(bindings, spelling)})"


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
