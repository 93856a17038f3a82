"""The records of E07xx: schemas that cannot be written as C++."""

from __future__ import annotations

from opgen.diagnostics.codes import Code

_FOO_OUT = "foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"

E0701 = Code(
    "E0701",
    "an argument has a type without a C++ counterpart",
    "The type is part of the schema language, but no C++ type stands for it as an argument: custom "
    "classes, GraphModule, lists of bool without a size, and an optional or a list of what is itself "
    "passed by reference, as in Tensor?[]?. Use another type; bool[3] has a size.",
    "- func: foo(Tensor self, bool[] x) -> Tensor\n",
    "- func: foo(Tensor self, bool[2] x) -> Tensor\n",
    ("V156", "V157", "C15", "A27"),
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
    "A default is a value of its argument's type, written as in Python: 1, 0.5, True, 'text', [0,1], or None for "
    "an optional; int also takes Mean, ScalarType long and MemoryFormat contiguous_format. A bare number for a list "
    "stands for a repeated one, which needs a size, as in int[2] x=1. A Tensor has no default; Tensor? has None. Outside of "
    "aten PyTorch takes fewer: Device? and optional lists have None alone, float? has 1.0 and not 1, lists of other things than "
    "numbers and bools have none.",
    "- func: foo(Tensor self, int[] x=1) -> Tensor\n",
    "- func: foo(Tensor self, int[] x=[1]) -> Tensor\n",
    ("V161", "A17", "A19", "A20", "A21", "A22", "A23", "A24"),
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
    of_torchgen=True,
)
E0708 = Code(
    "E0708",
    "an argument cannot be handed from one C++ signature to another",
    "The public function, the dispatcher and the kernel each spell the schema's types in their own way. "
    "For this argument there is no conversion between them. Use a simpler type.",
    "- func: foo(Tensor self, SymInt?[] x) -> Tensor\n",
    "- func: foo(Tensor self, SymInt[] x) -> Tensor\n",
    ("V179", "C22", "C23", "C25", "C26"),
)

E0709 = Code(
    "E0709",
    "a C++ function would have two parameters of one name",
    "The quartet dtype, layout, device, pin_memory becomes one parameter `options`, and functions that "
    "dispatch again take a `dispatchKeySet` first. Give the argument another name.",
    "- func: foo(Tensor self, int options, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor\n",
    "- func: foo(Tensor self, int option, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None) -> Tensor\n",
    ("V162",),
)
E0710 = Code(
    "E0710",
    "a return could be either of two arguments",
    "A written return is the argument that has the same annotation. Here two arguments have it, so "
    "nothing says which of them is returned. Give each its own letter.",
    "- func: foo(Tensor self) -> (Tensor, Tensor)\n\n"
    "- func: foo.out(Tensor self, *, Tensor(a!) x, Tensor(a!) y) -> (Tensor(a!), Tensor(a!))\n",
    "- func: foo(Tensor self) -> (Tensor, Tensor)\n\n"
    "- func: foo.out(Tensor self, *, Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))\n",
    ("V163",),
)
E0711 = Code(
    "E0711",
    "two operators have one C++ signature",
    "Overloads of an operator are overloads of one C++ function, which are told apart by their "
    "parameter types alone. Different schema types may be one C++ type: int and SymInt are both "
    "int64_t in the plain API, int[] and int[2] both IntArrayRef. Give one operator another name.",
    "- func: foo.a(Tensor self, int x) -> Tensor\n\n- func: foo.b(Tensor self, SymInt x) -> Tensor\n",
    "- func: foo.a(Tensor self, int x) -> Tensor\n\n- func: foo.b(Tensor self, float x) -> Tensor\n",
)
E0712 = Code(
    "E0712",
    "two operators have one C++ name",
    "In C++ an operator is a struct named after it and its overload, joined by an underscore: foo.bar "
    "and foo_bar are both foo_bar. Give one of them another name.",
    "- func: foo.bar(Tensor self) -> Tensor\n\n- func: foo_bar(Tensor self, int x) -> Tensor\n",
    "- func: foo.bar(Tensor self) -> Tensor\n\n- func: foo_baz(Tensor self, int x) -> Tensor\n",
)
E0713 = Code(
    "E0713",
    "two operators have headers of one name",
    "An operator has the headers <name>.h, <name>_ops.h and <name>_native.h, <name>_meta.h if it is "
    "structured, and <name>_<key>_dispatch.h for each dispatch key; so an operator must not be called "
    "like another with one of these endings, nor like another in upper case where that has lower: many file "
    "systems take Foo.h and foo.h for one file.",
    "- func: foo(Tensor self) -> Tensor\n\n- func: foo_ops(Tensor self) -> Tensor\n",
    "- func: foo(Tensor self) -> Tensor\n\n- func: foo_operators(Tensor self) -> Tensor\n",
    ("V178",),
)
E0714 = Code(
    "E0714",
    "no copying operator can be made for a view",
    "The kernel of a view's copying sibling is generated: it calls the view and clones what it returns. "
    "That works for one Tensor or one Tensor[], and for nothing else.",
    "- func: foo(Tensor(a) self) -> (Tensor(a), Tensor(a))\n  dispatch:\n    CPU: foo\n\n"
    "- func: foo_copy(Tensor self) -> (Tensor, Tensor)\n  dispatch:\n"
    "    CompositeExplicitAutogradNonFunctional: foo_copy\n  tags: view_copy\n",
    "- func: foo(Tensor(a) self) -> Tensor(a)[]\n  dispatch:\n    CPU: foo\n\n"
    "- func: foo_copy(Tensor self) -> Tensor[]\n  dispatch:\n"
    "    CompositeExplicitAutogradNonFunctional: foo_copy\n  tags: view_copy\n",
    ("V169", "V170"),
)
E0715 = Code(
    "E0715",
    "an argument without a default after one with a default",
    "C++ leaves arguments out from the end only, so in the public function all that follow a default have one. "
    "Give the argument a default, take the other's away, or list it in 'cpp_no_default_args'.",
    "- func: foo(Tensor self, int x=1, int y) -> Tensor\n",
    "- func: foo(Tensor self, int x=1, int y=1) -> Tensor\n",
    ("A18",),
    of_torchgen=True,
)

E0716 = Code(
    "E0716",
    "a custom class without its C++ class",
    "A schema names a class as TorchScript does: '__torch__.torch.classes.custom.Bar'. Kernels need its C++ class, and the header "
    "that declares it: say both under 'classes' at the head of the file.",
    "- func: custom::foo(__torch__.torch.classes.custom.Bar x) -> Tensor\n  dispatch:\n    CompositeExplicitAutograd: foo\n",
    "- classes:\n    custom.Bar:\n      type: custom::Bar\n      header: custom/bar.h\n"
    "- func: custom::foo(__torch__.torch.classes.custom.Bar x) -> Tensor\n  dispatch:\n    CompositeExplicitAutograd: foo\n",
    target="torch",
)

CODES = (
    *(E0701, E0702, E0703, E0704, E0705, E0706, E0707),
    *(E0708, E0709, E0710, E0711, E0712, E0713, E0714),
    *(E0715, E0716),
)
