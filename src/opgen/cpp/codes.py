"""Codes E07xx: schemas that cannot be written as C++."""

from __future__ import annotations

from opgen.diagnostics.codes import Code, Example

_FOO_OUT = "foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"

E0701 = Code(
    "E0701",
    "an argument has a type without a C++ counterpart",
    "The type is part of the schema language, but no C++ type represents it as an argument. This holds for "
    "custom classes, GraphModule, lists of bool without a size, and an optional or a list of a type that is "
    "itself passed by reference, such as Tensor?[]?. Use another type, for example bool[3].",
    Example(
        "- func: foo(Tensor self, bool[] x) -> Tensor\n",
        "- func: foo(Tensor self, bool[2] x) -> Tensor\n",
    ),
    ("V156", "V157", "C15", "A27"),
)
E0702 = Code(
    "E0702",
    "a return has a type without a C++ counterpart",
    "A return must be a value, a tensor, a Scalar, or a list of these. The list must have no size unless the "
    "operator writes it. The only optional types that can be returned are optional values and Tensor?.",
    Example("- func: foo(Tensor self) -> Tensor[2]\n", "- func: foo(Tensor self) -> Tensor[]\n"),
    ("V158", "V159", "V160"),
)
E0703 = Code(
    "E0703",
    "a default does not fit its type",
    "A default is a value of the argument's type, written as in Python: 1, 0.5, True, 'text', [0,1], or None for "
    "an optional. int also accepts Mean, ScalarType accepts long, and MemoryFormat accepts contiguous_format. A "
    "single number as the default of a list repeats that number, so the list needs a size: int[2] x=1. Tensor "
    "has no default; Tensor? has only None. Outside of aten, PyTorch accepts less: Device? and optional lists "
    "have only None, float? has 1.0 but not 1, and only lists of numbers and bools have defaults.",
    Example(
        "- func: foo(Tensor self, int[] x=1) -> Tensor\n",
        "- func: foo(Tensor self, int[] x=[1]) -> Tensor\n",
    ),
    ("V161", "A17", "A19", "A20", "A21", "A22", "A23", "A24"),
)
E0704 = Code(
    "E0704",
    "a method without a tensor to call it on",
    "`variants: method` generates a member function of class Tensor, so the schema must have a positional "
    "argument `Tensor self`. Remove `method`, or give the argument this name and type.",
    Example(
        "- func: foo(Tensor x) -> Tensor\n  variants: function, method\n",
        "- func: foo(Tensor self) -> Tensor\n  variants: function, method\n",
    ),
    ("V147", "C19", "C20", "C21"),
)
E0705 = Code(
    "E0705",
    "a structured kernel cannot take TensorOptions",
    "The meta function of a structured kernel decides the dtype, layout and device of its outputs, so the schema "
    "must not have the four arguments dtype, layout, device and pin_memory.",
    Example(
        "- func: foo(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
        "bool? pin_memory=None) -> Tensor\n  structured_delegate: foo.out\n\n"
        f"- func: {_FOO_OUT}\n  structured: True\n  dispatch:\n    CPU: foo_out\n",
        f"- func: foo(Tensor self) -> Tensor\n  structured_delegate: foo.out\n\n- func: {_FOO_OUT}\n"
        "  structured: True\n  dispatch:\n    CPU: foo_out\n",
    ),
    ("V154",),
)
E0706 = Code(
    "E0706",
    "a structured kernel writes something other than tensors",
    "The runtime allocates and resizes the outputs of a structured kernel one by one, so each must be a plain "
    "Tensor. Use an unstructured kernel for lists.",
    Example(
        "- func: foo(Tensor self) -> Tensor[]\n  structured_delegate: foo.out\n\n"
        "- func: foo.out(Tensor self, *, Tensor(a!)[] out) -> ()\n  structured: True\n"
        "  dispatch:\n    CPU: foo_out\n",
        f"- func: foo(Tensor self) -> Tensor\n  structured_delegate: foo.out\n\n- func: {_FOO_OUT}\n"
        "  structured: True\n  dispatch:\n    CPU: foo_out\n",
    ),
    ("V155",),
)
E0707 = Code(
    "E0707",
    "a kernel takes SymInts, but the schema has none",
    "A kernel with '_symint' in its name receives sizes as SymInt. No argument of this schema has that type. "
    "Rename the kernel, or declare the argument as SymInt.",
    Example(
        "- func: foo(Tensor self, int n) -> Tensor\n  dispatch:\n    CPU: foo_symint\n",
        "- func: foo(Tensor self, SymInt n) -> Tensor\n  dispatch:\n    CPU: foo_symint\n",
    ),
    ("V150",),
    of_torchgen=True,
)
E0708 = Code(
    "E0708",
    "no conversion of an argument between C++ signatures",
    "The public function, the dispatcher and the kernel each use their own C++ types for the types of a schema. "
    "There is no conversion between them for this argument. Use a simpler type.",
    Example(
        "- func: foo(Tensor self, SymInt?[] x) -> Tensor\n",
        "- func: foo(Tensor self, SymInt[] x) -> Tensor\n",
    ),
    ("V179", "C22", "C23", "C25", "C26"),
)

E0709 = Code(
    "E0709",
    "a C++ function would have two parameters with the same name",
    "The four arguments dtype, layout, device and pin_memory become one C++ parameter `options`, and functions "
    "that redispatch have a first parameter `dispatchKeySet`. Give this argument another name.",
    Example(
        "- func: foo(Tensor self, int options, *, ScalarType? dtype=None, Layout? layout=None, "
        "Device? device=None, bool? pin_memory=None) -> Tensor\n",
        "- func: foo(Tensor self, int option, *, ScalarType? dtype=None, Layout? layout=None, "
        "Device? device=None, bool? pin_memory=None) -> Tensor\n",
    ),
    ("V162",),
)
E0710 = Code(
    "E0710",
    "a return could be either of two arguments",
    "A written return is the argument that has the same annotation. Here two arguments have it, so the return "
    "could be either. Give each argument its own letter.",
    Example(
        "- func: foo(Tensor self) -> (Tensor, Tensor)\n\n"
        "- func: foo.out(Tensor self, *, Tensor(a!) x, Tensor(a!) y) -> (Tensor(a!), Tensor(a!))\n",
        "- func: foo(Tensor self) -> (Tensor, Tensor)\n\n"
        "- func: foo.out(Tensor self, *, Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))\n",
    ),
    ("V163",),
)
E0711 = Code(
    "E0711",
    "two operators with the same C++ signature",
    "Overloads of an operator become overloads of one C++ function, which C++ tells apart only by their "
    "parameter types. Different schema types can be the same C++ type: int and SymInt are both int64_t in the "
    "plain API, and int[] and int[2] are both IntArrayRef. Give one operator another name.",
    Example(
        "- func: foo.a(Tensor self, int x) -> Tensor\n\n- func: foo.b(Tensor self, SymInt x) -> Tensor\n",
        "- func: foo.a(Tensor self, int x) -> Tensor\n\n- func: foo.b(Tensor self, float x) -> Tensor\n",
    ),
)
E0712 = Code(
    "E0712",
    "two operators with the same C++ name",
    "In C++, an operator is a struct named after the operator and its overload, joined by an underscore: foo.bar "
    "and foo_bar both become foo_bar. Give one of them another name.",
    Example(
        "- func: foo.bar(Tensor self) -> Tensor\n\n- func: foo_bar(Tensor self, int x) -> Tensor\n",
        "- func: foo.bar(Tensor self) -> Tensor\n\n- func: foo_baz(Tensor self, int x) -> Tensor\n",
    ),
)
E0713 = Code(
    "E0713",
    "two operators whose headers have the same name",
    "An operator has the headers <name>.h, <name>_ops.h and <name>_native.h, <name>_meta.h if it is structured, "
    "and <name>_<key>_dispatch.h for each dispatch key. So no operator may have the name of another plus one of "
    "these endings. Nor may two names differ only in case, because many file systems treat Foo.h and foo.h as "
    "one file.",
    Example(
        "- func: foo(Tensor self) -> Tensor\n\n- func: foo_ops(Tensor self) -> Tensor\n",
        "- func: foo(Tensor self) -> Tensor\n\n- func: foo_operators(Tensor self) -> Tensor\n",
    ),
    ("V178",),
)
E0714 = Code(
    "E0714",
    "no copying operator can be generated for a view",
    "opgen generates the kernel of a view's copying sibling: it calls the view and clones the result. That works "
    "only if the view returns one Tensor or one Tensor[].",
    Example(
        "- func: foo(Tensor(a) self) -> (Tensor(a), Tensor(a))\n  dispatch:\n    CPU: foo\n\n"
        "- func: foo_copy(Tensor self) -> (Tensor, Tensor)\n  dispatch:\n"
        "    CompositeExplicitAutogradNonFunctional: foo_copy\n  tags: view_copy\n",
        "- func: foo(Tensor(a) self) -> Tensor(a)[]\n  dispatch:\n    CPU: foo\n\n"
        "- func: foo_copy(Tensor self) -> Tensor[]\n  dispatch:\n"
        "    CompositeExplicitAutogradNonFunctional: foo_copy\n  tags: view_copy\n",
    ),
    ("V169", "V170"),
)
E0715 = Code(
    "E0715",
    "an argument without a default after one with a default",
    "In C++, a caller can leave arguments out only from the end, so in the public function all arguments after "
    "one with a default need a default, too. Give this argument a default, remove the other's, or list the other "
    "in 'cpp_no_default_args'.",
    Example(
        "- func: foo(Tensor self, int x=1, int y) -> Tensor\n",
        "- func: foo(Tensor self, int x=1, int y=1) -> Tensor\n",
    ),
    ("A18",),
    of_torchgen=True,
)

E0716 = Code(
    "E0716",
    "a custom class without its C++ class",
    "A schema names a class by its TorchScript name: '__torch__.torch.classes.custom.Bar'. Kernels need the C++ "
    "class and the header that declares it. Add both under 'classes' at the head of the file.",
    Example(
        "- func: custom::foo(__torch__.torch.classes.custom.Bar x) -> Tensor\n  dispatch:\n    CompositeExplicitAutograd: foo\n",
        "- classes:\n    custom.Bar:\n      type: custom::Bar\n      header: custom/bar.h\n"
        "- func: custom::foo(__torch__.torch.classes.custom.Bar x) -> Tensor\n  dispatch:\n    CompositeExplicitAutograd: foo\n",
    ),
    target="torch",
)

CODES = (
    *(E0701, E0702, E0703, E0704, E0705, E0706, E0707),
    *(E0708, E0709, E0710, E0711, E0712, E0713, E0714),
    *(E0715, E0716),
)
