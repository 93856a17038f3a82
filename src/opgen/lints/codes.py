"""The records of the lints. Source of the conventions (W1002 to W1013, W1017 and W1018): the ATen native README."""

from __future__ import annotations

from opgen.diagnostics.codes import Code
from opgen.lints import codes_libraries

_ADD_OUT = (
    "- func: add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)\n"
    "  dispatch:\n    CPU: add_out\n"
)
_ADD = "- func: add(Tensor self, Tensor other) -> Tensor\n  dispatch:\n    CPU: add\n"

W1002 = Code(
    "W1002",
    "in-place without functional",
    "An in-place operator has a functional sibling, which returns the result and leaves its argument "
    "as it is: a graph without writes (functionalization, export) can then use it. Without one, calls "
    "of this operator cannot be expressed there. Write the sibling, or have it made by 'autogen'.",
    "- func: foo_(Tensor(a!) self) -> Tensor(a!)\n",
    "- func: foo_(Tensor(a!) self) -> Tensor(a!)\n- func: foo(Tensor self) -> Tensor\n",
)
W1003 = Code(
    "W1003",
    "functional without out=, which other overloads have",
    "Some overloads of this operator write into a tensor that the caller gives (out=), and this one "
    "has no such variant. In Python it depends on the types of the other arguments, then, whether "
    "out= may be said. Write the out variant, or have it made by 'autogen'.",
    _ADD + _ADD_OUT + "- func: add.Scalar(Tensor self, Scalar other) -> Tensor\n",
    _ADD
    + _ADD_OUT
    + "- func: add.Scalar(Tensor self, Scalar other) -> Tensor\n  dispatch:\n    CPU: add\n"
    "  autogen: add.Scalar_out\n",
)
W1004 = Code(
    "W1004",
    "an overload name that only repeats the types",
    "The name of an overload is for ever: backends register for it, and models are saved with it. One "
    "that lists the types of all arguments says what the schema says anyway, and is wrong when the "
    "schema grows. Say what the overload does, or name the first argument that differs.",
    "- func: foo.Tensor_Scalar(Tensor self, Scalar other) -> Tensor\n",
    "- func: foo.Scalar(Tensor self, Scalar other) -> Tensor\n",
)
W1005 = Code(
    "W1005",
    "an out argument of another name",
    "An out argument is called 'out'; several are 'out0', 'out1' and so on, or have the names of the "
    "results that they take. Bindings find them by these names.",
    "- func: foo.out(Tensor self, *, Tensor(a!) result) -> Tensor(a!)\n",
    "- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n",
)
W1006 = Code(
    "W1006",
    "an argument that is renamed between variants",
    "Variants of one operator take the same arguments under the same names: whoever adds '_' or out= "
    "to a call need not change its keywords. With other names they are no variants to opgen either: "
    "they are in no group, and nothing is generated from one for the other.",
    "- func: foo(Tensor input) -> Tensor\n"
    "- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n",
    "- func: foo(Tensor self) -> Tensor\n"
    "- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n",
)
W1007 = Code(
    "W1007",
    "a composite kernel that nothing reaches",
    "A kernel for one backend is called before one for all of them, and of two that are for all the "
    "first in this order: CompositeExplicitAutogradNonFunctional (which a structured operator has by "
    "itself), CompositeExplicitAutograd, CompositeImplicitAutograd. Neither a key in use nor a new "
    "backend gets this kernel. 'opgen explain' shows the table.",
    "- func: foo(Tensor self) -> Tensor\n  structured_delegate: foo.out\n"
    "  dispatch:\n    CompositeExplicitAutograd: foo_slow\n"
    "- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
    "  dispatch:\n    CPU: foo_out\n",
    "- func: foo(Tensor self) -> Tensor\n  structured_delegate: foo.out\n"
    "- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
    "  dispatch:\n    CPU: foo_out\n",
)
W1008 = Code(
    "W1008",
    "a kernel of one backend under a key for all",
    "A composite key registers its kernel for every backend there is and will be. The name of this "
    "kernel says that it is for one, or that it is the loop behind a DispatchStub, which works only "
    "for the backends that registered a loop. List it under the keys that it works for.",
    "- func: foo(Tensor self) -> Tensor\n  dispatch:\n    CompositeExplicitAutograd: foo_cpu\n"
    "  autogen: foo.out\n",
    "- func: foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n  autogen: foo.out\n",
)
W1009 = Code(
    "W1009",
    "a dispatch key that no backend covers",
    "Kernels are chosen by the keys of the tensors of a call. This target has no backend whose tensors "
    "have this key, so what is registered for it is reached only with a backend from elsewhere. It is "
    "reported once for each key.",
    "- func: foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n    CUDA: foo_cuda\n"
    "  autogen: foo.out\n",
    "- func: foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n  autogen: foo.out\n",
)
W1010 = Code(
    "W1010",
    "some results have names, and some have none",
    "Names of results are the fields of the named tuple that Python returns. If only some have names, "
    "the others can be had by position only, and no named tuple is made.",
    "- func: foo(Tensor self) -> (Tensor values, Tensor)\n",
    "- func: foo(Tensor self) -> (Tensor values, Tensor indices)\n",
)
W1011 = Code(
    "W1011",
    "a kernel for a backend that no call can say",
    "The keys of a call come from its tensors or generators, or from dtype, layout, device and "
    "pin_memory together. This operator takes none of them, so that a call has the key of no backend "
    "and only a composite kernel can be reached.",
    "- func: foo(int size) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n",
    "- func: foo(int size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n",
)
W1012 = Code(
    "W1012",
    "a view under the key for operators that are none",
    "CompositeExplicitAutogradNonFunctional is for kernels of operators that return new tensors, "
    "though they call operators that return views; backends on a graph without views leave it out. An "
    "operator that returns a view itself goes under CompositeExplicitAutograd.",
    "- func: foo(Tensor(a) self) -> Tensor(a)\n"
    "  dispatch:\n    CompositeExplicitAutogradNonFunctional: foo\n"
    "- func: foo_copy(Tensor self) -> Tensor\n"
    "  dispatch:\n    CompositeExplicitAutogradNonFunctional: foo_copy\n  tags: view_copy\n",
    "- func: foo(Tensor(a) self) -> Tensor(a)\n  dispatch:\n    CompositeExplicitAutograd: foo\n"
    "- func: foo_copy(Tensor self) -> Tensor\n"
    "  dispatch:\n    CompositeExplicitAutogradNonFunctional: foo_copy\n  tags: view_copy\n",
)
W1013 = Code(
    "W1013",
    "two rows with the same kernel",
    "Keys that have the same kernel stand in one row, 'CPU, CUDA: foo': who reads the table then sees "
    "that they are served by the same code.",
    "- func: foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo\n    Meta: foo\n"
    "  autogen: foo.out\n",
    "- func: foo(Tensor self) -> Tensor\n  dispatch:\n    CPU, Meta: foo\n  autogen: foo.out\n",
)
W1017 = Code(
    "W1017",
    "a factory with a part of TensorOptions",
    "An operator that makes a tensor from nothing takes dtype, layout, device and pin_memory, all four "
    "and keyword-only: then they are TensorOptions in C++, and choose the backend. A part of them is "
    "ordinary arguments, by which no backend is chosen.",
    "- func: foo(int size, *, ScalarType? dtype=None, Device? device=None) -> Tensor\n",
    "- func: foo(int size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor\n  dispatch:\n    CompositeExplicitAutograd: foo\n",
)
W1018 = Code(
    "W1018",
    "a method that is nobody's to call",
    "Methods of Tensor are for the operators that people call on tensors. A gradient ('_backward'), or "
    "an operator of one library ('cudnn_', 'mkldnn_', 'miopen_'), is called by other operators: as a "
    "function.",
    "- func: foo_backward(Tensor self, Tensor grad) -> Tensor\n  variants: function, method\n",
    "- func: foo_backward(Tensor self, Tensor grad) -> Tensor\n",
)

_FOO = "- func: foo.out(Tensor self, *, Tensor(a!) result) -> Tensor(a!)\n"

W1014 = Code(
    "W1014",
    "a comment that allows what is no warning",
    "'# opgen: allow(CODE) reason' silences a warning for the entry that it stands in or right above, "
    "or for the file if it stands before all entries and a blank line. Errors cannot be allowed, other "
    "codes there are none, and without a code in parentheses the comment allows nothing.",
    "# opgen: allow(E0307) our own type\n- func: foo(Tensor self) -> Tensor\n",
    "- func: foo(Tensor self) -> Tensor\n",
)
W1015 = Code(
    "W1015",
    "a comment that allows without a reason",
    "Whoever reads '# opgen: allow(CODE)' wants to know why the warning does not matter here. The "
    "reason stands behind the parenthesis.",
    f"# opgen: allow(W1005)\n{_FOO}",
    f"# opgen: allow(W1005) callers know this name\n{_FOO}",
)
W1016 = Code(
    "W1016",
    "a comment that allows what is not there",
    "The warning that '# opgen: allow(CODE)' is for is not reported for this entry (or this file). "
    "Maybe it was put right: then the comment can go. Maybe the comment stands at another entry: it "
    "is for the one that it stands in or right above.",
    "# opgen: allow(W1005) callers know this name\n- func: foo(Tensor self) -> Tensor\n",
    "- func: foo(Tensor self) -> Tensor\n",
)

# Those that are looked for in every run; the others depend on the target and on options.
ALWAYS = frozenset(
    str(code)
    for code in (
        *(W1002, W1003, W1004, W1005, W1006, W1007, W1008),
        *(W1010, W1011, W1012, W1013, W1017, W1018),
        *(code for code in codes_libraries.CODES if code.target != "torch"),
    )
)

CODES = (
    W1002,
    W1003,
    W1004,
    W1005,
    W1006,
    W1007,
    W1008,
    W1009,
    W1010,
    W1011,
    W1012,
    W1013,
    W1014,
    W1015,
    W1016,
    W1017,
    W1018,
    *codes_libraries.CODES,
)
