"""Every function that an author may write, collected once: meta functions, structured and other kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator

from opgen.cpp import signatures
from opgen.cpp.names import kernel_namespace, meta_namespace
from opgen.emit.common.base import Record, group_by
from opgen.emit.common.text import SpelledSignature, Speller
from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import Kernel, NativeFunction
from opgen.model.registry import Registry, StructuredGroup, structured_rows

_NAMESPACES = frozenset({"std", "opgen", "at", "native", "meta"})


class AuthorKernel(Record, frozen=True):
    """A C++ function that an author defines, described by the first operator `f` and key that use it.

    `name` is that of the kernel in the YAML; of a meta function, that of its operator. `function` is its name in
    `namespace`, and `macro` what an author writes before the parameter list. It is `within` a namespace that the author
    opens, if that is not empty. `kept` is false if a selective build leaves out all of its operators. `overload` is its name
    if others share `function`, and `symbolic` the class that has it for symbolic sizes, too.
    """

    f: NativeFunction
    key: DispatchKey
    namespace: str
    name: str
    function: str
    macro: str
    signature: SpelledSignature
    header: str
    kept: bool
    within: str = ""
    overload: str = ""
    symbolic: str = ""

    @property
    def schema(self) -> str:
        return str(self.f.func)

    @property
    def operator(self) -> str:
        return self.f.full_name

    @property
    def root(self) -> str:
        return self.f.root_name

    @property
    def specifier(self) -> str:
        """The specifier of the declaration: `inline ` or nothing.

        If a selective build leaves out its operators, the function is inline: its body is compiled, but no code is emitted.
        """
        return "" if self.kept else "inline "

    @property
    def to_write(self) -> str:
        """The text before the body."""
        return f"{self.macro}({self.signature.parameters})"

    @property
    def head(self) -> str:
        """`Tensor add(const Tensor& self)`."""
        return f"{self.signature.returns} {self.name}({self.signature.listed})"


class UnstructuredKernel(Record, frozen=True):
    """An unstructured kernel: a struct whose static members `calls` an author defines.

    A kernel shared by operators of several roots is declared in the header of the first of `roots`
    (sorted) and included by those of the others. `qualifier` is the namespace before its struct in the macro that
    defines it. It is empty if kernels of two namespaces share a name: then the author defines the kernel inside of the
    right namespace. `returns` are the names and types of `opgen_ret`, or of one `opgen_ret_<overload>` for each overload if
    they return different types.
    """

    namespace: str
    name: str
    qualifier: str
    roots: tuple[str, ...]
    calls: tuple[AuthorKernel, ...]
    returns: tuple[tuple[str, str], ...]

    @property
    def is_reserved(self) -> bool:
        """Whether the plain name is declared as a template, so that a free function in place of the kernel does not compile.

        (An alias would have the same effect, but -Wshadow would warn about parameters of that name.) It is not if kernel
        code needs a namespace of that name.
        """
        return self.name not in _NAMESPACES

    @property
    def returns_one_type(self) -> bool:
        """Whether all overloads return the same type, so that OPGEN_KERNEL can name it."""
        return len(self.returns) == 1


class StructuredKernel(AuthorKernel, frozen=True, kw_only=True):
    """A structured kernel: a class that derives from its meta class and has one member `impl`.

    With precomputed values, `opgen_impl` takes them and all arguments, and passes those that impl takes.
    `meta_header` declares the meta class; if empty, it is declared in the library's own ops/<root>_meta.h. If another
    generator made the meta class, the kernel declares the number of outputs (`says_outputs`). If `is_installed`, the
    class derives from a kernel of another library, and the author writes nothing.
    """

    qualifier: str
    struct: str
    meta: str
    forward_parameters: str
    forward_arguments: str
    outputs: int
    meta_header: str = ""
    says_outputs: bool = False
    is_installed: bool = False


class MetaClass(AuthorKernel, frozen=True, kw_only=True):
    """A structured group's meta class with its one member `meta`.

    With a `sized_base`, the body that an author writes is a member of the class template `sized`; the
    class itself and `symbolic` derive from it, for known and for symbolic sizes, and their `meta`
    calls it with `names`. Otherwise, `aliases` are the names of types that the body can use: `Int`, if the target has class
    templates for other groups, and `Tensor`, if the library has a class of its own. `precomputed` are the name and type of
    each value that meta passes to impl, its flag, and the flags of the struct after it is set.
    """

    qualifier: str
    struct: str
    base: str
    sized_base: str
    sized: str
    aliases: tuple[tuple[str, str], ...]
    outputs: int
    names: str
    precomputed: tuple[tuple[str, str, str, str], ...]
    precompute_flags: str
    precompute_all: str

    @property
    def head(self) -> str:
        return f"{self.signature.returns} meta({self.signature.listed})"

    @property
    def macro_lines(self) -> tuple[str, ...]:
        """The `#define` of the text that OPGEN_META_FUNC stands for, before `::meta(parameters) { body }`.

        A sized class has three members `meta`: two that call the author's, and the author's own as a template.
        """
        struct = f"{self.qualifier}{self.struct}"
        kind = "PRECOMPUTE_META" if self.precomputed else "META"
        operator = self.f.func.name.unambiguous_name
        name = f"OPGEN_NativeMetaFunctions_h_{kind}_{operator}"
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
        lines = (
            f"#define {name}",
            f"  {returns[0]}{struct}::meta({parameters}) {{",
            f"    {call}",
            "  }",
            f"  {returns[1]}{symbolic}::meta({parameters}) {{",
            f"    {call}",
            "  }",
            "  template <class opgen_Sizes>",
        )
        return (*(f"{line} \\" for line in lines), f"  {author}{sized}<opgen_Sizes>")


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
        (group.functional.func.name.unambiguous_name, group.functional.namespace)
        for group in registry.structured_groups()
    )
    return KernelSet(
        metas=tuple(meta_class_of(group, spell, kept, shared_metas) for group, kept in groups),
        structured=tuple(
            structured_kernel(group, key, kernel, spell, kept, shared)
            for group, kept in groups
            for key, kernel in unique_by_name(structured_rows(group))
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
        typed = [
            (spell.spelled(spell.signatures.native(f, symint="_symint" in name)), key, f)
            for *_, key, f in found
        ]
        # Rows with the same C++ parameter types share a function.
        members = list(group_by(typed, lambda row: row[0].types).values())
        firsts = [some[0] for some in members]
        overloads = [f.func.name.overload_name or "default" for *_, f in firsts]
        if len(set(overloads)) < len(overloads):
            overloads = [f.func.name.unambiguous_name for *_, f in firsts]
        returned = [signature.returns for signature, *_ in firsts]
        is_one = len(set(returned)) == 1
        roots = tuple(sorted({f.root_name for *_, f in found}))
        yield UnstructuredKernel(
            namespace=namespace,
            name=name,
            qualifier="" if name in shared else f"{namespace}::",
            roots=roots,
            calls=tuple(
                AuthorKernel(
                    f=f,
                    key=key,
                    namespace=namespace,
                    name=name,
                    function=f"opgen_{name}::{name}",
                    macro=(
                        f"OPGEN_KERNEL({name})" if is_one else f"OPGEN_KERNEL2({name}, {overload})"
                    ),
                    signature=signature,
                    header=f"ops/{roots[0]}_native.h",
                    kept=any(keeps(f) for *_, f in some),
                    overload=overload if len(firsts) > 1 else "",
                )
                for (signature, key, f), some, overload in zip(firsts, members, overloads)
            ),
            returns=(
                (("opgen_ret", returned[0]),)
                if is_one
                else tuple((f"opgen_ret_{o}", type) for o, type in zip(overloads, returned))
            ),
        )


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
    parameters, arguments = _forwarding(group, spell)
    return StructuredKernel(
        f=group.primary,
        key=key,
        namespace=namespace,
        name=kernel.name,
        function=f"structured_{kernel.name}::impl",
        macro=f"OPGEN_IMPL_FUNC({kernel.name})",
        signature=spell.signature("void", signatures.impl_arguments(group)),
        header=f"ops/{group.root_name}_native.h",
        kept=kept,
        qualifier="" if kernel.name in shared else f"{namespace}::",
        struct=f"structured_{kernel.name}",
        meta=signatures.meta_class(group),
        forward_parameters=parameters,
        forward_arguments=arguments,
        outputs=len(group.functional.func.returns),
    )


def unique_by_name(
    kernels: Iterable[tuple[DispatchKey, Kernel]],
) -> Iterator[tuple[DispatchKey, Kernel]]:
    """Return the first row of each kernel: one class serves all keys that name it."""
    first: dict[str, tuple[DispatchKey, Kernel]] = {}
    for key, kernel in kernels:
        first.setdefault(kernel.name, (key, kernel))
    return iter(first.values())


def _forwarding(group: StructuredGroup, spell: Speller) -> tuple[str, str]:
    """Return the parameters of `opgen_impl`, and what it passes to impl; empty without precomputed values."""
    if group.primary.precomputed is None:
        return "", ""
    outs = signatures.out_arguments(group)
    precomputed = {a.name for a in signatures.precomputed_elements(group)} - {b.name for b in outs}
    wanted = [b.name for b in signatures.impl_arguments(group)]
    passed = [f"opgen_precomputed.{name}" if name in precomputed else name for name in wanted]
    given = (
        f"{spell.type(b.type)} {b.name}" if b.name in passed else spell.type(b.type)
        for b in (*signatures.meta_arguments(group), *outs)
    )
    return ", ".join(given), ", ".join(passed)


def meta_class_of(
    group: StructuredGroup, spell: Speller, kept: bool, shared: Collection[str] = ()
) -> MetaClass:
    """Return the meta class of `group`; `shared` are names that two namespaces have."""
    f, cpp = group.functional, spell.target.cpp
    namespace = meta_namespace(f.namespace)
    base = group.primary.structured_inherits or cpp.meta_base
    sized_base = cpp.sized_bases.get(base, "")
    is_sized = bool(sized_base)
    spelling = cpp.meta_spelling if is_sized else None
    arguments = signatures.meta_arguments(group, symint=is_sized)
    is_precomputed = group.primary.precomputed is not None
    elements = signatures.precomputed_elements(group, symint=is_sized)
    flags = [element.name.upper() for element in elements]
    struct = signatures.struct_name(group)
    plain = struct.removeprefix("structured_")
    ints = () if cpp.meta_spelling is None else (("Int", "int64_t"),)
    name = f.func.name
    macro = "OPGEN_PRECOMPUTE_META_FUNC" if is_precomputed else "OPGEN_META_FUNC"
    return MetaClass(
        f=f,
        key=DispatchKey.Meta,
        namespace=namespace,
        name=str(name).removesuffix(".out"),
        function=f"{struct}::meta",
        macro=(
            f"{macro}2({name.name}, {name.overload_name})"
            if name.overload_name
            else f"{macro}({name.name})"
        ),
        signature=spell.signature(
            "meta_return_ty" if is_precomputed else "void", arguments, spelling
        ),
        header=f"ops/{group.root_name}_meta.h",
        kept=kept,
        symbolic=f"opgen_symbolic_{plain}" if is_sized else "",
        qualifier="" if name.unambiguous_name in shared else f"{namespace}::",
        struct=struct,
        base=base,
        sized_base=sized_base,
        sized=f"opgen_meta_{plain}" if is_sized else "",
        aliases=(*ints, ("Tensor", spell.own_tensor)) if spell.own_tensor else ints,
        outputs=len(f.func.returns),
        names=", ".join(b.name for b in arguments),
        precomputed=tuple(
            (
                element.name,
                spell.type(element.type, spelling=spelling),
                flag,
                ", ".join("true" if other == flag else other for other in flags),
            )
            for element, flag in zip(elements, flags)
        ),
        precompute_flags=", ".join(f"bool {flag} = false" for flag in flags),
        precompute_all=", ".join("true" for _ in flags),
    )
