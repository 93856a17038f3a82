"""Codes E02xx: errors in the keys of an entry."""

from __future__ import annotations

from opgen.diagnostics.codes import Code, Example

_FOO = "- func: foo(Tensor self) -> Tensor\n"
_OUT = "- func: foo.out(Tensor self, int dim, *, Tensor(a!) out) -> Tensor(a!)\n"
_STRUCTURED = _OUT + "  structured: True\n  dispatch:\n    CPU: foo_out\n"
_UFUNC = _OUT + "  structured: True\n"

E0201 = Code(
    "E0201",
    "an unknown key",
    "This key is not part of the language. A misspelt key would have no effect.",
    Example(_FOO + "  variant: method\n", _FOO + "  variants: method\n"),
    ("V058", "A78"),
)
E0202 = Code(
    "E0202",
    "an entry without func",
    "Every entry has the key 'func' with the operator's schema: 'func: foo(Tensor self) -> Tensor'.",
    Example("- variants: function\n", _FOO + "  variants: function\n"),
    ("V006", "V007"),
)
E0203 = Code(
    "E0203",
    "a value of the wrong type",
    "The value of this key has the wrong type; the key takes a boolean, a string, a list or a mapping. YAML "
    "reads 'True', 'yes' and 'on' as booleans and '3' as a number. Quotes turn them into strings.",
    Example(_FOO + "  device_guard: NoCheck\n", _FOO + "  device_check: NoCheck\n"),
    (
        *("V008", "V012", "V013", "V015", "V017", "V018", "V019", "V020", "V022", "V023", "V026"),
        *("V028", "V030", "V032", "V035", "V038", "V046", "V048", "V050", "V060", "V061"),
        *("C07", "C08", "C10", "C11"),
    ),
)
E0204 = Code(
    "E0204",
    "an unknown variant",
    "The variants are 'function' (a free function) and 'method' (a member of Tensor). To get both, write "
    "'function, method'.",
    Example(_FOO + "  variants: functional\n", _FOO + "  variants: function\n"),
    ("V016",),
)
E0205 = Code(
    "E0205",
    "an unknown device check",
    "'device_check' is 'ExactSame' (the default: all tensors must be on one device) or 'NoCheck'.",
    Example(_FOO + "  device_check: nocheck\n", _FOO + "  device_check: NoCheck\n"),
    ("V021",),
)
E0206 = Code(
    "E0206",
    "a namespace where none is allowed",
    "opgen looks up the operators and classes named here in the entry's own namespace. Write the name without "
    "'::'.",
    Example(
        _FOO + "  structured_delegate: a::foo.out\n", _FOO + "  structured_delegate: foo.out\n"
    ),
    ("V024", "V027", "C04"),
)
E0207 = Code(
    "E0207",
    "a bad base class",
    "'structured_inherits' is the name of the C++ class that the meta struct derives from, usually "
    "'TensorIteratorBase'.",
    Example(
        _STRUCTURED + "  structured_inherits: ''\n",
        _STRUCTURED + "  structured_inherits: TensorIteratorBase\n",
    ),
    ("A62",),
)
E0208 = Code(
    "E0208",
    "an unknown tag",
    "Tags are declared in a tags.yaml beside the schema file. Without such a file, opgen knows PyTorch's tags.",
    Example(_FOO + "  tags: pointwize\n", _FOO + "  tags: pointwise\n"),
    ("V033", "V034"),
)
E0209 = Code(
    "E0209",
    "an unknown dispatch key",
    "The keys of a dispatch table are names of dispatch keys. Separate several names by ', ': 'CPU, CUDA'.",
    Example(_FOO + "  dispatch:\n    CPUU: foo\n", _FOO + "  dispatch:\n    CPU: foo\n"),
    ("V039",),
)
E0210 = Code(
    "E0210",
    "a dispatch key for which no kernels are registered",
    "This dispatch key exists, but opgen does not generate a register file for it. Register kernels for it by "
    "hand. A kernel at an Autograd key is a derivative formula; the generated entry leaves that key free for it.",
    Example(_FOO + "  dispatch:\n    XLA: foo\n", _FOO + "  dispatch:\n    CPU: foo\n"),
    ("V040",),
)
E0211 = Code(
    "E0211",
    "a bad kernel name",
    "A kernel is a C++ function. Its name consists of letters, digits and '_', does not begin with a digit and "
    "is not a C++ keyword. At most two namespaces may precede it ('a::b::kernel').",
    Example(_FOO + "  dispatch:\n    CPU: my kernel\n", _FOO + "  dispatch:\n    CPU: my_kernel\n"),
    ("V041", "V149", "A55", "A56"),
)
E0212 = Code(
    "E0212",
    "a redundant dispatch table",
    "An entry without a dispatch table has this one by default: CompositeImplicitAutograd with a kernel named "
    "after the operator. Remove the table.",
    Example(_FOO + "  dispatch:\n    CompositeImplicitAutograd: foo\n", _FOO),
    ("V042",),
    of_torchgen=True,
)
E0213 = Code(
    "E0213",
    "a composite kernel with a name of its own",
    "If the only kernel is a CompositeImplicitAutograd kernel, it has the operator's name, and the table is left "
    "out. (A kernel for symbolic sizes, with '_symint' in its name, must be listed.)",
    Example(_FOO + "  dispatch:\n    CompositeImplicitAutograd: foo_impl\n", _FOO),
    ("V043",),
    of_torchgen=True,
)
E0214 = Code(
    "E0214",
    "a factory without a dispatch table",
    "An operator that creates a tensor must not be decomposed, so its entry must list its kernels, usually one "
    "under CompositeExplicitAutograd. An operator creates a tensor if its name begins with 'new_' or ends in "
    "'_like', or if it has tensor options and no tensor argument.",
    Example(
        "- func: new_foo(Tensor self) -> Tensor\n",
        "- func: new_foo(Tensor self) -> Tensor\n  dispatch:\n    CompositeExplicitAutograd: new_foo\n",
    ),
    ("V044",),
    of_torchgen=True,
)
E0215 = Code(
    "E0215",
    "composite keys that exclude each other",
    "One composite kernel serves all backends, so a second one would never be called. Only "
    "CompositeImplicitAutogradNestedTensor can be combined with CompositeImplicitAutograd or "
    "CompositeExplicitAutograd.",
    Example(
        _FOO
        + "  dispatch:\n    CompositeImplicitAutograd: foo\n    CompositeExplicitAutograd: foo2\n",
        _FOO + "  dispatch:\n    CompositeExplicitAutograd: foo2\n",
    ),
    ("V045",),
    of_torchgen=True,
)
E0216 = Code(
    "E0216",
    "a dispatch table without effect",
    "With 'manual_kernel_registration: True' you register the kernels by hand, so a dispatch table has no "
    "effect. Remove one of the two.",
    Example(
        _FOO + "  manual_kernel_registration: True\n  dispatch:\n    CPU: foo\n",
        _FOO + "  dispatch:\n    CPU: foo\n",
    ),
    ("V036",),
)
E0217 = Code(
    "E0217",
    "a kernel that the delegate already provides",
    "The kernels for CPU, CUDA, MPS, XPU and MTIA come from the structured operator that 'structured_delegate' "
    "names. Remove them from this table.",
    Example(
        _FOO + "  structured_delegate: foo.out\n  dispatch:\n    CPU: foo\n",
        _FOO + "  structured_delegate: foo.out\n  dispatch:\n    SparseCPU: foo\n",
    ),
    ("V059",),
)
E0218 = Code(
    "E0218",
    "a dispatch key twice",
    "Each key has one kernel. If a key stood in two rows, the first kernel would be lost without a warning.",
    Example(
        _FOO + "  dispatch:\n    CPU: foo\n    CPU, CUDA: bar\n",
        _FOO + "  dispatch:\n    CPU: foo\n    CUDA: bar\n",
    ),
    ("A53", "A54"),
)
E0219 = Code(
    "E0219",
    "kernels of one entry in two namespaces",
    "The kernels of an operator are declared together, in one namespace. A kernel written without a namespace "
    "belongs to the operator's own ('at' for 'aten').",
    Example(
        _FOO + "  dispatch:\n    CPU: a::foo\n    CUDA: b::foo\n",
        _FOO + "  dispatch:\n    CPU: a::foo\n    CUDA: a::foo\n",
    ),
    ("V148",),
    of_torchgen=True,
)
E0220 = Code(
    "E0220",
    "an unknown ufunc key",
    "Inner loops are written under Generic, ScalarOnly, CPUScalar, CPUVector, CUDAFunctor, "
    "CUDAFunctorOnOther or CUDAFunctorOnSelf.",
    Example(
        _UFUNC + "  ufunc_inner_loop:\n    Genric: foo (All)\n",
        _UFUNC + "  ufunc_inner_loop:\n    Generic: foo (All)\n",
    ),
    ("V049", "V051"),
)
E0221 = Code(
    "E0221",
    "not of the form name (dtypes)",
    "An inner loop is the name of a C++ function, a space, and the element types that it serves in parentheses: "
    "'add (All, Bool)'.",
    Example(_UFUNC + "  ufunc_inner_loop: foo All\n", _UFUNC + "  ufunc_inner_loop: foo (All)\n"),
    ("V052", "V053", "C05", "C06"),
)
E0222 = Code(
    "E0222",
    "an unknown element type",
    "Element types are Byte, Char, Short, Int, Long, Half, Float, Double, ComplexHalf, ComplexFloat, "
    "ComplexDouble, Bool, BFloat16 and the Float8 types, or one of the classes Integral, Floating, Complex, "
    "All, AllAndComplex, FloatingAndComplex.",
    Example(_UFUNC + "  ufunc_inner_loop: foo (Al)\n", _UFUNC + "  ufunc_inner_loop: foo (All)\n"),
    ("V054",),
)
E0223 = Code(
    "E0223",
    "a ufunc that is not structured",
    "Inner loops become the kernels of a structured out variant, so they need 'structured: True' on an operator "
    "with out arguments.",
    Example(_OUT + "  ufunc_inner_loop: foo (All)\n", _UFUNC + "  ufunc_inner_loop: foo (All)\n"),
    ("V055",),
)
E0224 = Code(
    "E0224",
    "a ufunc with a kernel of its own",
    "opgen generates the kernels for CPU and CUDA from the inner loops, so the dispatch table must not list them.",
    Example(
        _STRUCTURED + "  ufunc_inner_loop: foo (All)\n", _UFUNC + "  ufunc_inner_loop: foo (All)\n"
    ),
    ("V057",),
)
E0225 = Code(
    "E0225",
    "a kernel namespace that ends in native",
    "Kernels live in the namespace 'native' inside the one that you write, so leave '::native' out: 'at::foo' "
    "means at::native::foo, and 'at::native::foo' would mean at::native::native::foo.",
    Example(
        _FOO + "  dispatch:\n    CPU: at::native::foo\n", _FOO + "  dispatch:\n    CPU: at::foo\n"
    ),
    ("A57",),
)
E0226 = Code(
    "E0226",
    "an invalid name of a Python module",
    "'python_module' names the submodule in which Python finds the function. It consists of identifiers "
    "separated by dots, and none of them is a Python keyword. It becomes part of the names of Python files.",
    Example(_FOO + "  python_module: ../nn\n", _FOO + "  python_module: nn\n"),
)
E0230 = Code(
    "E0230",
    "precomputed without structured",
    "The meta function of a structured operator computes these values. Write the key on the entry that has "
    "'structured: True'.",
    Example(
        _FOO + "  precomputed:\n  - dim -> int dim\n",
        _STRUCTURED + "  precomputed:\n  - dim -> int dim\n",
    ),
    ("V031",),
)
E0231 = Code(
    "E0231",
    "not a precomputed parameter",
    "Each line replaces one argument ('dim -> int dim, int size'), and no argument is replaced twice. Only the "
    "last line may have no '->'; it adds parameters.",
    Example(
        _STRUCTURED + "  precomputed:\n  - int x\n  - dim -> int dim\n",
        _STRUCTURED + "  precomputed:\n  - dim -> int dim\n  - int x\n",
    ),
    ("V062", "V063", "V066", "C09"),
)
E0232 = Code(
    "E0232",
    "a precomputed name in capitals",
    "The name in upper case becomes a template parameter, so the name itself must not be all upper case.",
    Example(
        _STRUCTURED + "  precomputed:\n  - dim -> int DIM\n",
        _STRUCTURED + "  precomputed:\n  - dim -> int dim\n",
    ),
    ("V064", "V065"),
)
E0233 = Code(
    "E0233",
    "not an argument that can be replaced",
    "The name before '->' must be an argument of the schema, other than self and the out arguments.",
    Example(
        _STRUCTURED + "  precomputed:\n  - din -> int dim\n",
        _STRUCTURED + "  precomputed:\n  - dim -> int dim\n",
    ),
    ("A64", "A65"),
)
E0240 = Code(
    "E0240",
    "an out variant as a method",
    "Operators with out arguments are free functions only. Leave 'variants' out.",
    Example(_OUT + "  variants: function, method\n", _OUT + "  variants: function\n"),
    ("V102",),
)
E0241 = Code(
    "E0241",
    "structured on an operator without out arguments",
    "'structured: True' belongs on the out variant, whose kernel serves all variants. The other variants have "
    "'structured_delegate: NAME.out'. If there is no out variant, the functional operator itself may be "
    "structured. torchgen does not support that, so --strict-torchgen reports it.",
    Example(
        "- func: foo_(Tensor(a!) self) -> Tensor(a!)\n  structured: True\n",
        "- func: foo_(Tensor(a!) self) -> Tensor(a!)\n  structured_delegate: foo.out\n",
    ),
    ("V056", "V103"),
)
E0242 = Code(
    "E0242",
    "a structured operator without device guard",
    "Structured kernels always run under a device guard, so 'device_guard: False' would have no effect.",
    Example(
        _FOO + "  structured_delegate: foo.out\n  device_guard: False\n",
        _FOO + "  structured_delegate: foo.out\n",
    ),
    ("V104", "V106"),
)
E0243 = Code(
    "E0243",
    "an out variant that delegates",
    "'structured_delegate' belongs on the functional and in-place variants. The out variant itself has "
    "'structured: True'.",
    Example(_OUT + "  structured_delegate: foo.out\n", _OUT + "  structured: True\n"),
    ("V105", "V107"),
)
E0244 = Code(
    "E0244",
    "not an argument with a default",
    "'cpp_no_default_args' lists arguments whose default is left out of the C++ signature, so each of them must "
    "have a default in the schema.",
    Example(
        "- func: foo(Tensor self, int x) -> Tensor\n  cpp_no_default_args: [x]\n",
        "- func: foo(Tensor self, int x=1) -> Tensor\n  cpp_no_default_args: [x]\n",
    ),
    ("V108",),
)
E0245 = Code(
    "E0245",
    "a base class without structured",
    "'structured_inherits' names the base class of a meta struct, and only an entry with 'structured: True' "
    "has one.",
    Example(
        _FOO + "  structured_inherits: TensorIteratorBase\n",
        _STRUCTURED + "  structured_inherits: TensorIteratorBase\n",
    ),
    ("V109",),
)
E0246 = Code(
    "E0246",
    "a _foreach operator with a device check",
    "Operators whose names begin with '_foreach' accept lists of tensors on several devices and then use a slow "
    "path. Write 'device_check: NoCheck'.",
    Example(
        "- func: _foreach_foo(Tensor[] self) -> Tensor[]\n",
        "- func: _foreach_foo(Tensor[] self) -> Tensor[]\n  device_check: NoCheck\n",
    ),
    ("V110",),
    of_torchgen=True,
)
E0247 = Code(
    "E0247",
    "a random operator without its tag",
    "An operator that draws random numbers has the tag nondeterministic_seeded. opgen requires it for operators "
    "that take a Generator, that have 'rand' in their name (except '_philox_'), or that have 'dropout' in their "
    "name or in an argument's name (except 'backward' operators).",
    Example(
        "- func: foorand(Tensor self) -> Tensor\n",
        "- func: foorand(Tensor self) -> Tensor\n  tags: nondeterministic_seeded\n",
    ),
    ("V111",),
    of_torchgen=True,
)
E0248 = Code(
    "E0248",
    "a method in a Python module",
    "'python_module' puts a function into a module such as torch.nn or torch.linalg. A method belongs to Tensor "
    "instead.",
    Example(
        _FOO + "  python_module: nn\n  variants: function, method\n", _FOO + "  python_module: nn\n"
    ),
    ("V029",),
)
E0249 = Code(
    "E0249",
    "const references to out arguments",
    "'use_const_ref_for_mutable_tensors' is for old operators that write their arguments in place. Out arguments "
    "have signatures of their own. torchgen rejects the key since PyTorch 2.7; opgen accepts it when the "
    "tags.yaml is that of an older release.",
    Example(_OUT + "  use_const_ref_for_mutable_tensors: True\n", _OUT),
    ("V014",),
    of_torchgen=True,
)

CODES: tuple[Code, ...] = tuple(v for v in list(vars().values()) if isinstance(v, Code))
