"""Codes E05xx and W05xx: variants that do not form a group, and variants that cannot be generated."""

from __future__ import annotations

from opgen.diagnostics.codes import Code, Example


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

_MUTABLE = "foo(Tensor self, Tensor(a!) x) -> Tensor"
_MUTABLE_OUT = "foo.out(Tensor self, Tensor(a!) x, *, Tensor(b!) out) -> Tensor(b!)"

E0501 = Code(
    "E0501",
    "the same operator under different overloads",
    "Operators with the same base name and the same arguments (names, types and defaults) are variants of one "
    "operator: functional, in-place, out, mutable. Each kind can occur once. Rename one of the two, or make "
    "their arguments differ.",
    Example(
        _entry("foo.a(Tensor self) -> Tensor") + _entry("foo.b(Tensor self) -> Tensor"),
        _entry("foo.a(Tensor self) -> Tensor") + _entry("foo.b(Tensor self, int dim) -> Tensor"),
    ),
    ("V118",),
    of_torchgen=True,
)
E0502 = Code(
    "E0502",
    "an out variant without a functional operator",
    "An out variant belongs to a functional operator with the same base name and the same arguments (names, "
    "types and defaults). There is none; often a default or a name differs between the two. Only an out variant "
    "that is composed of other operators (CompositeImplicitAutograd) can exist alone.",
    Example(
        _entry(_FOO.replace("self", "self, int dim=0"), *_kernel("foo_cpu"))
        + _entry(_OUT.replace("self", "self, int dim"), *_kernel("foo_out_cpu")),
        _entry(_FOO.replace("self", "self, int dim=0"), *_kernel("foo_cpu"))
        + _entry(_OUT.replace("self", "self, int dim=0"), *_kernel("foo_out_cpu")),
    ),
    ("V119",),
)
E0503 = Code(
    "E0503",
    "an operator with kernels of its own returns no tensor",
    "It must be possible to generate an out variant for an operator that has kernels for backends, so it must "
    "return a tensor or a list of tensors, or be in-place. An operator that only returns a number or a bool is "
    "composed of other operators. Exceptions that PyTorch has are allowed.",
    Example(
        _entry("foo(Tensor self) -> int", *_kernel("foo_cpu")), _entry("foo(Tensor self) -> int")
    ),
    ("V120",),
)
E0504 = Code(
    "E0504",
    "no out variant can be generated: a written argument is returned",
    "In an out variant, the results of the operator become out arguments. An argument that the operator writes "
    "and returns would then be both. Make it an in-place operator, 'foo_(Tensor(a!) self) -> Tensor(a!)', or do not "
    "request an out variant.",
    Example(
        _entry("foo(Tensor(a!) self) -> Tensor(a!)", *_kernel("foo_cpu"), "autogen: foo.out"),
        _entry("foo(Tensor(a!) self) -> Tensor(a!)", *_kernel("foo_cpu")),
    ),
    ("V121",),
)
E0505 = Code(
    "E0505",
    "no out variant can be generated: too many results",
    "Each out argument is an alias set of its own, and the names of alias sets are the 26 letters a to z.",
    Example(
        _entry(
            f"foo(Tensor self) -> ({', '.join(['Tensor'] * 27)})",
            *_kernel("foo"),
            "autogen: foo.out",
        ),
        _entry(
            f"foo(Tensor self) -> ({', '.join(['Tensor'] * 26)})",
            *_kernel("foo"),
            "autogen: foo.out",
        ),
    ),
    ("C12",),
)
E0506 = Code(
    "E0506",
    "no out variant can be generated: not all results are tensors",
    "All results of an operator must fit into out arguments, or no out variant can be generated. Return tensors "
    "only, or do not request the variant.",
    Example(
        _entry("foo(Tensor self) -> (Tensor, int)", *_kernel("foo_cpu"), "autogen: foo.out"),
        _entry("foo(Tensor self) -> (Tensor, int)", *_kernel("foo_cpu")),
    ),
    ("V122",),
)
E0507 = Code(
    "E0507",
    "the name of a generated variant is taken",
    "An operator of this name exists with other arguments, so it is not the missing variant. Rename it, or write "
    "the variant yourself under another overload.",
    Example(
        _entry(_FOO, *_kernel("foo_cpu"), "autogen: foo.out")
        + _entry("foo.out(Tensor self, int x) -> Tensor"),
        _entry(_FOO, *_kernel("foo_cpu"), "autogen: foo.out")
        + _entry("foo.x(Tensor self, int x) -> Tensor"),
    ),
    ("A74",),
)
E0508 = Code(
    "E0508",
    "a generated out variant would have two arguments with the same name",
    "The arguments that receive the results in a generated out variant are named 'out', or 'out0', 'out1' and so "
    "on if there are several.",
    Example(
        _entry("foo(Tensor self, Tensor out) -> Tensor", *_kernel("foo_cpu"), "autogen: foo.out"),
        _entry("foo(Tensor self, Tensor other) -> Tensor", *_kernel("foo_cpu"), "autogen: foo.out"),
    ),
    ("A75",),
)
E0509 = Code(
    "E0509",
    "an operator with scratch arguments among variants",
    "An out argument named '_scratch_...' is temporary storage: the operator writes it, but it is not a result. "
    "Such an operator cannot be a variant of another one, and must differ from it in its name or its arguments.",
    Example(
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
    ),
    ("V133", "C30"),
    of_torchgen=True,
)
E0510 = Code(
    "E0510",
    "variants without a functional operator",
    "If an operator has several variants, one of them must be the functional one, which writes nothing.",
    Example(_entry(_FOO_) + _entry(_OUT), _entry(_FOO) + _entry(_FOO_) + _entry(_OUT)),
    ("V134",),
)
E0511 = Code(
    "E0511",
    "'autogen' does not match the generated variants",
    "The key 'autogen' of written variants lists the variants that opgen generates, so that every operator can "
    "be found in the file. opgen generates a functional variant where there is an out variant but no functional "
    "one. A structured functional operator of a library asks for its out variant, 'f.out' or 'f.Tensor_out', and may "
    "ask for its in-place one, 'f_' or 'f_.Tensor'.",
    Example(
        _entry(_FOO_, *_kernel("foo_cpu_"), "autogen: foo.out"),
        _entry(_FOO_, *_kernel("foo_cpu_"), "autogen: foo, foo.out"),
    ),
    ("V131", "V132"),
)
E0512 = Code(
    "E0512",
    "variants of one operator in two namespaces",
    "All variants of an operator are in the namespace of the functional one.",
    Example(
        _entry(_FOO) + _entry(_OUT.replace("foo", "custom::foo", 1)), _entry(_FOO) + _entry(_OUT)
    ),
    ("V124", "V125", "V126"),
    of_torchgen=True,
)
E0513 = Code(
    "E0513",
    "the functional variant of a mutable operator lacks '_functional'",
    "A mutable operator, which writes an argument other than self, has the plain name. Its functional variant "
    "takes the same arguments in C++, so it needs another name: the same name with '_functional'.",
    Example(
        _entry(_MUTABLE, *_kernel("foo_cpu"))
        + _entry(
            "foo.functional(Tensor self, Tensor x) -> (Tensor, Tensor)",
            *_kernel("foo_functional_cpu"),
        )
        + _entry(_MUTABLE_OUT, *_kernel("foo_out_cpu")),
        _entry(_MUTABLE, *_kernel("foo_cpu"))
        + _entry(
            "foo_functional(Tensor self, Tensor x) -> (Tensor, Tensor)",
            *_kernel("foo_functional_cpu"),
        )
        + _entry(_MUTABLE_OUT, *_kernel("foo_out_cpu")),
    ),
    ("V127",),
    of_torchgen=True,
)
E0514 = Code(
    "E0514",
    "structured and unstructured variants in one group",
    "If the out variant is structured, its kernels serve all variants, and each of them must have "
    "'structured_delegate'. If it is not structured, none of them may have it.",
    Example(_entry(_FOO, *_kernel("foo_cpu")) + _entry(_OUT, *_STRUCTURED), _STRUCTURED_GROUP),
    ("V123",),
)
E0515 = Code(
    "E0515",
    "a mutable operator in a structured group",
    "A structured kernel writes its out arguments and nothing else. An operator that writes another argument needs a "
    "kernel of its own, and so do its variants.",
    Example(
        _entry(_MUTABLE, _DELEGATE)
        + _entry("foo_functional(Tensor self, Tensor x) -> (Tensor, Tensor)", _DELEGATE)
        + _entry(_MUTABLE_OUT, *_STRUCTURED),
        _entry(_MUTABLE, *_kernel("foo_cpu"))
        + _entry(
            "foo_functional(Tensor self, Tensor x) -> (Tensor, Tensor)",
            *_kernel("foo_functional_cpu"),
        )
        + _entry(_MUTABLE_OUT, *_kernel("foo_out_cpu")),
    ),
    ("C18",),
)
E0516 = Code(
    "E0516",
    "a structured operator with a kernel that it must not have",
    "A structured operator has a kernel for each backend, and a meta function. opgen generates its behaviour for "
    "Meta, and for backends without a kernel of their own, from the meta function. So it must not list kernels "
    "for CompositeImplicitAutograd, Meta or CompositeExplicitAutogradNonFunctional.",
    Example(
        _entry(_FOO, _DELEGATE) + _entry(_OUT, *_STRUCTURED, "  Meta: foo_meta"), _STRUCTURED_GROUP
    ),
    ("V128", "V151", "V152"),
)
E0517 = Code(
    "E0517",
    "delegates to another operator's out variant",
    "'structured_delegate' must name the out variant that has the same base name and the same arguments.",
    Example(
        _entry(_FOO, "structured_delegate: bar.out")
        + _entry(_OUT, *_STRUCTURED)
        + _STRUCTURED_GROUP.replace("foo", "bar"),
        _STRUCTURED_GROUP + _STRUCTURED_GROUP.replace("foo", "bar"),
    ),
    ("V129", "V130"),
)
E0518 = Code(
    "E0518",
    "a structured operator with 'manual_kernel_registration'",
    "opgen generates the registrations of a structured operator's variants from its meta function and its "
    "kernels, so nothing is left to register by hand.",
    Example(
        _entry(_FOO, _DELEGATE, "manual_kernel_registration: True") + _entry(_OUT, *_STRUCTURED),
        _STRUCTURED_GROUP,
    ),
    ("V153",),
)
E0519 = Code(
    "E0519",
    "a generated variant would not match",
    "opgen matches the variants of an operator by their signature: the arguments, and as results both returned "
    "and written values. A functional operator that writes self has one result more than its out variant would "
    "have. Name it as an in-place operator, or do not request an out variant.",
    Example(
        _entry("foo(Tensor(a!) self) -> Tensor", *_kernel("foo_cpu"), "autogen: foo.out"),
        _entry("foo_(Tensor(a!) self) -> Tensor(a!)", *_kernel("foo_cpu"), "autogen: foo, foo.out"),
    ),
    ("V122", "V135"),
)

W0536 = Code(
    "W0536",
    "a structured operator that has no kernel",
    "A structured operator has a meta function, which determines the shape and dtype of the results, and a kernel "
    "for each backend, which computes them. No entry of this group has a row for a backend. The operator is "
    "registered for Meta alone, and a call with CPU tensors throws an error. If kernels are registered in other "
    "libraries only, silence the warning: '# opgen: allow(W0536) reason'.",
    Example(_entry(_FOO, _DELEGATE) + _entry(_OUT, "structured: True"), _STRUCTURED_GROUP),
)

CODES: tuple[Code, ...] = tuple(v for v in list(vars().values()) if isinstance(v, Code))
