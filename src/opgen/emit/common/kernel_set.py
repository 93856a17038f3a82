"""Every function that an author may write, collected once: meta functions, structured and other kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TypeAlias

from opgen.cpp import signatures
from opgen.cpp.names import kernel_namespace, meta_namespace
from opgen.cpp.signatures import Binding
from opgen.cpp.type_values import TypeSpelling
from opgen.emit.common.base import Record, group_by
from opgen.emit.common.text import SpelledSignature, Speller
from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import Kernel, NativeFunction
from opgen.model.registry import Registry, StructuredGroup, structured_rows

# An operator, and a key for which its entry names the kernel.
Row: TypeAlias = tuple[DispatchKey, NativeFunction]

_NAMESPACES = frozenset({"std", "opgen", "at", "native", "meta"})


class KernelOverload(Record, frozen=True):
    """One C++ overload of a kernel that is a static member, with the first operator and key that use it.

    `kept` is false if a selective build leaves out all of its operators.
    """

    name: str
    schema: str
    operator: str
    root: str
    key: DispatchKey
    signature: SpelledSignature
    kept: bool
    overload: str = ""

    @property
    def head(self) -> str:
        """`Tensor add(const Tensor& self)`."""
        return f"{self.signature.returns} {self.name}({self.signature.listed})"

    @property
    def declaration(self) -> str:
        return f"static {specifier(self.kept)}{self.head};"


class ReturnAlias(Record, frozen=True):
    name: str
    type: str


class UnstructuredKernel(Record, frozen=True):
    """An unstructured kernel: a struct whose static members `call` an author defines.

    A kernel shared by operators of several roots is declared in the header of the first of `roots`
    (sorted) and included by those of the others. `qualifier` is the namespace before its struct in the macro that
    defines it. It is empty if kernels of two namespaces share a name: then the author defines the kernel inside of the
    right namespace.
    """

    namespace: str
    name: str
    qualifier: str
    roots: tuple[str, ...]
    calls: tuple[KernelOverload, ...]
    # `opgen_ret`, or one `opgen_ret_<overload>` for each overload if they return different types.
    returns: tuple[ReturnAlias, ...]

    @property
    def struct(self) -> str:
        return f"opgen_{self.name}"

    @property
    def reserved(self) -> tuple[str, ...]:
        """The plain name, which is declared as a template, so that a free function in place of the kernel does not compile.

        (An alias would have the same effect, but -Wshadow would warn about parameters of that name.) Empty if kernel code
        needs a namespace of that name.
        """
        return () if self.name in _NAMESPACES else (self.name,)

    @property
    def returns_one_type(self) -> bool:
        """Whether all overloads return the same type, so that OPGEN_KERNEL can name it."""
        return len(self.returns) == 1

    @property
    def macro_definition(self) -> str:
        """The `#define` of the text that OPGEN_KERNEL or OPGEN_KERNEL2 stands for."""
        struct = f"{self.qualifier}{self.struct}"
        if self.returns_one_type:
            name = f"OPGEN_NativeFunctions_h_KERNEL_{self.name}"
            return f"#define {name} {struct}::opgen_ret {struct}"
        return f"#define OPGEN_NativeFunctions_h_KERNEL2_{self.name} {struct}"

    def macro(self, call: KernelOverload) -> str:
        """Return the macro that an author writes before the parameter list."""
        if self.returns_one_type:
            return f"OPGEN_KERNEL({self.name})"
        return f"OPGEN_KERNEL2({self.name}, {call.overload})"


class StructuredKernel(Record, frozen=True):
    """A structured kernel: a class that derives from its meta class and has one member `impl`.

    With precomputed values, `opgen_impl` takes them and all arguments, and passes those that impl takes.
    `meta_header` declares the meta class; if empty, it is declared in the library's own ops/<root>_meta.h. If another
    generator made the meta class, the kernel declares the number of outputs (`says_outputs`). If `is_installed`, the
    class derives from a kernel of another library, and the author writes nothing.
    """

    root: str
    namespace: str
    qualifier: str
    schema: str
    operator: str
    key: DispatchKey
    name: str
    struct: str
    meta: str
    signature: SpelledSignature
    precomputed: bool
    forward_parameters: tuple[str, ...]
    forward_arguments: tuple[str, ...]
    kept: bool
    outputs: int
    meta_header: str = ""
    says_outputs: bool = False
    is_installed: bool = False

    @property
    def members(self) -> tuple[str, ...]:
        """The lines of the members of the class."""
        found = []
        if self.says_outputs:
            found.append(f"  static constexpr ::std::size_t opgen_outputs = {self.outputs};")
        if not self.is_installed:
            found.append(f"  {specifier(self.kept)}void impl({self.signature.listed});")
        if self.precomputed and self.kept:
            # `opgen_impl` calls `impl` with precomputed values.
            given = ("const meta_return_ty& opgen_precomputed", *self.forward_parameters)
            found += [
                f"  void opgen_impl({', '.join(given)}) {{",
                f"    this->impl({', '.join(self.forward_arguments)});",
                "  }",
            ]
        return tuple(found)

    @property
    def macros(self) -> tuple[str, ...]:
        """The `#define` of the text that OPGEN_IMPL_FUNC stands for, if an author writes the kernel."""
        if self.is_installed:
            return ()
        name = f"OPGEN_NativeFunctions_h_IMPL_{self.name}"
        return (f"#define {name} {self.qualifier}{self.struct}",)


class PrecomputedValue(Record, frozen=True):
    """A precomputed value that meta passes to impl, with the flags of the struct after it is set."""

    name: str
    type: str
    flag: str
    flags_after: str


class SizedClass(Record, frozen=True):
    """A class that derives from a class template of a meta function, for one kind of sizes.

    `symbolic` has the class for symbolic sizes, if this one is for known sizes.
    """

    struct: str
    base: str
    symbolic: tuple[str, ...]


class MetaClass(Record, frozen=True):
    """A structured group's meta class with its one member `meta`.

    With a `sized_base`, the body that an author writes is a member of the class template `sized`; the
    class itself and `symbolic` derive from it, for known and for symbolic sizes, and their `meta`
    calls it with `names`. Otherwise, `aliases` are the names of types that the body can use: `Int`, if the target has class
    templates for other groups, and `Tensor`, if the library has a class of its own.
    """

    root: str
    namespace: str
    qualifier: str
    schema: str
    operator: str
    macro: str
    struct: str
    base: str
    sized_base: str
    sized: str
    symbolic: str
    aliases: tuple[tuple[str, str], ...]
    outputs: int
    signature: SpelledSignature
    names: str
    precomputed: tuple[PrecomputedValue, ...]
    precompute_flags: str
    precompute_all: str
    to_write: str
    kept: bool

    @property
    def _head(self) -> str:
        return f"{self.signature.returns} meta({self.signature.listed});"

    @property
    def is_template(self) -> bool:
        return bool(self.sized_base)

    @property
    def body_struct(self) -> str:
        """The class with the member that an author writes."""
        return self.sized if self.is_template else self.struct

    @property
    def body_base(self) -> str:
        return f"opgen_Sizes::{self.sized_base}" if self.is_template else self.base

    @property
    def body_names(self) -> tuple[str, ...]:
        """The lines that make names usable in the body."""
        if self.is_template:
            return (f"  OPGEN_NAMES_OF_{self.sized_base}(opgen_Sizes)",)
        return tuple(f"  using {name} = {type};" for name, type in self.aliases)

    @property
    def body_declaration(self) -> str:
        return self._head if self.is_template else self.declaration

    @property
    def sized_classes(self) -> tuple[SizedClass, ...]:
        """The classes that derive from a class template, with their own `declaration` of meta."""
        if not self.is_template:
            return ()
        return (
            SizedClass(self.symbolic, f"{self.sized}<opgen::SymbolicSizes>", ()),
            SizedClass(self.struct, f"{self.sized}<opgen::ConcreteSizes>", (self.symbolic,)),
        )

    @property
    def declaration(self) -> str:
        return f"{specifier(self.kept)}{self._head}"

    @property
    def macro_lines(self) -> tuple[str, ...]:
        """The `#define` of the text that OPGEN_META_FUNC stands for, before `::meta(parameters) { body }`.

        A sized class has three members `meta`: two that call the author's, and the author's own as a template.
        """
        struct = f"{self.qualifier}{self.struct}"
        kind = "PRECOMPUTE_META" if self.precomputed else "META"
        name = f"OPGEN_NativeMetaFunctions_h_{kind}_{self.macro}"
        if not self.sized_base:
            returned = f"{struct}::meta_return_ty " if self.precomputed else ""
            return (f"#define {name} {returned}{struct}",)
        symbolic, sized = f"{self.qualifier}{self.symbolic}", f"{self.qualifier}{self.sized}"
        call = f"this->{self.sized}::meta({self.names});"
        parameters = self.signature.parameters
        if self.precomputed:
            call = f"return {call}"
            returns = (f"{struct}::meta_return_ty ", f"{symbolic}::meta_return_ty ")
            author = f"typename {sized}<opgen_Sizes>::meta_return_ty "
        else:
            # OPGEN_META_FUNC writes the first `void`.
            returns, author = ("", "void "), "void "
        return continued(
            f"#define {name}",
            f"  {returns[0]}{struct}::meta({parameters}) {{",
            f"    {call}",
            "  }",
            f"  {returns[1]}{symbolic}::meta({parameters}) {{",
            f"    {call}",
            "  }",
            "  template <class opgen_Sizes>",
            f"  {author}{sized}<opgen_Sizes>",
        )


def specifier(kept: bool) -> str:
    """Return the specifier of a function that an author defines: `inline ` or nothing.

    If a selective build leaves out its operators, the function is inline: its body is compiled, but no code is emitted.
    """
    return "" if kept else "inline "


def continued(*lines: str) -> tuple[str, ...]:
    """Return the lines of a macro: all but the last end with a backslash."""
    return (*(f"{line} \\" for line in lines[:-1]), lines[-1])


class KernelSet(Record, frozen=True):
    """All functions that authors write, in the order of the YAML. `kernels` lacks those that opgen generates."""

    metas: tuple[MetaClass, ...]
    structured: tuple[StructuredKernel, ...]
    kernels: tuple[UnstructuredKernel, ...]


def collect_kernels(
    registry: Registry, spell: Speller, keeps: Callable[[NativeFunction], bool]
) -> KernelSet:
    """Return the functions to be written for all operators of `registry`. `keeps` returns whether a selection includes an
    operator.
    """
    groups = [
        (group, any(keeps(f) for f in group.functions())) for group in registry.structured_groups()
    ]
    shared = _of_two(
        (kernel.name, kernel_namespace(f.namespace, kernel.namespace))
        for f in registry.functions
        for _, kernel in f.dispatch
    )
    shared_metas = _of_two(
        (meta_macro_name(group), group.functional.namespace)
        for group in registry.structured_groups()
    )
    return KernelSet(
        metas=tuple(meta_class_of(group, spell, kept, shared_metas) for group, kept in groups),
        structured=tuple(
            k for group, kept in groups for k in _structured(group, spell, kept, shared)
        ),
        kernels=tuple(_kernels(registry.functions, spell, keeps, shared)),
    )


def _of_two(names: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Return the names that occur in two or more namespaces, from pairs of a name and a namespace."""
    counts = Counter(name for name, _ in set(names))
    return frozenset(name for name, count in counts.items() if count > 1)


def _kernels(
    functions: Iterable[NativeFunction],
    spell: Speller,
    keeps: Callable[[NativeFunction], bool],
    shared: Collection[str],
) -> Iterator[UnstructuredKernel]:
    uses = (
        (kernel_namespace(f.namespace, kernel.namespace), kernel.name, key, f)
        for f in functions
        for key, kernel in f.dispatch
        if kernel.is_declared
    )
    for (namespace, name), found in group_by(uses, lambda use: use[:2]).items():
        rows = [(key, f) for *_, key, f in found]
        by_overload = _by_overload(rows, name, spell)
        overloads = _overloads([members[0][1] for members in by_overload])
        calls = tuple(
            _call(members, name, overload, spell, any(keeps(f) for _, f in members))
            for members, overload in zip(by_overload, overloads)
        )
        types = {call.signature.returns for call in calls}
        yield UnstructuredKernel(
            namespace=namespace,
            name=name,
            qualifier="" if name in shared else f"{namespace}::",
            roots=tuple(sorted({f.root_name for _, f in rows})),
            calls=calls,
            returns=(
                tuple(ReturnAlias("opgen_ret", type) for type in types)
                if len(types) == 1
                else tuple(
                    ReturnAlias(f"opgen_ret_{call.overload}", call.signature.returns)
                    for call in calls
                )
            ),
        )


def _by_overload(rows: Sequence[Row], kernel: str, spell: Speller) -> tuple[list[Row], ...]:
    """Return the rows by their C++ parameter types: rows with the same types share a function."""
    by_types = group_by(rows, lambda row: _native(row[1], kernel, spell).types)
    return tuple(by_types.values())


def _call(
    rows: Sequence[Row], kernel: str, overload: str, spell: Speller, kept: bool
) -> KernelOverload:
    """Return the function that all of `rows` share, described by the first row."""
    key, f = rows[0]
    return KernelOverload(
        name=kernel,
        schema=str(f.func),
        operator=f.full_name,
        root=f.root_name,
        key=key,
        signature=_native(f, kernel, spell),
        kept=kept,
        overload=overload,
    )


def _native(f: NativeFunction, kernel: str, spell: Speller) -> SpelledSignature:
    return spell.spelled(spell.signatures.native(f, symint="_symint" in kernel))


def _overloads(functions: list[NativeFunction]) -> list[str]:
    """Return a name for each operator that shares a kernel: its overload name, if these differ."""
    overloads = [f.func.name.overload_name or "default" for f in functions]
    if len(set(overloads)) == len(overloads):
        return overloads
    return [f.func.name.unambiguous_name for f in functions]


def _structured(
    group: StructuredGroup, spell: Speller, kept: bool, shared: Collection[str]
) -> Iterator[StructuredKernel]:
    for key, kernel in unique_by_name(structured_rows(group)):
        yield structured_kernel(group, key, kernel, spell, kept, shared)


def structured_kernel(
    group: StructuredGroup,
    key: DispatchKey,
    kernel: Kernel,
    spell: Speller,
    kept: bool,
    shared: Collection[str] = (),
) -> StructuredKernel:
    """Return the class of a kernel that serves all members of `group`; `shared` are names that two namespaces have."""
    namespace = kernel_namespace(group.primary.namespace, kernel.namespace)
    names, unnamed = _forwarding(group)
    given = (*signatures.meta_arguments(group), *signatures.out_arguments(group))
    return StructuredKernel(
        root=group.root_name,
        namespace=namespace,
        qualifier="" if kernel.name in shared else f"{namespace}::",
        schema=str(group.primary.func),
        operator=group.primary.full_name,
        key=key,
        name=kernel.name,
        struct=f"structured_{kernel.name}",
        meta=signatures.meta_class(group),
        signature=spell.signature("void", signatures.impl_arguments(group)),
        precomputed=group.primary.precomputed is not None,
        forward_parameters=tuple(
            f"{spell.type(b.type)} {b.name}" if b.name not in unnamed else spell.type(b.type)
            for b in given
        ),
        forward_arguments=names,
        kept=kept,
        outputs=len(group.functional.func.returns),
    )


def unique_by_name(
    kernels: Iterable[tuple[DispatchKey, Kernel]],
) -> Iterator[tuple[DispatchKey, Kernel]]:
    """Return the first row of each kernel: one class serves all keys that name it."""
    seen: set[str] = set()
    for key, kernel in kernels:
        if kernel.name not in seen:
            seen.add(kernel.name)
            yield key, kernel


def _forwarding(group: StructuredGroup) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the arguments that `opgen_impl` passes to impl, and the parameters that it does not use."""
    precomputed = {a.name for a in signatures.precomputed_elements(group)}
    outs = {b.name for b in signatures.out_arguments(group)}
    names = [
        f"opgen_precomputed.{b.name}" if b.name in precomputed and b.name not in outs else b.name
        for b in signatures.impl_arguments(group)
    ]
    given = {b.name for b in signatures.meta_arguments(group)}
    return tuple(names), frozenset(given - set(names))


def _aliases(spell: Speller) -> tuple[tuple[str, str], ...]:
    ints = () if spell.target.cpp.meta_spelling is None else (("Int", "int64_t"),)
    return (*ints, ("Tensor", spell.own_tensor)) if spell.own_tensor else ints


def meta_class_of(
    group: StructuredGroup, spell: Speller, kept: bool, shared: Collection[str] = ()
) -> MetaClass:
    """Return the meta class of `group`; `shared` are names that two namespaces have."""
    namespace = meta_namespace(group.functional.namespace)
    base = group.primary.structured_inherits or spell.target.cpp.meta_base
    sized_base = spell.target.cpp.sized_bases.get(base, "")
    is_sized = bool(sized_base)
    spelling = spell.target.cpp.meta_spelling if is_sized else None
    arguments = signatures.meta_arguments(group, symint=is_sized)
    returns = "void" if group.primary.precomputed is None else "meta_return_ty"
    signature = spell.signature(returns, arguments, spelling)
    elements = signatures.precomputed_elements(group, symint=is_sized)
    macro = meta_macro_name(group)
    struct = signatures.struct_name(group)
    return MetaClass(
        root=group.root_name,
        namespace=namespace,
        qualifier="" if macro in shared else f"{namespace}::",
        schema=str(group.functional.func),
        operator=group.functional.full_name,
        macro=macro,
        struct=struct,
        base=base,
        sized_base=sized_base,
        sized=f"opgen_meta_{struct.removeprefix('structured_')}" if is_sized else "",
        symbolic=f"opgen_symbolic_{struct.removeprefix('structured_')}" if is_sized else "",
        aliases=_aliases(spell),
        outputs=len(group.functional.func.returns),
        signature=signature,
        names=", ".join(b.name for b in arguments),
        precomputed=_precomputed(elements, spell, spelling),
        precompute_flags=", ".join(f"bool {b.name.upper()} = false" for b in elements),
        precompute_all=", ".join("true" for _ in elements),
        to_write=f"{_meta_macro(group)}({signature.parameters})",
        kept=kept,
    )


def meta_macro_name(group: StructuredGroup) -> str:
    """Return the operator's name in the macro that defines its meta function."""
    return group.functional.func.name.unambiguous_name


def _meta_macro(group: StructuredGroup) -> str:
    name = group.functional.func.name
    prefix = "OPGEN_PRECOMPUTE_META_FUNC" if group.primary.precomputed else "OPGEN_META_FUNC"
    if name.overload_name:
        return f"{prefix}2({name.name}, {name.overload_name})"
    return f"{prefix}({name.name})"


def _precomputed(
    elements: Sequence[Binding], spell: Speller, spelling: TypeSpelling | None
) -> tuple[PrecomputedValue, ...]:
    names = [element.name for element in elements]
    return tuple(
        PrecomputedValue(
            name=element.name,
            type=spell.type(element.type, spelling=spelling),
            flag=element.name.upper(),
            flags_after=", ".join("true" if n == element.name else n.upper() for n in names),
        )
        for element in elements
    )
