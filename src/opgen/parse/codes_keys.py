"""The records of E02xx: what can be wrong with the keys of an entry."""

from __future__ import annotations

from opgen.diagnostics.codes import Code

_FOO = "- func: foo(Tensor self) -> Tensor\n"
_OUT = "- func: foo.out(Tensor self, int dim, *, Tensor(a!) out) -> Tensor(a!)\n"
_STRUCTURED = _OUT + "  structured: True\n  dispatch:\n    CPU: foo_out\n"
_UFUNC = _OUT + "  structured: True\n"

E0201 = Code(
    "E0201",
    "an unknown key",
    "An entry has only keys that the language knows. A misspelt one would do nothing.",
    _FOO + "  variant: method\n",
    _FOO + "  variants: method\n",
    ("V058", "A78"),
)
E0202 = Code(
    "E0202",
    "an entry without func",
    "Every entry has the key 'func' with the operator's schema: 'func: foo(Tensor self) -> Tensor'.",
    "- variants: function\n",
    _FOO + "  variants: function\n",
    ("V006", "V007"),
)
E0203 = Code(
    "E0203",
    "a value of the wrong type",
    "The value of this key is of another type: true or false, text, a list or a mapping. YAML takes "
    "'True', 'yes' and 'on' for truth values and '3' for a number; quotes make them text.",
    _FOO + "  device_guard: NoCheck\n",
    _FOO + "  device_check: NoCheck\n",
    (
        *("V008", "V012", "V013", "V015", "V017", "V018", "V019", "V020", "V022", "V023", "V026"),
        *("V028", "V030", "V032", "V035", "V038", "V046", "V048", "V050", "V060", "V061"),
        *("C07", "C08", "C10", "C11"),
    ),
)
E0204 = Code(
    "E0204",
    "an unknown variant",
    "Variants are 'function', a free function, and 'method', a member of Tensor; both are written "
    "'function, method'.",
    _FOO + "  variants: functional\n",
    _FOO + "  variants: function\n",
    ("V016",),
)
E0205 = Code(
    "E0205",
    "an unknown device check",
    "'device_check' is 'ExactSame' (the default: all tensors have to be on one device) or 'NoCheck'.",
    _FOO + "  device_check: nocheck\n",
    _FOO + "  device_check: NoCheck\n",
    ("V021",),
)
E0206 = Code(
    "E0206",
    "a namespace where none can be",
    "Operators and classes named here are looked for in the entry's own namespace: write the name "
    "without '::'.",
    _FOO + "  structured_delegate: a::foo.out\n",
    _FOO + "  structured_delegate: foo.out\n",
    ("V024", "V027", "C04"),
)
E0207 = Code(
    "E0207",
    "a bad base class",
    "'structured_inherits' is the name of the C++ class that the meta struct derives from, usually "
    "'TensorIteratorBase'.",
    _STRUCTURED + "  structured_inherits: ''\n",
    _STRUCTURED + "  structured_inherits: TensorIteratorBase\n",
    ("A62",),
)
E0208 = Code(
    "E0208",
    "an unknown tag",
    "Tags are declared in tags.yaml beside the schema file; without that file PyTorch's are known.",
    _FOO + "  tags: pointwize\n",
    _FOO + "  tags: pointwise\n",
    ("V033", "V034"),
)
E0209 = Code(
    "E0209",
    "an unknown dispatch key",
    "The keys of a dispatch table are names of dispatch keys, several with ', ' between them: 'CPU, CUDA'.",
    _FOO + "  dispatch:\n    CPUU: foo\n",
    _FOO + "  dispatch:\n    CPU: foo\n",
    ("V039",),
)
E0210 = Code(
    "E0210",
    "a dispatch key that takes no kernels",
    "This dispatch key exists, but no register file is made for it. Kernels for it are registered by hand; for an "
    "Autograd key they are a formula, for which the generated entry makes way.",
    _FOO + "  dispatch:\n    XLA: foo\n",
    _FOO + "  dispatch:\n    CPU: foo\n",
    ("V040",),
)
E0211 = Code(
    "E0211",
    "a bad kernel name",
    "A kernel is a C++ function: letters, digits and '_', not beginning with a digit, no C++ keyword, after "
    "at most two namespaces ('a::b::kernel').",
    _FOO + "  dispatch:\n    CPU: my kernel\n",
    _FOO + "  dispatch:\n    CPU: my_kernel\n",
    ("V041", "V149", "A55", "A56"),
)
E0212 = Code(
    "E0212",
    "a dispatch table that says nothing",
    "An entry without a dispatch table has exactly this one: CompositeImplicitAutograd and a kernel named "
    "like the operator. Remove the table.",
    _FOO + "  dispatch:\n    CompositeImplicitAutograd: foo\n",
    _FOO,
    ("V042",),
    of_torchgen=True,
)
E0213 = Code(
    "E0213",
    "a composite kernel with a name of its own",
    "If the only kernel is the CompositeImplicitAutograd one, it is named like the operator, and the table "
    "is left out. (A kernel for symbolic sizes, with '_symint' in its name, is written.)",
    _FOO + "  dispatch:\n    CompositeImplicitAutograd: foo_impl\n",
    _FOO,
    ("V043",),
    of_torchgen=True,
)
E0214 = Code(
    "E0214",
    "a factory without a dispatch table",
    "An operator that makes a tensor (its name begins with 'new_' or ends in '_like', or it has tensor "
    "options and no tensor argument) must not be decomposed, so it says which kernels it has, usually a "
    "CompositeExplicitAutograd one.",
    "- func: new_foo(Tensor self) -> Tensor\n",
    "- func: new_foo(Tensor self) -> Tensor\n  dispatch:\n    CompositeExplicitAutograd: new_foo\n",
    ("V044",),
    of_torchgen=True,
)
E0215 = Code(
    "E0215",
    "composite keys that exclude each other",
    "One composite kernel serves all backends, so a second would never be called. Only "
    "CompositeImplicitAutogradNestedTensor can stand beside CompositeImplicitAutograd or "
    "CompositeExplicitAutograd.",
    _FOO + "  dispatch:\n    CompositeImplicitAutograd: foo\n    CompositeExplicitAutograd: foo2\n",
    _FOO + "  dispatch:\n    CompositeExplicitAutograd: foo2\n",
    ("V045",),
    of_torchgen=True,
)
E0216 = Code(
    "E0216",
    "a dispatch table that nobody reads",
    "With 'manual_kernel_registration: True' kernels are registered by hand, so a dispatch table has no "
    "effect. Remove one of them.",
    _FOO + "  manual_kernel_registration: True\n  dispatch:\n    CPU: foo\n",
    _FOO + "  dispatch:\n    CPU: foo\n",
    ("V036",),
)
E0217 = Code(
    "E0217",
    "a kernel where there is a delegate",
    "The kernels of CPU, CUDA, MPS, XPU and MTIA come from the structured operator that is delegated to.",
    _FOO + "  structured_delegate: foo.out\n  dispatch:\n    CPU: foo\n",
    _FOO + "  structured_delegate: foo.out\n  dispatch:\n    SparseCPU: foo\n",
    ("V059",),
)
E0218 = Code(
    "E0218",
    "a dispatch key twice",
    "Each key has one kernel. Of two rows the first would be lost without a word.",
    _FOO + "  dispatch:\n    CPU: foo\n    CPU, CUDA: bar\n",
    _FOO + "  dispatch:\n    CPU: foo\n    CUDA: bar\n",
    ("A53", "A54"),
)
E0219 = Code(
    "E0219",
    "kernels of one entry in two namespaces",
    "The kernels of an operator are declared together, in one namespace. A kernel without one stands in that "
    "of the operator ('at' for 'aten').",
    _FOO + "  dispatch:\n    CPU: a::foo\n    CUDA: b::foo\n",
    _FOO + "  dispatch:\n    CPU: a::foo\n    CUDA: a::foo\n",
    ("V148",),
    of_torchgen=True,
)
E0220 = Code(
    "E0220",
    "an unknown ufunc key",
    "Inner loops are written under Generic, ScalarOnly, CPUScalar, CPUVector, CUDAFunctor, "
    "CUDAFunctorOnOther or CUDAFunctorOnSelf.",
    _UFUNC + "  ufunc_inner_loop:\n    Genric: foo (All)\n",
    _UFUNC + "  ufunc_inner_loop:\n    Generic: foo (All)\n",
    ("V049", "V051"),
)
E0221 = Code(
    "E0221",
    "not of the form name (dtypes)",
    "An inner loop is the name of a C++ function, a space and the element types it is for, in parentheses: "
    "'add (All, Bool)'.",
    _UFUNC + "  ufunc_inner_loop: foo All\n",
    _UFUNC + "  ufunc_inner_loop: foo (All)\n",
    ("V052", "V053", "C05", "C06"),
)
E0222 = Code(
    "E0222",
    "an unknown element type",
    "Element types are Byte, Char, Short, Int, Long, Half, Float, Double, ComplexHalf, ComplexFloat, "
    "ComplexDouble, Bool, BFloat16 and the Float8 types, or one of the classes Integral, Floating, Complex, "
    "All, AllAndComplex, FloatingAndComplex.",
    _UFUNC + "  ufunc_inner_loop: foo (Al)\n",
    _UFUNC + "  ufunc_inner_loop: foo (All)\n",
    ("V054",),
)
E0223 = Code(
    "E0223",
    "a ufunc that is not structured",
    "Inner loops make the kernels of a structured out variant: 'structured: True' on an operator with out "
    "arguments.",
    _OUT + "  ufunc_inner_loop: foo (All)\n",
    _UFUNC + "  ufunc_inner_loop: foo (All)\n",
    ("V055",),
)
E0224 = Code(
    "E0224",
    "a ufunc with a kernel of its own",
    "The kernels for CPU and CUDA are made of the inner loops, so they are not written in the dispatch table.",
    _STRUCTURED + "  ufunc_inner_loop: foo (All)\n",
    _UFUNC + "  ufunc_inner_loop: foo (All)\n",
    ("V057",),
)
E0225 = Code(
    "E0225",
    "a kernel namespace that ends in native",
    "Kernels stand in the namespace 'native' inside of the one that is written, so '::native' is left out: "
    "'at::foo' is at::native::foo, and 'at::native::foo' would be at::native::native::foo.",
    _FOO + "  dispatch:\n    CPU: at::native::foo\n",
    _FOO + "  dispatch:\n    CPU: at::foo\n",
    ("A57",),
)
E0226 = Code(
    "E0226",
    "a Python module of a bad name",
    "'python_module' names the submodule that Python finds the function in: identifiers with dots between them, "
    "none of them a keyword of Python. It becomes part of Python's files and of their names.",
    _FOO + "  python_module: ../nn\n",
    _FOO + "  python_module: nn\n",
)
E0230 = Code(
    "E0230",
    "precomputed without structured",
    "Values are precomputed by the meta function of a structured operator: write the key on the entry that "
    "has 'structured: True'.",
    _FOO + "  precomputed:\n  - dim -> int dim\n",
    _STRUCTURED + "  precomputed:\n  - dim -> int dim\n",
    ("V031",),
)
E0231 = Code(
    "E0231",
    "not a precomputed parameter",
    "A line replaces an argument, 'dim -> int dim, int size', each argument once; only the last line may "
    "have no '->', and adds parameters.",
    _STRUCTURED + "  precomputed:\n  - int x\n  - dim -> int dim\n",
    _STRUCTURED + "  precomputed:\n  - dim -> int dim\n  - int x\n",
    ("V062", "V063", "V066", "C09"),
)
E0232 = Code(
    "E0232",
    "a precomputed name in capitals",
    "The upper-case form of the name becomes a template parameter, so the name itself has to differ from it.",
    _STRUCTURED + "  precomputed:\n  - dim -> int DIM\n",
    _STRUCTURED + "  precomputed:\n  - dim -> int dim\n",
    ("V064", "V065"),
)
E0233 = Code(
    "E0233",
    "not an argument that can be replaced",
    "What stands before '->' is an argument of the schema, other than self and the out arguments.",
    _STRUCTURED + "  precomputed:\n  - din -> int dim\n",
    _STRUCTURED + "  precomputed:\n  - dim -> int dim\n",
    ("A64", "A65"),
)
E0240 = Code(
    "E0240",
    "an out variant as a method",
    "Operators with out arguments are free functions only: leave 'variants' out.",
    _OUT + "  variants: function, method\n",
    _OUT + "  variants: function\n",
    ("V102",),
)
E0241 = Code(
    "E0241",
    "structured on an operator without out arguments",
    "'structured: True' stands on the out variant, whose kernel serves all variants. The others have "
    "'structured_delegate: NAME.out'. Without an out variant the functional operator itself may be structured; "
    "torchgen does not know that, so --strict-torchgen refuses it.",
    "- func: foo_(Tensor(a!) self) -> Tensor(a!)\n  structured: True\n",
    "- func: foo_(Tensor(a!) self) -> Tensor(a!)\n  structured_delegate: foo.out\n",
    ("V056", "V103"),
)
E0242 = Code(
    "E0242",
    "a structured operator without device guard",
    "Structured kernels always run under a device guard, so 'device_guard: False' would have no effect.",
    _FOO + "  structured_delegate: foo.out\n  device_guard: False\n",
    _FOO + "  structured_delegate: foo.out\n",
    ("V104", "V106"),
)
E0243 = Code(
    "E0243",
    "an out variant that delegates",
    "'structured_delegate' stands on the functional and in-place variants. The out variant itself has "
    "'structured: True'.",
    _OUT + "  structured_delegate: foo.out\n",
    _OUT + "  structured: True\n",
    ("V105", "V107"),
)
E0244 = Code(
    "E0244",
    "not an argument with a default",
    "'cpp_no_default_args' lists arguments whose default C++ does not get, so each of them has one.",
    "- func: foo(Tensor self, int x) -> Tensor\n  cpp_no_default_args: [x]\n",
    "- func: foo(Tensor self, int x=1) -> Tensor\n  cpp_no_default_args: [x]\n",
    ("V108",),
)
E0245 = Code(
    "E0245",
    "a base class without structured",
    "'structured_inherits' names the base class of a meta struct, and only an entry with 'structured: True' "
    "has one.",
    _FOO + "  structured_inherits: TensorIteratorBase\n",
    _STRUCTURED + "  structured_inherits: TensorIteratorBase\n",
    ("V109",),
)
E0246 = Code(
    "E0246",
    "a _foreach operator with a device check",
    "Operators whose names begin with '_foreach' accept lists of tensors of several devices, and fall back to "
    "a slow path: 'device_check: NoCheck'.",
    "- func: _foreach_foo(Tensor[] self) -> Tensor[]\n",
    "- func: _foreach_foo(Tensor[] self) -> Tensor[]\n  device_check: NoCheck\n",
    ("V110",),
    of_torchgen=True,
)
E0247 = Code(
    "E0247",
    "a random operator without its tag",
    "An operator that draws random numbers has the tag nondeterministic_seeded. It is demanded of those that "
    "take a Generator, have 'rand' in their name (but for '_philox_'), or have 'dropout' in their name or an argument's (but for "
    "'backward' operators).",
    "- func: foorand(Tensor self) -> Tensor\n",
    "- func: foorand(Tensor self) -> Tensor\n  tags: nondeterministic_seeded\n",
    ("V111",),
    of_torchgen=True,
)
E0248 = Code(
    "E0248",
    "a method in a Python module",
    "'python_module' puts a function into torch.nn, torch.linalg and the like; a method belongs to Tensor.",
    _FOO + "  python_module: nn\n  variants: function, method\n",
    _FOO + "  python_module: nn\n",
    ("V029",),
)
E0249 = Code(
    "E0249",
    "const references to out arguments",
    "'use_const_ref_for_mutable_tensors' is for old operators that write their arguments in place; out "
    "arguments have signatures of their own. torchgen refuses it since PyTorch 2.7; beside the tags of an "
    "older release it is accepted.",
    _OUT + "  use_const_ref_for_mutable_tensors: True\n",
    _OUT,
    ("V014",),
    of_torchgen=True,
)

CODES: tuple[Code, ...] = tuple(v for v in list(vars().values()) if isinstance(v, Code))
