"""Codes of the lints. Source of the conventions (W1002 to W1013, W1017 and W1018): the ATen native README."""

from __future__ import annotations

from opgen.diagnostics.codes import Code, Example
from opgen.lints import codes_libraries

_ADD_OUT = (
    "- func: add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)\n"
    "  dispatch:\n    CPU: add_out\n"
)
_ADD = "- func: add(Tensor self, Tensor other) -> Tensor\n  dispatch:\n    CPU: add\n"

W1002 = Code(
    "W1002",
    "an in-place operator without a functional sibling",
    "An in-place operator should have a functional sibling that returns the result and does not change its "
    "argument. Graphs without writes (functionalization, export) use the sibling; without it, they cannot "
    "contain calls of this operator. Write the sibling, or let opgen generate it with 'autogen'.",
    Example(
        "- func: foo_(Tensor(a!) self) -> Tensor(a!)\n",
        "- func: foo_(Tensor(a!) self) -> Tensor(a!)\n- func: foo(Tensor self) -> Tensor\n",
    ),
)
W1003 = Code(
    "W1003",
    "an overload without an out= variant that other overloads have",
    "Some overloads of this operator write into a tensor that the caller passes as out=, but this one has no "
    "such variant. In Python, the types of the other arguments then decide whether out= is allowed. Write the "
    "out variant, or let opgen generate it with 'autogen'.",
    Example(
        _ADD + _ADD_OUT + "- func: add.Scalar(Tensor self, Scalar other) -> Tensor\n",
        _ADD
        + _ADD_OUT
        + "- func: add.Scalar(Tensor self, Scalar other) -> Tensor\n  dispatch:\n    CPU: add\n"
        "  autogen: add.Scalar_out\n",
    ),
)
W1004 = Code(
    "W1004",
    "an overload name that only repeats the types",
    "The name of an overload never changes, because backends register kernels for it, and models are saved with "
    "it. A name that lists the types of all arguments repeats the schema, and is wrong when the schema grows. "
    "Name the overload after its purpose, or after the first argument that differs.",
    Example(
        "- func: foo.Tensor_Scalar(Tensor self, Scalar other) -> Tensor\n",
        "- func: foo.Scalar(Tensor self, Scalar other) -> Tensor\n",
    ),
)
W1005 = Code(
    "W1005",
    "an out argument with an unusual name",
    "An out argument is named 'out'; several are named 'out0', 'out1' and so on, or after the results that they "
    "receive. Bindings find them by these names.",
    Example(
        "- func: foo.out(Tensor self, *, Tensor(a!) result) -> Tensor(a!)\n",
        "- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n",
    ),
)
W1006 = Code(
    "W1006",
    "an argument with different names in the variants",
    "Variants of one operator have the same arguments with the same names, so that callers who switch to the "
    "in-place or out= variant need not change their keywords. If the names differ, opgen does not treat the "
    "operators as variants: they are in no group, and opgen generates none from the other.",
    Example(
        "- func: foo(Tensor input) -> Tensor\n"
        "- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n",
        "- func: foo(Tensor self) -> Tensor\n"
        "- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n",
    ),
)
W1007 = Code(
    "W1007",
    "an unreachable composite kernel",
    "A kernel for one backend takes precedence over one for all backends. Among kernels for all backends, the "
    "order is: CompositeExplicitAutogradNonFunctional (which structured operators always have), "
    "CompositeExplicitAutograd, CompositeImplicitAutograd. No key in use, and no new backend, reaches this "
    "kernel. 'opgen explain' shows the dispatch table.",
    Example(
        "- func: foo(Tensor self) -> Tensor\n  structured_delegate: foo.out\n"
        "  dispatch:\n    CompositeExplicitAutograd: foo_slow\n"
        "- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
        "  dispatch:\n    CPU: foo_out\n",
        "- func: foo(Tensor self) -> Tensor\n  structured_delegate: foo.out\n"
        "- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n"
        "  dispatch:\n    CPU: foo_out\n",
    ),
)
W1008 = Code(
    "W1008",
    "a kernel of one backend under a key for all backends",
    "A composite key registers its kernel for all backends, including future ones. The name of this kernel "
    "suggests that it is for one backend, or that it is a loop behind a DispatchStub, which works only for "
    "backends that registered a loop. List it under the keys for which it works.",
    Example(
        "- func: foo(Tensor self) -> Tensor\n  dispatch:\n    CompositeExplicitAutograd: foo_cpu\n"
        "  autogen: foo.out\n",
        "- func: foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n  autogen: foo.out\n",
    ),
)
W1009 = Code(
    "W1009",
    "a dispatch key that no backend uses",
    "The dispatcher chooses kernels by the keys of the tensors in a call. No backend of this target has tensors "
    "with this key, so only an external backend can reach the kernels registered for it. opgen reports this once "
    "for each key.",
    Example(
        "- func: foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n    CUDA: foo_cuda\n"
        "  autogen: foo.out\n",
        "- func: foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n  autogen: foo.out\n",
    ),
)
W1010 = Code(
    "W1010",
    "only some results have names",
    "The names of results are the fields of the named tuple that Python returns. If only some results have "
    "names, Python returns a plain tuple, and all results can be accessed only by position.",
    Example(
        "- func: foo(Tensor self) -> (Tensor values, Tensor)\n",
        "- func: foo(Tensor self) -> (Tensor values, Tensor indices)\n",
    ),
)
W1011 = Code(
    "W1011",
    "a backend kernel that no call can reach",
    "The keys of a call come from its tensors or generators, or from dtype, layout, device and pin_memory "
    "together. This operator has none of these arguments, so a call has no backend key and can reach only a "
    "composite kernel.",
    Example(
        "- func: foo(int size) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n",
        "- func: foo(int size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
        "bool? pin_memory=None) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n",
    ),
)
W1012 = Code(
    "W1012",
    "a view under the key for non-view operators",
    "CompositeExplicitAutogradNonFunctional is for kernels that return new tensors but call operators that "
    "return views. Backends whose graphs have no views do not use such kernels. List an operator that itself "
    "returns a view under CompositeExplicitAutograd.",
    Example(
        "- func: foo(Tensor(a) self) -> Tensor(a)\n"
        "  dispatch:\n    CompositeExplicitAutogradNonFunctional: foo\n"
        "- func: foo_copy(Tensor self) -> Tensor\n"
        "  dispatch:\n    CompositeExplicitAutogradNonFunctional: foo_copy\n  tags: view_copy\n",
        "- func: foo(Tensor(a) self) -> Tensor(a)\n  dispatch:\n    CompositeExplicitAutograd: foo\n"
        "- func: foo_copy(Tensor self) -> Tensor\n"
        "  dispatch:\n    CompositeExplicitAutogradNonFunctional: foo_copy\n  tags: view_copy\n",
    ),
)
W1013 = Code(
    "W1013",
    "two rows with the same kernel",
    "List keys that have the same kernel in one row, 'CPU, CUDA: foo', to show readers that the same code serves "
    "them.",
    Example(
        "- func: foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo\n    Meta: foo\n"
        "  autogen: foo.out\n",
        "- func: foo(Tensor self) -> Tensor\n  dispatch:\n    CPU, Meta: foo\n  autogen: foo.out\n",
    ),
)
W1017 = Code(
    "W1017",
    "a factory with only some of the tensor options",
    "An operator that creates a tensor from nothing takes dtype, layout, device and pin_memory, all four as "
    "keyword-only arguments. Only then do they become TensorOptions in C++ and choose the backend. With fewer of "
    "them, they are ordinary arguments and choose no backend.",
    Example(
        "- func: foo(int size, *, ScalarType? dtype=None, Device? device=None) -> Tensor\n",
        "- func: foo(int size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
        "bool? pin_memory=None) -> Tensor\n  dispatch:\n    CompositeExplicitAutograd: foo\n",
    ),
)
W1018 = Code(
    "W1018",
    "a method that nobody calls",
    "Methods of Tensor are for operators that people call on tensors. Only other operators call a gradient "
    "('_backward') or an operator of a backend library ('cudnn_', 'mkldnn_', 'miopen_'), and they call it as a "
    "function.",
    Example(
        "- func: foo_backward(Tensor self, Tensor grad) -> Tensor\n  variants: function, method\n",
        "- func: foo_backward(Tensor self, Tensor grad) -> Tensor\n",
    ),
)

_STRUCTURED = (
    "- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n"
    "  structured: True\n  structured_inherits: {}\n  dispatch:\n    CPU: foo_out\n"
    "- func: foo(Tensor self) -> Tensor\n  structured_delegate: foo.out\n"
)
W1034 = Code(
    "W1034",
    "a base class that may be misspelt",
    "'structured_inherits' names a class of opgen's, or a class of your own, which the generated code then includes "
    "from a header of the same name. This name is almost that of a class of opgen's. If it is your own class, allow "
    "the warning.",
    Example(_STRUCTURED.format("TensorIterator"), _STRUCTURED.format("TensorIteratorBase")),
)

_FOO = "- func: foo.out(Tensor self, *, Tensor(a!) result) -> Tensor(a!)\n"

W1014 = Code(
    "W1014",
    "a comment that allows something other than a warning",
    "'# opgen: allow(CODE) reason' silences a warning for the entry that contains it or follows it directly, or "
    "for the whole file if it comes before all entries and a blank line. It cannot silence errors. This code "
    "does not exist, or is an error, or the parentheses are missing, so the comment has no effect.",
    Example(
        "# opgen: allow(E0307) our own type\n- func: foo(Tensor self) -> Tensor\n",
        "- func: foo(Tensor self) -> Tensor\n",
    ),
)
W1015 = Code(
    "W1015",
    "a comment that allows a warning without a reason",
    "A reader of '# opgen: allow(CODE)' needs to know why the warning does not matter here. Write the reason "
    "after the closing parenthesis.",
    Example(
        f"# opgen: allow(W1005)\n{_FOO}", f"# opgen: allow(W1005) callers know this name\n{_FOO}"
    ),
)
W1016 = Code(
    "W1016",
    "a comment that allows a warning that is not reported",
    "The warning that '# opgen: allow(CODE)' silences is not reported for this entry (or this file). If the "
    "problem was fixed, remove the comment. If the comment is meant for another entry, move it: it applies to "
    "the entry that contains it or follows it directly.",
    Example(
        "# opgen: allow(W1005) callers know this name\n- func: foo(Tensor self) -> Tensor\n",
        "- func: foo(Tensor self) -> Tensor\n",
    ),
)

# Every run checks these; the others depend on the target and on options.
ALWAYS = frozenset(
    str(code)
    for code in (
        *(W1002, W1003, W1004, W1005, W1006, W1007, W1008),
        *(W1010, W1011, W1012, W1013, W1017, W1018, W1034),
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
    W1034,
    *codes_libraries.CODES,
)
