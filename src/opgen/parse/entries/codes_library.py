"""Codes E025x: errors in the keys that only opgen supports, for libraries of operators."""

from __future__ import annotations

from opgen.diagnostics.codes import Code, Example

_FOO = "- func: custom::foo(Tensor self) -> Tensor\n"

E0250 = Code(
    "E0250",
    "a key that only opgen supports",
    "torchgen does not support this key. --strict-torchgen reports everything that torchgen would not accept.",
    Example("- namespace: custom\n- func: foo(Tensor self) -> Tensor\n", _FOO),
)
E0251 = Code(
    "E0251",
    "a file header that is not the first item",
    "Settings for a whole file ('namespace', 'include', 'fragment', 'classes') appear once, in the first item of "
    "the list.",
    Example(
        _FOO + "- namespace: custom\n", "- namespace: custom\n- func: foo(Tensor self) -> Tensor\n"
    ),
)
E0252 = Code(
    "E0252",
    "a bad value in the header of a file",
    "'namespace' is the namespace of all operators that do not name one. 'include' is a header, or a list of "
    "headers, that declare the functions named with a leading '::'. 'fragment' is true if other libraries define "
    "operators in the same namespace, too. 'classes' maps the TorchScript name of a class to 'type' (its C++ "
    "class), 'header' (the header that declares it) and, if the class is not registered yet, 'define' (a "
    "function that takes a torch::Library& and registers the class).",
    Example(
        "- namespace: custom\n  include: 3\n- func: foo(Tensor self) -> Tensor\n",
        "- namespace: custom\n  include: foo.h\n- func: foo(Tensor self) -> Tensor\n",
    ),
)
E0253 = Code(
    "E0253",
    "an existing function that cannot be called",
    "A kernel that begins with '::' names an existing C++ function with all of its namespaces: "
    "'::vllm::rms_norm', or '::rms_norm' if the function is in none.",
    Example(
        _FOO + "  dispatch:\n    CPU: ::my kernel\n",
        "- include: kernels.h\n" + _FOO + "  dispatch:\n    CPU: ::my_kernel\n",
    ),
)

_NMS = "- func: custom::nms(Tensor boxes) -> Tensor\n  dispatch:\n    CPU: nms_cpu\n"
_IS_FAKE = "  fake: boxes.new_empty([new_size()], dtype=torch.int64)\n"

E0254 = Code(
    "E0254",
    "'fake' is not a Python expression",
    "'fake' describes the results of the operator when tensors have no data. It is a Python expression on one "
    "line that may use the arguments, torch, and new_size(min=0, max=None) for a size that depends on data. For "
    "several results it is a tuple. The package that --python generates registers it with "
    "torch.library.register_fake.",
    Example(_NMS + "  fake: boxes.new_empty([new_size(])\n", _NMS + _IS_FAKE),
)
E0255 = Code(
    "E0255",
    "'fake' in addition to a Meta kernel",
    "'fake' takes the place of a Meta kernel. A row for Meta, a structured group and a CompositeImplicitAutograd "
    "kernel already describe the results for tensors without data. Remove one of the two.",
    Example(_NMS + "    Meta: nms_meta\n" + _IS_FAKE, _NMS + _IS_FAKE),
)
E0256 = Code(
    "E0256",
    "a character that documentation cannot contain",
    "'doc' is text for C++ comments and Python docstrings. It may contain line ends and tabs, but no other control "
    'characters and no lone surrogates, which an escape such as "\\e" in a quoted string can produce. Write the '
    "text in a block, 'doc: |', where nothing is an escape.",
    Example(
        _FOO + '  doc: "Return \\alpha times self."\n',
        _FOO + "  doc: |\n    Return \\alpha times self.\n",
    ),
)
E0257 = Code(
    "E0257",
    "effects that PyTorch cannot keep",
    "'effects: ordered' says that calls do something outside of tensors, such as writing a log. PyTorch keeps and "
    "orders calls of an operator that has kernels of its own and neither writes nor returns its arguments. It ignores "
    "the effects of others: calls that write are in the order that the written tensors need, and a "
    "CompositeImplicitAutograd kernel runs while a program is traced, never with the compiled program.",
    Example(
        "- func: custom::log(Tensor x, str name) -> ()\n  effects: ordered\n",
        "- func: custom::log(Tensor x, str name) -> ()\n  dispatch:\n    CompositeExplicitAutograd: log\n"
        "  effects: ordered\n",
    ),
)
E0258 = Code(
    "E0258",
    "unknown effects",
    "'effects' has one value, 'ordered': compilers keep every call of the operator, in the order of the program.",
    Example(
        "- func: custom::log(Tensor x) -> ()\n  dispatch:\n    CPU: log_cpu\n  effects: logging\n",
        "- func: custom::log(Tensor x) -> ()\n  dispatch:\n    CPU: log_cpu\n  effects: ordered\n",
    ),
)
E0260 = Code(
    "E0260",
    "unknown alias analysis",
    "'alias_analysis' says what TorchScript assumes of an operator: 'from_schema', the default, that it writes and returns "
    "the arguments that the schema marks; 'conservative', that it may write each of them, as PyTorch assumes where it infers "
    "a schema from a C++ function; 'pure_function', that it does neither.",
    Example(
        "- func: custom::add_to(Tensor x, Tensor out) -> ()\n  dispatch:\n    CPU: add_to_cpu\n"
        "  alias_analysis: CONSERVATIVE\n",
        "- func: custom::add_to(Tensor x, Tensor out) -> ()\n  dispatch:\n    CPU: add_to_cpu\n"
        "  alias_analysis: conservative\n",
    ),
)
E0261 = Code(
    "E0261",
    "an alias analysis beside annotations",
    "A schema with an annotation, such as 'Tensor(a!)', says what the operator writes and returns. PyTorch does not register "
    "it with another alias analysis than 'from_schema'. Keep one of the two.",
    Example(
        "- func: custom::add_to(Tensor x, Tensor(a!) out) -> ()\n  dispatch:\n    CPU: add_to_cpu\n"
        "  alias_analysis: conservative\n",
        "- func: custom::add_to(Tensor x, Tensor(a!) out) -> ()\n  dispatch:\n    CPU: add_to_cpu\n",
    ),
)
E0259 = Code(
    "E0259",
    "a kernel in Python where none can be",
    "A row 'python' says that the package's ops.py registers the kernel with torch.library.impl. Kernels of structured "
    "operators are C++ classes that share a meta function, and the results for tensors without data come from a line 'fake' "
    "or from torch.library.register_fake.",
    Example(
        "- func: custom::nms(Tensor boxes) -> Tensor\n  dispatch:\n    CPU, Meta: python\n",
        "- func: custom::nms(Tensor boxes) -> Tensor\n  dispatch:\n    CPU: python\n" + _IS_FAKE,
    ),
)

CODES: tuple[Code, ...] = tuple(v for v in list(vars().values()) if isinstance(v, Code))
