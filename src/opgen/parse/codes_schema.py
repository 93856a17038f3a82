"""The records of E03xx: what can be wrong with the text of a schema."""

from __future__ import annotations

from opgen.diagnostics.codes import Code


def _func(schema: str) -> str:
    return f"- func: {schema}\n"


_OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"

E0301 = Code(
    "E0301",
    "not of the form name(arguments) -> returns",
    "A schema is an operator's name, its arguments in parentheses, ' -> ' and what it returns, on one "
    "line. An operator that returns nothing returns '()'.",
    _func("foo(Tensor self)"),
    _func("foo(Tensor self) -> ()"),
    ("V010", "C03"),
)
E0302 = Code(
    "E0302",
    "white space where none belongs, or too little",
    "The text of a schema is part of an operator's identity, so there is one way to write it: one space "
    "after each comma, one between a type and a name, one on each side of '->', none elsewhere.",
    _func("foo(Tensor self,Tensor other) -> Tensor"),
    _func("foo(Tensor self, Tensor other) -> Tensor"),
    ("V011", "V066", "A01", "C32"),
    of_torchgen=True,
)
E0303 = Code(
    "E0303",
    "a bad namespace",
    "An operator may stand in one namespace, written before its name: 'custom::foo'. It is a C++ "
    "namespace too, so it is an identifier.",
    _func("a::b::foo(Tensor self) -> Tensor"),
    _func("a::foo(Tensor self) -> Tensor"),
    ("V009", "A02", "C04"),
)
E0304 = Code(
    "E0304",
    "a bad operator name",
    "An operator's name becomes the name of a C++ function: it consists of letters, digits and '_', "
    "does not begin with a digit, and is not empty without its marks ('_' at the end for in-place, "
    "'_functional').",
    _func("foo-bar(Tensor self) -> Tensor"),
    _func("foo_bar(Tensor self) -> Tensor"),
    ("V068", "V177", "A06", "A07", "A08", "A10", "A82", "A83", "C17"),
)
E0305 = Code(
    "E0305",
    "a name that ends in '_out'",
    "C++ functions of out variants are called so by the generator: 'foo.out' becomes 'foo_out'. Write "
    "the variant as an overload.",
    _func("foo_out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"),
    _func("foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"),
    ("V025", "V047", "V069"),
    of_torchgen=True,
)
E0306 = Code(
    "E0306",
    "not the name of an augmented assignment",
    "'__i…__' is the in-place form of '__…__', and Python has it for add, sub, mul, div, mod, pow, "
    "lshift, rshift, and, xor and or only. No other name between double underscores may begin with i.",
    _func("__int__(Tensor self) -> Tensor"),
    _func("__and__(Tensor self) -> Tensor"),
    ("V070",),
    of_torchgen=True,
)
E0307 = Code(
    "E0307",
    "an unknown type",
    "A type is one of the base types (Tensor, int, float, bool, str, Scalar, SymInt, ScalarType, Device, "
    "Layout, …) or a class '__torch__.torch.classes.…', followed by any of '?' (optional), '[]' (list) "
    "and '[3]' (list of three).",
    _func("foo(Tensr self) -> Tensor"),
    _func("foo(Tensor self) -> Tensor"),
    ("V080",),
)
E0308 = Code(
    "E0308",
    "functional and in-place at once",
    "The ending '_functional' marks the functional form of an operator that writes its arguments, so "
    "such a name cannot be in-place.",
    _func("foo_functional_(Tensor(a!) self) -> Tensor(a!)"),
    _func("foo_(Tensor(a!) self) -> Tensor(a!)"),
    ("V071",),
    of_torchgen=True,
)
E0309 = Code(
    "E0309",
    "a bad overload name",
    "The overload, after the first '.', consists of letters, digits and '_': the operator's C++ name is "
    "made of both parts. Without an overload there is no '.'.",
    _func("foo.a.b(Tensor self) -> Tensor"),
    _func("foo.a_b(Tensor self) -> Tensor"),
    ("V072", "A05"),
)
E0310 = Code(
    "E0310",
    "not an argument",
    "An argument is a type, a space and a name, and perhaps '=' and a default: 'int dim=-1'. '*' alone "
    "divides positional from keyword-only arguments.",
    _func("foo(Tensor) -> Tensor"),
    _func("foo(Tensor self) -> Tensor"),
    ("V067", "V073", "A03"),
)
E0311 = Code(
    "E0311",
    "a bad default",
    "A default is what follows '=': a number, True, False, None, a list without spaces, a quoted text or "
    "the name of a constant. It is not empty, and other readers of the language cut at ', ', '=' and "
    "'::' even inside quotes, so these may not stand in it.",
    _func('foo(Tensor self, str x="a=b") -> Tensor'),
    _func('foo(Tensor self, str x="ab") -> Tensor'),
    ("V074", "V082"),
)
E0312 = Code(
    "E0312",
    "a bad alias annotation",
    "An annotation is a lower-case letter, or two with '|' between them, then '!' if what it names is "
    "written, then perhaps ' -> ' and what it becomes: '(a)', '(a!)', '(a -> *)'. Only one letter can be "
    "written, and not both sides of the arrow hold several.",
    _func("foo(Tensor(A) self) -> Tensor"),
    _func("foo(Tensor(a) self) -> Tensor(a)"),
    ("V076", "V077", "V078", "V079"),
)
E0313 = Code(
    "E0313",
    "an annotation where none can be",
    "Only Tensor, Tensor? and Tensor[] take an alias annotation, and it stands directly after 'Tensor': "
    "'Tensor(a!)[]'.",
    _func("foo(Tensor self, int(a) x) -> Tensor"),
    _func("foo(Tensor self, int x) -> Tensor"),
    ("V075", "V087", "V088"),
    of_torchgen=True,
)
E0314 = Code(
    "E0314",
    "a bad list size",
    "The size of a list is a number from 1 on, without leading zeros: 'int[2]'. 'int[]' is a list of any "
    "size.",
    _func("foo(Tensor self, int[0] x) -> Tensor"),
    _func("foo(Tensor self, int[] x) -> Tensor"),
    ("V081",),
)
E0315 = Code(
    "E0315",
    "a misplaced '*'",
    "'*' stands once, alone between two commas, and the arguments after it can only be passed by name. "
    "There has to be one.",
    _func("foo(Tensor self, *, int a, *, int b) -> Tensor"),
    _func("foo(Tensor self, *, int a, int b) -> Tensor"),
    ("V011", "V083"),
    of_torchgen=True,
)
E0316 = Code(
    "E0316",
    "an argument after the out arguments",
    "The first written keyword-only argument begins the out arguments, and nothing comes after them. "
    "Move this argument before them, or mark it as written.",
    _func("foo.out(Tensor self, *, Tensor(a!) out, int x) -> Tensor(a!)"),
    _func("foo.out(Tensor self, *, int x, Tensor(a!) out) -> Tensor(a!)"),
    ("V084",),
    of_torchgen=True,
)
E0317 = Code(
    "E0317",
    "tensor options twice",
    "dtype, layout, device and pin_memory, in this order and after '*', together are the options of a "
    "new tensor. An operator has them once.",
    _func(f"foo(Tensor self, *, {_OPTIONS}, {_OPTIONS}) -> Tensor"),
    _func(f"foo(Tensor self, *, {_OPTIONS}) -> Tensor"),
    ("V085",),
    of_torchgen=True,
)
E0318 = Code(
    "E0318",
    "a written argument before self",
    "What an operator writes is its self, arguments after self, or out arguments. Move the argument "
    "behind self.",
    _func("foo(Tensor(a!) x, Tensor self) -> Tensor"),
    _func("foo(Tensor self, Tensor(a!) x) -> Tensor"),
    ("V086",),
    of_torchgen=True,
)
E0319 = Code(
    "E0319",
    "two arguments of one name",
    "Arguments are parameters of one C++ function, and can be passed by name: each needs its own.",
    _func("foo(Tensor self, int x, int x) -> Tensor"),
    _func("foo(Tensor self, int x, int y) -> Tensor"),
    ("A13", "A14"),
    of_torchgen=True,
)
E0320 = Code(
    "E0320",
    "a bad argument name",
    "An argument's name becomes the name of a C++ parameter: it consists of letters, digits and '_' and "
    "does not begin with a digit. (A C++ keyword will do: '_' is put after it.)",
    _func("foo(Tensor self, int a-b) -> Tensor"),
    _func("foo(Tensor self, int a_b) -> Tensor"),
    ("A15",),
)
E0321 = Code(
    "E0321",
    "a bad return name",
    "A return may have a name, after its type and a space. It consists of letters, digits and '_' and "
    "does not begin with a digit. Returns have no defaults.",
    _func("foo(Tensor self) -> Tensor x=1"),
    _func("foo(Tensor self) -> Tensor x"),
    ("A30",),
)
E0322 = Code(
    "E0322",
    "parentheses around returns",
    "Several returns stand in parentheses, one alone does not, and none at all is '()'.",
    _func("foo(Tensor self) -> (Tensor)"),
    _func("foo(Tensor self) -> Tensor"),
    ("V011",),
    of_torchgen=True,
)
E0323 = Code(
    "E0323",
    "a type nested too deeply",
    "Types of types of types have no C++ worth writing; this one has more than eight marks.",
    _func("foo(Tensor self, int????????? x) -> Tensor"),
    _func("foo(Tensor self, int? x) -> Tensor"),
    ("C16",),
)
E0324 = Code(
    "E0324",
    "a comment inside of a folded schema",
    "A folded text ('>') becomes one line, so that a '#' makes a comment of all that follows it. In a literal text ('|') "
    "a comment ends with its line.",
    "- func: >-\n    custom::foo(Tensor x,\n    # how often\n    int n) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n",
    "- func: |-\n    custom::foo(Tensor x,\n    # how often\n    int n) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n",
)
E0325 = Code(
    "E0325",
    "what PyTorch's parser takes, and no C++ kernel can have",
    "PyTorch's schema parser knows types of TorchScript, type variables and any number of arguments ('...'). Its registry takes "
    "no C++ function for them, or there is no C++ type that it could have.",
    _func("custom::foo(Union(int, str) x) -> Tensor"),
    _func("custom::foo(Any x) -> Tensor"),
)
E0326 = Code(
    "E0326",
    "no default after a default",
    "An argument that has no default stands before those that have one, or after '*'. Only a list may stand anywhere: PyTorch's "
    "registry refuses any other.",
    _func("custom::foo(Tensor x, int n=1, int m) -> Tensor"),
    _func("custom::foo(Tensor x, int m, int n=1) -> Tensor"),
)
E0327 = Code(
    "E0327",
    "a keyword of PyTorch's schema parser",
    "PyTorch's parser reads words such as 'in', 'is', 'None', 'def' and 'with' as parts of a language. Nothing can be called so.",
    _func("custom::foo(Tensor in) -> Tensor"),
    _func("custom::foo(Tensor input) -> Tensor"),
)
E0328 = Code(
    "E0328",
    "an operator without a namespace",
    "Every operator is in a namespace, as 'rms_norm' in '_C::rms_norm'. It stands before the operator's name, or once at the head "
    "of the file, as '- namespace: _C', or on the command line, as '--namespace _C'. Only PyTorch's own files go without: a bare name "
    "is one of 'aten' under --strict-torchgen, and in a file that defines PyTorch's own 'add.Tensor'.",
    "- func: foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n",
    "- func: custom::foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n",
)
E0329 = Code(
    "E0329",
    "an alias annotation that PyTorch's parser does not take",
    "An alias annotation stands behind Tensor, or behind the brackets of a list: 'Tensor(a!)?', 'Tensor(a!)[]', 'Tensor[](a!)?'. "
    "Behind a '?' PyTorch's parser refuses it, and inside of a tuple or a Dict it drops it without a word.",
    _func("custom::foo(Tensor?(a!) x) -> ()"),
    _func("custom::foo(Tensor(a!)? x) -> ()"),
)
E0330 = Code(
    "E0330",
    "an out argument and its return differ",
    "The first out argument is the first return, and so on: both carry the same annotation.",
    _func("foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(b!)"),
    _func("foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"),
    ("V089",),
    of_torchgen=True,
)
E0331 = Code(
    "E0331",
    "a written argument is returned",
    "A written positional argument other than self is not returned as well: the caller has it already.",
    _func("foo(Tensor self, Tensor(a!) x) -> Tensor(a!)"),
    _func("foo(Tensor self, Tensor(a!) x) -> Tensor"),
    ("V090",),
    of_torchgen=True,
)
E0332 = Code(
    "E0332",
    "returns both old and new",
    "Either every return is a written argument, or none is.",
    _func("foo.out(Tensor self, *, Tensor(a!) out) -> (Tensor(a!), Tensor)"),
    _func("foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"),
    ("V091",),
    of_torchgen=True,
)
E0333 = Code(
    "E0333",
    "a written return that is no argument",
    "A return marked as written is 'self' or an out argument with the same annotation. Was an out argument "
    "put before the '*'?",
    _func("foo(Tensor x) -> Tensor(a!)"),
    _func("foo(Tensor x) -> Tensor"),
    ("V092",),
    of_torchgen=True,
)
E0334 = Code(
    "E0334",
    "a list of out arguments is returned",
    "An operator that writes into a list, or into an optional tensor, returns nothing.",
    _func("foo.out(Tensor self, *, Tensor(a!)[] out) -> Tensor(a!)[]"),
    _func("foo.out(Tensor self, *, Tensor(a!)[] out) -> ()"),
    ("V093",),
    of_torchgen=True,
)
E0335 = Code(
    "E0335",
    "not as many returns as out arguments",
    "An operator returns all of its out arguments, in order. Those whose names begin with '_scratch_' are "
    "work space and are not returned.",
    _func("foo.out(Tensor self, *, Tensor(a!) x, Tensor(b!) y) -> Tensor(a!)"),
    _func("foo.out(Tensor self, *, Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))"),
    ("V094",),
    of_torchgen=True,
)
E0336 = Code(
    "E0336",
    "in-place without a written self",
    "A name that ends in '_' says that the operator changes its self: there is a positional argument "
    "'self', marked as written, '(a!)'.",
    _func("foo_(Tensor(a!) x) -> ()"),
    _func("foo_(Tensor(a!) self) -> Tensor(a!)"),
    ("V095",),
    of_torchgen=True,
)
E0337 = Code(
    "E0337",
    "in-place, and self is not returned",
    "An in-place operator returns its self and nothing else, so that calls can be chained.",
    _func("foo_(Tensor(a!) self) -> ()"),
    _func("foo_(Tensor(a!) self) -> Tensor(a!)"),
    ("V096",),
    of_torchgen=True,
)
E0338 = Code(
    "E0338",
    "in-place on a list returns something",
    "An in-place operator whose self is a list, or an optional tensor, returns nothing.",
    _func("foo_(Tensor(a!)[] self) -> Tensor(a!)[]"),
    _func("foo_(Tensor(a!)[] self) -> ()"),
    ("V097",),
    of_torchgen=True,
)
E0339 = Code(
    "E0339",
    "tensor options on an operator that writes",
    "dtype, layout, device and pin_memory describe a tensor that is made. An operator that writes into a "
    "tensor finds them there.",
    _func(f"foo_(Tensor(a!) self, *, {_OPTIONS}) -> Tensor(a!)"),
    _func("foo_(Tensor(a!) self) -> Tensor(a!)"),
    ("V098",),
    of_torchgen=True,
)
E0340 = Code(
    "E0340",
    "an overload called functional that is not",
    "The word 'functional' in an overload marks the form that writes nothing. This operator writes "
    "something: choose another word.",
    _func("foo_.functional(Tensor(a!) self) -> Tensor(a!)"),
    _func("foo_.other(Tensor(a!) self) -> Tensor(a!)"),
    ("V099",),
    of_torchgen=True,
)
E0341 = Code(
    "E0341",
    "in-place with out arguments",
    "An operator writes its self or its out arguments. Remove the '_' from the name or the out arguments.",
    _func("foo_.out(Tensor(a!) self, *, Tensor(b!) out) -> Tensor(b!)"),
    _func("foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"),
    ("V100",),
    of_torchgen=True,
)
E0342 = Code(
    "E0342",
    "a reserved name",
    "Names that begin with 'opgen_' are made by the generator; the namespaces 'opgen' and 'std' belong to "
    "the runtime and to C++, and so do the names of types and of macros such as NULL or stdin: the preprocessor "
    "would put another text in their place. Choose another.",
    _func("opgen_foo(Tensor self) -> Tensor"),
    _func("foo(Tensor self) -> Tensor"),
)

CODES: tuple[Code, ...] = tuple(v for v in list(vars().values()) if isinstance(v, Code))
