"""Codes E03xx: errors in the text of a schema."""

from __future__ import annotations

from opgen.diagnostics.codes import Code, Example


def _func(schema: str) -> str:
    return f"- func: {schema}\n"


_OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"

E0301 = Code(
    "E0301",
    "not of the form name(arguments) -> returns",
    "A schema is an operator's name, its arguments in parentheses, ' -> ' and its returns, all on one line. An "
    "operator that returns nothing ends in '()'.",
    Example(_func("foo(Tensor self)"), _func("foo(Tensor self) -> ()")),
    ("V010", "C03"),
)
E0302 = Code(
    "E0302",
    "misplaced or missing white space",
    "The text of a schema is part of the operator's identity, so there is only one way to write it: one space "
    "after each comma, one between a type and a name, one on each side of '->', and none elsewhere.",
    Example(
        _func("foo(Tensor self,Tensor other) -> Tensor"),
        _func("foo(Tensor self, Tensor other) -> Tensor"),
    ),
    ("V011", "V066", "A01", "C32"),
    of_torchgen=True,
)
E0303 = Code(
    "E0303",
    "a bad namespace",
    "An operator may be in one namespace, which is written before its name: 'custom::foo'. The namespace becomes "
    "a C++ namespace, so it must be an identifier.",
    Example(_func("a::b::foo(Tensor self) -> Tensor"), _func("a::foo(Tensor self) -> Tensor")),
    ("V009", "A02", "C04"),
)
E0304 = Code(
    "E0304",
    "a bad operator name",
    "An operator's name becomes the name of a C++ function. It consists of letters, digits and '_' and does not "
    "begin with a digit. Something must be left when the suffixes '_' (in-place) and '_functional' are removed.",
    Example(_func("foo-bar(Tensor self) -> Tensor"), _func("foo_bar(Tensor self) -> Tensor")),
    ("V068", "V177", "A06", "A07", "A08", "A10", "A82", "A83", "C17"),
)
E0305 = Code(
    "E0305",
    "a name that ends in '_out'",
    "The generator gives this form of name to the C++ functions of out variants: 'foo.out' becomes 'foo_out'. "
    "Write the variant as an overload.",
    Example(
        _func("foo_out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"),
        _func("foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"),
    ),
    ("V025", "V047", "V069"),
    of_torchgen=True,
)
E0306 = Code(
    "E0306",
    "not the name of an augmented assignment",
    "'__i…__' is the in-place form of '__…__'. Python has it only for add, sub, mul, div, mod, pow, lshift, "
    "rshift, and, xor and or. No other name between double underscores may begin with i.",
    Example(_func("__int__(Tensor self) -> Tensor"), _func("__and__(Tensor self) -> Tensor")),
    ("V070",),
    of_torchgen=True,
)
E0307 = Code(
    "E0307",
    "an unknown type",
    "A type is one of the base types (Tensor, int, float, bool, str, Scalar, SymInt, ScalarType, Device, "
    "Layout, …) or a class '__torch__.torch.classes.…', followed by any of '?' (optional), '[]' (list) "
    "and '[3]' (list of three).",
    Example(_func("foo(Tensr self) -> Tensor"), _func("foo(Tensor self) -> Tensor")),
    ("V080",),
)
E0308 = Code(
    "E0308",
    "functional and in-place at once",
    "The suffix '_functional' marks the functional form of an operator that writes its arguments, so a name "
    "cannot have it and be in-place.",
    Example(
        _func("foo_functional_(Tensor(a!) self) -> Tensor(a!)"),
        _func("foo_(Tensor(a!) self) -> Tensor(a!)"),
    ),
    ("V071",),
    of_torchgen=True,
)
E0309 = Code(
    "E0309",
    "a bad overload name",
    "The overload name, after the first '.', consists of letters, digits and '_', because it becomes part of the "
    "operator's C++ name. Without an overload, leave the '.' out.",
    Example(_func("foo.a.b(Tensor self) -> Tensor"), _func("foo.a_b(Tensor self) -> Tensor")),
    ("V072", "A05"),
)
E0310 = Code(
    "E0310",
    "not an argument",
    "An argument is a type, a space and a name, optionally followed by '=' and a default: 'int dim=-1'. A lone "
    "'*' separates positional from keyword-only arguments.",
    Example(_func("foo(Tensor) -> Tensor"), _func("foo(Tensor self) -> Tensor")),
    ("V067", "V073", "A03"),
)
E0311 = Code(
    "E0311",
    "a bad default",
    "A default follows '='. It is a number, True, False, None, a list without spaces, a quoted string or the "
    "name of a constant. It is not empty. It must not contain ', ', '=' or '::', because other parsers of this "
    "language split there even inside quotes.",
    Example(
        _func('foo(Tensor self, str x="a=b") -> Tensor'),
        _func('foo(Tensor self, str x="ab") -> Tensor'),
    ),
    ("V074", "V082"),
)
E0312 = Code(
    "E0312",
    "a bad alias annotation",
    "An annotation is a lower-case letter, or two separated by '|'; then '!' if the argument is written; then "
    "optionally ' -> ' and the alias set that it joins: '(a)', '(a!)', '(a -> *)'. Only a single letter can be "
    "written, and at most one side of the arrow may name several letters.",
    Example(_func("foo(Tensor(A) self) -> Tensor"), _func("foo(Tensor(a) self) -> Tensor(a)")),
    ("V076", "V077", "V078", "V079"),
)
E0313 = Code(
    "E0313",
    "an annotation on a type that cannot have one",
    "Only Tensor, Tensor? and Tensor[] can have an alias annotation. It comes directly after 'Tensor': "
    "'Tensor(a!)[]'.",
    Example(
        _func("foo(Tensor self, int(a) x) -> Tensor"), _func("foo(Tensor self, int x) -> Tensor")
    ),
    ("V075", "V087", "V088"),
    of_torchgen=True,
)
E0314 = Code(
    "E0314",
    "a bad list size",
    "The size of a list is 1 or more, without leading zeros: 'int[2]'. 'int[]' is a list of any size.",
    Example(
        _func("foo(Tensor self, int[0] x) -> Tensor"), _func("foo(Tensor self, int[] x) -> Tensor")
    ),
    ("V081",),
)
E0315 = Code(
    "E0315",
    "a misplaced '*'",
    "'*' occurs at most once, alone between two commas. At least one argument must follow it; the arguments "
    "after it can be passed only by name.",
    Example(
        _func("foo(Tensor self, *, int a, *, int b) -> Tensor"),
        _func("foo(Tensor self, *, int a, int b) -> Tensor"),
    ),
    ("V011", "V083"),
    of_torchgen=True,
)
E0316 = Code(
    "E0316",
    "an argument after the out arguments",
    "The out arguments begin with the first keyword-only argument that is marked as written, and no other "
    "argument may come after them. Move this argument before them, or mark it as written.",
    Example(
        _func("foo.out(Tensor self, *, Tensor(a!) out, int x) -> Tensor(a!)"),
        _func("foo.out(Tensor self, *, int x, Tensor(a!) out) -> Tensor(a!)"),
    ),
    ("V084",),
    of_torchgen=True,
)
E0317 = Code(
    "E0317",
    "tensor options twice",
    "dtype, layout, device and pin_memory, in this order and after '*', are together the options of a new "
    "tensor. An operator may have them only once.",
    Example(
        _func(f"foo(Tensor self, *, {_OPTIONS}, {_OPTIONS}) -> Tensor"),
        _func(f"foo(Tensor self, *, {_OPTIONS}) -> Tensor"),
    ),
    ("V085",),
    of_torchgen=True,
)
E0318 = Code(
    "E0318",
    "a written argument before self",
    "An operator may write its self, arguments after self, and out arguments. Move this argument after self.",
    Example(
        _func("foo(Tensor(a!) x, Tensor self) -> Tensor"),
        _func("foo(Tensor self, Tensor(a!) x) -> Tensor"),
    ),
    ("V086",),
    of_torchgen=True,
)
E0319 = Code(
    "E0319",
    "two arguments with the same name",
    "The arguments become parameters of one C++ function and can be passed by name, so their names must differ.",
    Example(
        _func("foo(Tensor self, int x, int x) -> Tensor"),
        _func("foo(Tensor self, int x, int y) -> Tensor"),
    ),
    ("A13", "A14"),
    of_torchgen=True,
)
E0320 = Code(
    "E0320",
    "a bad argument name",
    "An argument's name becomes the name of a C++ parameter. It consists of letters, digits and '_' and does not "
    "begin with a digit. (A C++ keyword is allowed; opgen appends '_' to it in C++.)",
    Example(
        _func("foo(Tensor self, int a-b) -> Tensor"), _func("foo(Tensor self, int a_b) -> Tensor")
    ),
    ("A15",),
)
E0321 = Code(
    "E0321",
    "a bad return name",
    "A return may have a name after its type and a space. The name consists of letters, digits and '_' and does "
    "not begin with a digit. Returns have no defaults.",
    Example(_func("foo(Tensor self) -> Tensor x=1"), _func("foo(Tensor self) -> Tensor x")),
    ("A30",),
)
E0322 = Code(
    "E0322",
    "parentheses around returns",
    "Parentheses enclose several returns. A single return has none, and no return at all is '()'.",
    Example(_func("foo(Tensor self) -> (Tensor)"), _func("foo(Tensor self) -> Tensor")),
    ("V011",),
    of_torchgen=True,
)
E0323 = Code(
    "E0323",
    "a type nested too deeply",
    "A type may have at most eight of the suffixes '?' and '[]'.",
    Example(
        _func("foo(Tensor self, int????????? x) -> Tensor"),
        _func("foo(Tensor self, int? x) -> Tensor"),
    ),
    ("C16",),
)
E0324 = Code(
    "E0324",
    "a comment inside of a folded schema",
    "YAML joins the lines of a folded string ('>'), so a '#' turns everything after it into a comment. In a "
    "literal string ('|') the comment ends with its line.",
    Example(
        "- func: >-\n    custom::foo(Tensor x,\n    # how often\n    int n) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n",
        "- func: |-\n    custom::foo(Tensor x,\n    # how often\n    int n) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n",
    ),
)
E0325 = Code(
    "E0325",
    "a schema that PyTorch can parse but that no C++ kernel can have",
    "PyTorch's schema parser accepts TorchScript types, type variables and a variable number of arguments "
    "('...'). PyTorch's registry accepts no C++ function for them, or no C++ type corresponds to them.",
    Example(
        _func("custom::foo(Union(int, str) x) -> Tensor"), _func("custom::foo(Any x) -> Tensor")
    ),
)
E0326 = Code(
    "E0326",
    "an argument without a default after one with a default",
    "Arguments without a default come before arguments with one, or after '*'. Only lists may come anywhere; "
    "PyTorch's registry rejects any other argument there.",
    Example(
        _func("custom::foo(Tensor x, int n=1, int m) -> Tensor"),
        _func("custom::foo(Tensor x, int m, int n=1) -> Tensor"),
    ),
)
E0327 = Code(
    "E0327",
    "a keyword of PyTorch's schema parser",
    "PyTorch's parser treats words such as 'in', 'is', 'None', 'def' and 'with' as keywords. They cannot be used "
    "as names.",
    Example(
        _func("custom::foo(Tensor in) -> Tensor"), _func("custom::foo(Tensor input) -> Tensor")
    ),
)
E0328 = Code(
    "E0328",
    "an operator without a namespace",
    "Every operator is in a namespace, for example '_C::rms_norm'. Write the namespace before the operator's "
    "name, or once at the head of the file ('- namespace: _C'), or on the command line ('--namespace _C'). Only "
    "PyTorch's own files may leave it out: with --strict-torchgen, and in a file that defines PyTorch's own "
    "'add.Tensor', a bare name means one in 'aten'.",
    Example(
        "- func: foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n",
        "- func: custom::foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n",
    ),
)
E0329 = Code(
    "E0329",
    "an alias annotation that PyTorch's parser does not accept",
    "An alias annotation comes after `Tensor`, or after the brackets of a list: `Tensor(a!)?`, `Tensor(a!)[]`, "
    "`Tensor[](a!)?`. PyTorch's parser rejects it after a `?`, and silently ignores it inside a tuple or a Dict.",
    Example(_func("custom::foo(Tensor?(a!) x) -> ()"), _func("custom::foo(Tensor(a!)? x) -> ()")),
)
E0330 = Code(
    "E0330",
    "an out argument and its return differ",
    "The first out argument corresponds to the first return, the second to the second, and so on. Both must have "
    "the same annotation.",
    Example(
        _func("foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(b!)"),
        _func("foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"),
    ),
    ("V089",),
    of_torchgen=True,
)
E0331 = Code(
    "E0331",
    "a written argument is returned",
    "An operator does not return a written positional argument other than self, because the caller has it "
    "already.",
    Example(
        _func("foo(Tensor self, Tensor(a!) x) -> Tensor(a!)"),
        _func("foo(Tensor self, Tensor(a!) x) -> Tensor"),
    ),
    ("V090",),
    of_torchgen=True,
)
E0332 = Code(
    "E0332",
    "returns both old and new",
    "Either every return is a written argument, or none is.",
    Example(
        _func("foo.out(Tensor self, *, Tensor(a!) out) -> (Tensor(a!), Tensor)"),
        _func("foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"),
    ),
    ("V091",),
    of_torchgen=True,
)
E0333 = Code(
    "E0333",
    "a written return that is not an argument",
    "A return that is marked as written must be 'self' or an out argument with the same annotation. Perhaps an "
    "out argument comes before the '*'.",
    Example(_func("foo(Tensor x) -> Tensor(a!)"), _func("foo(Tensor x) -> Tensor")),
    ("V092",),
    of_torchgen=True,
)
E0334 = Code(
    "E0334",
    "a list of out arguments is returned",
    "An operator that writes into a list or into an optional tensor returns nothing.",
    Example(
        _func("foo.out(Tensor self, *, Tensor(a!)[] out) -> Tensor(a!)[]"),
        _func("foo.out(Tensor self, *, Tensor(a!)[] out) -> ()"),
    ),
    ("V093",),
    of_torchgen=True,
)
E0335 = Code(
    "E0335",
    "not as many returns as out arguments",
    "An operator returns all of its out arguments, in order. Out arguments whose names begin with '_scratch_' "
    "are temporary storage and are not returned.",
    Example(
        _func("foo.out(Tensor self, *, Tensor(a!) x, Tensor(b!) y) -> Tensor(a!)"),
        _func("foo.out(Tensor self, *, Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))"),
    ),
    ("V094",),
    of_torchgen=True,
)
E0336 = Code(
    "E0336",
    "in-place without a written self",
    "A name that ends in '_' means that the operator changes its self, so there must be a positional argument "
    "'self' that is marked as written, '(a!)'.",
    Example(_func("foo_(Tensor(a!) x) -> ()"), _func("foo_(Tensor(a!) self) -> Tensor(a!)")),
    ("V095",),
    of_torchgen=True,
)
E0337 = Code(
    "E0337",
    "in-place, and self is not returned",
    "An in-place operator returns its self and nothing else, so that calls can be chained.",
    Example(_func("foo_(Tensor(a!) self) -> ()"), _func("foo_(Tensor(a!) self) -> Tensor(a!)")),
    ("V096",),
    of_torchgen=True,
)
E0338 = Code(
    "E0338",
    "in-place on a list returns something",
    "An in-place operator whose self is a list or an optional tensor returns nothing.",
    Example(
        _func("foo_(Tensor(a!)[] self) -> Tensor(a!)[]"), _func("foo_(Tensor(a!)[] self) -> ()")
    ),
    ("V097",),
    of_torchgen=True,
)
E0339 = Code(
    "E0339",
    "tensor options on an operator that writes",
    "dtype, layout, device and pin_memory describe a new tensor. An operator that writes into a tensor takes "
    "them from that tensor.",
    Example(
        _func(f"foo_(Tensor(a!) self, *, {_OPTIONS}) -> Tensor(a!)"),
        _func("foo_(Tensor(a!) self) -> Tensor(a!)"),
    ),
    ("V098",),
    of_torchgen=True,
)
E0340 = Code(
    "E0340",
    "an overload called functional that is not",
    "The word 'functional' in an overload name marks the form that writes nothing. This operator writes an "
    "argument. Choose another word.",
    Example(
        _func("foo_.functional(Tensor(a!) self) -> Tensor(a!)"),
        _func("foo_.other(Tensor(a!) self) -> Tensor(a!)"),
    ),
    ("V099",),
    of_torchgen=True,
)
E0341 = Code(
    "E0341",
    "in-place with out arguments",
    "An operator writes its self or its out arguments, not both. Remove the '_' from the name, or remove the out "
    "arguments.",
    Example(
        _func("foo_.out(Tensor(a!) self, *, Tensor(b!) out) -> Tensor(b!)"),
        _func("foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"),
    ),
    ("V100",),
    of_torchgen=True,
)
E0342 = Code(
    "E0342",
    "a reserved name",
    "Names that begin with 'opgen_' are reserved for generated code. The namespaces 'opgen' and 'std' belong to "
    "the runtime and to C++. So do names of types, and names of macros such as NULL or stdin, which the "
    "preprocessor would replace. A namespace cannot have the name of a function of the C library either, such as gamma "
    "or index: C++ does not declare both. Choose another name.",
    Example(_func("opgen_foo(Tensor self) -> Tensor"), _func("foo(Tensor self) -> Tensor")),
)

CODES: tuple[Code, ...] = tuple(v for v in list(vars().values()) if isinstance(v, Code))
