"""The records of E05xx: variants that do not make a group, and what cannot be generated."""

from __future__ import annotations

from opgen.diagnostics.codes import Code


def _entry(schema: str, *lines: str) -> str:
    return "".join([f"- func: {schema}\n", *(f"  {line}\n" for line in lines)])


def _kernel(name: str, key: str = "CPU") -> tuple[str, str]:
    return "dispatch:", f"  {key}: {name}"


_FOO = "foo(Tensor self) -> Tensor"
_FOO_ = "foo_(Tensor(a!) self) -> Tensor(a!)"
_OUT = "foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"
_DELEGATE = "structured_delegate: foo.out"
_STRUCTURED = ("structured: True", *_kernel("foo_out_cpu"))
_STRUCTURED_GROUP = _entry(_FOO, _DELEGATE) + _entry(_OUT, *_STRUCTURED)
_UNSTRUCTURED_GROUP = _entry(_FOO, *_kernel("foo_cpu")) + _entry(_OUT, *_kernel("foo_out_cpu"))

_MUTABLE = "foo(Tensor self, Tensor(a!) x) -> Tensor"
_MUTABLE_OUT = "foo.out(Tensor self, Tensor(a!) x, *, Tensor(b!) out) -> Tensor(b!)"

E0501 = Code(
    "E0501",
    "one operator twice under different overloads",
    "Operators with the same base name and the same arguments (names, types and defaults) are variants of one "
    "operator: functional, in-place, out, mutable. There can be one of each kind. Rename one, or let their arguments "
    "differ.",
    _entry("foo.a(Tensor self) -> Tensor") + _entry("foo.b(Tensor self) -> Tensor"),
    _entry("foo.a(Tensor self) -> Tensor") + _entry("foo.b(Tensor self, int dim) -> Tensor"),
    ("V118",),
    of_torchgen=True,
)
E0502 = Code(
    "E0502",
    "an out variant is alone",
    "An out variant belongs to a functional one of the same base name with the same arguments: names, types and "
    "defaults. There is none. Often one default or name differs between the two. Alone it may be only if it is made "
    "of other operators (CompositeImplicitAutograd).",
    _entry(_FOO.replace("self", "self, int dim=0"), *_kernel("foo_cpu"))
    + _entry(_OUT.replace("self", "self, int dim"), *_kernel("foo_out_cpu")),
    _entry(_FOO.replace("self", "self, int dim=0"), *_kernel("foo_cpu"))
    + _entry(_OUT.replace("self", "self, int dim=0"), *_kernel("foo_out_cpu")),
    ("V119",),
)
E0503 = Code(
    "E0503",
    "an operator with kernels of its own returns no tensor",
    "What has kernels for backends must be able to have an out variant, so it must return a tensor, a list of "
    "tensors, or be in-place. An operator that only answers a question is made of other operators. Those that PyTorch "
    "has all the same are exempt.",
    _entry("foo(Tensor self) -> int", *_kernel("foo_cpu")),
    _entry("foo(Tensor self) -> int"),
    ("V120",),
)
E0504 = Code(
    "E0504",
    "no out variant can be generated for what returns a written argument",
    "The results of an operator become the out arguments of its out variant. An argument that it writes and "
    "returns would be both. Give it the name of an in-place operator, or do not ask for an out variant.",
    _entry("foo(Tensor(a!) self) -> Tensor(a!)", *_kernel("foo_cpu"), "autogen: foo.out"),
    _entry("foo(Tensor(a!) self) -> Tensor(a!)", *_kernel("foo_cpu")),
    ("V121",),
)
E0505 = Code(
    "E0505",
    "no out variant can be generated for so many results",
    "Every out argument is an alias set of its own, and alias sets are called by the 26 letters a to z.",
    _entry(
        f"foo(Tensor self) -> ({', '.join(['Tensor'] * 27)})", *_kernel("foo"), "autogen: foo.out"
    ),
    _entry(
        f"foo(Tensor self) -> ({', '.join(['Tensor'] * 26)})", *_kernel("foo"), "autogen: foo.out"
    ),
    ("C12",),
)
E0506 = Code(
    "E0506",
    "no out variant can be generated for what returns other things besides tensors",
    "Either all results of an operator go into out arguments, or it has no generated out variant. Let it return "
    "tensors only, or do not ask for the variant.",
    _entry("foo(Tensor self) -> (Tensor, int)", *_kernel("foo_cpu"), "autogen: foo.out"),
    _entry("foo(Tensor self) -> (Tensor, int)", *_kernel("foo_cpu")),
    ("V122",),
)
E0507 = Code(
    "E0507",
    "a variant would be generated under a name that is taken",
    "The operator of this name has other arguments, so it is not the variant that is missing. Rename it, or write "
    "the variant yourself under another overload.",
    _entry(_FOO, *_kernel("foo_cpu"), "autogen: foo.out")
    + _entry("foo.out(Tensor self, int x) -> Tensor"),
    _entry(_FOO, *_kernel("foo_cpu"), "autogen: foo.out")
    + _entry("foo.x(Tensor self, int x) -> Tensor"),
    ("A74",),
)
E0508 = Code(
    "E0508",
    "a generated out variant would have two arguments of one name",
    "The arguments that a generated out variant receives its results in are called 'out', or 'out0', 'out1' and so "
    "on if there are several.",
    _entry("foo(Tensor self, Tensor out) -> Tensor", *_kernel("foo_cpu"), "autogen: foo.out"),
    _entry("foo(Tensor self, Tensor other) -> Tensor", *_kernel("foo_cpu"), "autogen: foo.out"),
    ("A75",),
)
E0509 = Code(
    "E0509",
    "an operator with scratch arguments among variants",
    "An out argument called '_scratch_...' is working space: it is written, but it is no result. Such an operator is "
    "no variant of another one, and must differ from it in its name or its arguments.",
    _entry("foo(Tensor self) -> (Tensor, Tensor)", *_kernel("foo_cpu"))
    + _entry(
        "foo.out(Tensor self, *, Tensor(a!) out, Tensor(b!) _scratch_x) -> Tensor(a!)",
        *_kernel("foo_out_cpu"),
    ),
    _entry("foo(Tensor self) -> (Tensor, Tensor)", *_kernel("foo_cpu"))
    + _entry(
        "foo_scratch.out(Tensor self, *, Tensor(a!) out, Tensor(b!) _scratch_x) -> Tensor(a!)",
        *_kernel("foo_out_cpu"),
    ),
    ("V133", "C30"),
    of_torchgen=True,
)
E0510 = Code(
    "E0510",
    "variants without a functional one",
    "If an operator has several variants, the functional one, which writes nothing, is among them.",
    _entry(_FOO_) + _entry(_OUT),
    _entry(_FOO) + _entry(_FOO_) + _entry(_OUT),
    ("V134",),
)
E0511 = Code(
    "E0511",
    "'autogen' and what is generated differ",
    "The variants that are generated are named by 'autogen' of the variants that are written, so that every operator "
    "can be found in the file. A functional variant is generated where an out variant is but no functional one.",
    _entry(_FOO_, *_kernel("foo_cpu_"), "autogen: foo.out"),
    _entry(_FOO_, *_kernel("foo_cpu_"), "autogen: foo, foo.out"),
    ("V131", "V132"),
)
E0512 = Code(
    "E0512",
    "variants of one operator in two namespaces",
    "All variants of an operator are in the namespace of the functional one.",
    _entry(_FOO) + _entry(_OUT.replace("foo", "custom::foo", 1)),
    _entry(_FOO) + _entry(_OUT),
    ("V124", "V125", "V126"),
    of_torchgen=True,
)
E0513 = Code(
    "E0513",
    "the functional variant of a mutable operator lacks '_functional'",
    "A mutable operator, which writes an argument other than self, has the plain name. Its functional variant takes "
    "the same arguments in C++, so it needs another name: the same with '_functional'.",
    _entry(_MUTABLE, *_kernel("foo_cpu"))
    + _entry(
        "foo.functional(Tensor self, Tensor x) -> (Tensor, Tensor)", *_kernel("foo_functional_cpu")
    )
    + _entry(_MUTABLE_OUT, *_kernel("foo_out_cpu")),
    _entry(_MUTABLE, *_kernel("foo_cpu"))
    + _entry(
        "foo_functional(Tensor self, Tensor x) -> (Tensor, Tensor)", *_kernel("foo_functional_cpu")
    )
    + _entry(_MUTABLE_OUT, *_kernel("foo_out_cpu")),
    ("V127",),
    of_torchgen=True,
)
E0514 = Code(
    "E0514",
    "structured and unstructured variants in one group",
    "If the out variant is structured, its kernels serve all variants, and each of them says so by "
    "'structured_delegate'. If it is not, none may.",
    _entry(_FOO, *_kernel("foo_cpu")) + _entry(_OUT, *_STRUCTURED),
    _STRUCTURED_GROUP,
    ("V123",),
)
E0515 = Code(
    "E0515",
    "a mutable operator in a structured group",
    "A structured kernel writes its out arguments and nothing else. An operator that writes another argument needs a "
    "kernel of its own, and so do its variants.",
    _entry(_MUTABLE, _DELEGATE)
    + _entry("foo_functional(Tensor self, Tensor x) -> (Tensor, Tensor)", _DELEGATE)
    + _entry(_MUTABLE_OUT, *_STRUCTURED),
    _entry(_MUTABLE, *_kernel("foo_cpu"))
    + _entry(
        "foo_functional(Tensor self, Tensor x) -> (Tensor, Tensor)", *_kernel("foo_functional_cpu")
    )
    + _entry(_MUTABLE_OUT, *_kernel("foo_out_cpu")),
    ("C18",),
)
E0516 = Code(
    "E0516",
    "a structured operator with a kernel that it cannot have",
    "A structured operator has a kernel for each backend, and a meta function from which its behaviour for Meta, and "
    "for backends without a kernel of their own, is made. So it neither decomposes (CompositeImplicitAutograd) nor "
    "names kernels for Meta and CompositeExplicitAutogradNonFunctional.",
    _entry(_FOO, _DELEGATE) + _entry(_OUT, *_STRUCTURED, "  Meta: foo_meta"),
    _STRUCTURED_GROUP,
    ("V128", "V151", "V152"),
)
E0517 = Code(
    "E0517",
    "delegates to another operator's out variant",
    "'structured_delegate' names the out variant with the same base name and the same arguments.",
    _entry(_FOO, "structured_delegate: bar.out")
    + _entry(_OUT, *_STRUCTURED)
    + _STRUCTURED_GROUP.replace("foo", "bar"),
    _STRUCTURED_GROUP + _STRUCTURED_GROUP.replace("foo", "bar"),
    ("V129", "V130"),
)
E0518 = Code(
    "E0518",
    "a structured operator with 'manual_kernel_registration'",
    "What is registered for the variants of a structured operator is made from its meta function and its kernels, so "
    "nothing is left to register by hand.",
    _entry(_FOO, _DELEGATE, "manual_kernel_registration: True") + _entry(_OUT, *_STRUCTURED),
    _STRUCTURED_GROUP,
    ("V153",),
)
E0519 = Code(
    "E0519",
    "a variant would be generated that does not fit",
    "The variants of an operator are found by their signature: the arguments, and as results what is returned and "
    "what is written. A functional operator that writes self has one result more than its out variant would have. "
    "Give it the name of an in-place operator, or do not ask for an out variant.",
    _entry("foo(Tensor(a!) self) -> Tensor", *_kernel("foo_cpu"), "autogen: foo.out"),
    _entry("foo_(Tensor(a!) self) -> Tensor(a!)", *_kernel("foo_cpu"), "autogen: foo, foo.out"),
    ("V122", "V135"),
)

CODES: tuple[Code, ...] = tuple(v for v in list(vars().values()) if isinstance(v, Code))
