"""The records of E025x: what can be wrong with the keys that are opgen's own, for libraries of operators."""

from __future__ import annotations

from opgen.diagnostics.codes import Code

_FOO = "- func: custom::foo(Tensor self) -> Tensor\n"

E0250 = Code(
    "E0250",
    "a key of opgen's own",
    "torchgen does not know this key. --strict-torchgen keeps a file good for PyTorch, so it refuses it.",
    "- namespace: custom\n- func: foo(Tensor self) -> Tensor\n",
    _FOO,
)
E0251 = Code(
    "E0251",
    "the head of a file that is not at its head",
    "What holds for a whole file ('namespace', 'include', 'fragment', 'classes') stands once, as the first item of the list.",
    _FOO + "- namespace: custom\n",
    "- namespace: custom\n- func: foo(Tensor self) -> Tensor\n",
)
E0252 = Code(
    "E0252",
    "a bad value at the head of a file",
    "'namespace' takes the name of the operators that have none of their own. 'include' takes a header or a list of them, which "
    "declare the functions that rows with '::' name. 'fragment' says whether other libraries define operators of the same namespace, "
    "too. 'classes' takes a mapping from TorchScript's name of a class to 'type' (its "
    "C++ class), 'header' (what declares it) and, if it is not registered yet, 'define' (a function that takes a torch::Library& and "
    "registers it).",
    "- namespace: custom\n  include: 3\n- func: foo(Tensor self) -> Tensor\n",
    "- namespace: custom\n  include: foo.h\n- func: foo(Tensor self) -> Tensor\n",
)
E0253 = Code(
    "E0253",
    "an existing function that cannot be called",
    "A row whose kernel begins with '::' names a C++ function that is there, with all of its namespaces: '::vllm::rms_norm', "
    "'::rms_norm' if it is in none.",
    _FOO + "  dispatch:\n    CPU: ::my kernel\n",
    "- include: kernels.h\n" + _FOO + "  dispatch:\n    CPU: ::my_kernel\n",
)

_NMS = "- func: custom::nms(Tensor boxes) -> Tensor\n  dispatch:\n    CPU: nms_cpu\n"
_IS_FAKE = "  fake: boxes.new_empty([new_size()], dtype=torch.int64)\n"

E0254 = Code(
    "E0254",
    "a fake that is no Python expression",
    "'fake' says what the operator returns where tensors have no data: a Python expression of one line over the arguments, with torch "
    "and new_size(min=0, max=None), a size that depends on data. The package that --python makes registers it "
    "(torch.library.register_fake). Of several results it is a tuple.",
    _NMS + "  fake: boxes.new_empty([new_size(])\n",
    _NMS + _IS_FAKE,
)
E0255 = Code(
    "E0255",
    "a fake beside a Meta kernel",
    "'fake' is what an operator has in place of a Meta kernel. A row for Meta, a structured group and a CompositeImplicitAutograd kernel "
    "say already what is returned where tensors have no data.",
    _NMS + "    Meta: nms_meta\n" + _IS_FAKE,
    _NMS + _IS_FAKE,
)

CODES: tuple[Code, ...] = tuple(v for v in list(vars().values()) if isinstance(v, Code))
