"""What is said about files of other kinds: what they are, and what opgen can do with them."""

from __future__ import annotations

from opgen.dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A kind of file that is not read where it was given. `notes` are sentences on what can be done."""

    message: str
    notes: tuple[str, ...]


_TO_BACKEND = (
    "operators of PyTorch are listed by name in a backend file, which --backend-yaml reads beside PyTorch's "
    "native_functions.yaml: 'backend: PrivateUse1', 'cpp_namespace: mine', 'supported: [add.Tensor]'"
)
_TO_SCHEMA = "operators of your own are entries of a schema file: 'func: mine::name(...) -> ...'"

EXECUTORCH = Neighbour(
    "this is a list of ExecuTorch's kernels (functions.yaml), which opgen does not read",
    (
        "an entry with 'func' becomes one of opgen's by a table in place of 'kernels': 'dispatch: {CPU: add_out}'; "
        "kernels take no KernelRuntimeContext, and one serves all element types",
        "an entry with 'op' is an operator of PyTorch: its schema is in PyTorch's native_functions.yaml",
    ),
)
EDGE = Neighbour(
    "this is ExecuTorch's list of edge operators (edge.yaml), which opgen does not read",
    ("it says which element types an operator of PyTorch takes, and opgen has no use for that",),
)
ASCEND_OPERATORS = Neighbour(
    "this is a list of Ascend's operators (op_plugin_functions.yaml), which opgen does not read",
    (
        f"'official': {_TO_BACKEND}",
        f"'custom': {_TO_SCHEMA}",
        "'acl_op', 'op_api', 'gen_opapi' and versions have no counterpart: each kernel is a C++ function",
    ),
)
ASCEND_BACKEND = Neighbour(
    "this is a backend file of Ascend's kind (npu_native_functions.yaml), which opgen does not read",
    (
        "in a file for --backend-yaml, 'supported', 'autograd' and 'symint' hold names: 'add.Tensor' for "
        "'func: add.Tensor'; a kernel is called after its operator, not by 'wrap_impl'",
        f"'custom', 'custom_autograd': {_TO_SCHEMA}",
    ),
)
DERIVATIVES = Neighbour(
    "this is a list of derivatives (derivatives.yaml), which opgen does not read",
    (
        "opgen makes no gradients of formulas; they are registered by hand, with torch.library.register_autograd "
        "or as a kernel for an Autograd key",
    ),
)
DEPRECATED = Neighbour(
    "this is a list of deprecated signatures (deprecated.yaml), which opgen does not read",
    ("the Python bindings that opgen makes have no deprecated signatures",),
)
TAGS = Neighbour(
    "this is a file of tags (tags.yaml), and another is expected here",
    ("it is read from the folder of the schema file, or by --tags FILE",),
)
MUSA = Neighbour(
    "this is a list of operators by name, as torch_musa's musa_functions.yaml is, which opgen does not read",
    (
        _TO_BACKEND,
        "the kernel of add.Tensor is then the class's member 'add', not what 'dispatch' names; structured operators "
        "are listed under 'structured', by their out variants",
    ),
)
MLU = Neighbour(
    "this is a list of operators in sections, as torch_mlu's mlu_functions.yaml is, which opgen does not read",
    (
        f"'aten': {_TO_BACKEND}",
        "of those, out variants with 'structured' are listed under 'structured', with 'override_meta' under "
        "'structured_own_meta', and operators with 'custom_autograd' under 'autograd'",
        f"other sections: {_TO_SCHEMA}",
    ),
)
OLD_PYTORCH = Neighbour(
    "this is a native_functions.yaml from before PyTorch 2.0, which opgen does not read",
    (
        "opgen reads those of PyTorch 2.0.1 and later; each wheel of torch has one at "
        "torchgen/packaged/ATen/native/native_functions.yaml",
        "in entries of your own, remove 'use_c10_dispatcher' and 'supports_named_tensor', and write "
        "'CompositeImplicitAutograd' for 'Math', 'CompositeExplicitAutograd' for 'DefaultBackend', 'int[]' for "
        "'IntList', 'Generator?' for 'Generator*'",
    ),
)
BACKEND = Neighbour(
    "this is a backend file, and a schema file is expected here",
    ("--backend-yaml FILE reads it, beside the schema file with its operators",),
)
SCHEMA = Neighbour(
    "this is a schema file, and --backend-yaml takes a backend file",
    (
        "a schema file is given without an option; a backend file is a mapping with 'backend', 'cpp_namespace' and "
        "'supported'",
    ),
)
