"""The kinds of files that opgen recognises but does not read, with messages that say what to do instead."""

from __future__ import annotations

from msgspec import Struct


class ForeignKind(Struct, frozen=True):
    """A kind of file that cannot be read in place of the expected one. `notes` say what to do instead."""

    message: str
    notes: tuple[str, ...]


_TO_BACKEND = (
    "operators of PyTorch are listed by name in a backend file, which --backend-yaml reads together with PyTorch's "
    "native_functions.yaml: 'backend: PrivateUse1', 'cpp_namespace: mine', 'supported: [add.Tensor]'"
)
_TO_SCHEMA = "operators of your own are entries of a schema file: 'func: mine::name(...) -> ...'"

EXECUTORCH = ForeignKind(
    "this is a list of ExecuTorch's kernels (functions.yaml), which opgen does not read",
    (
        "to use an entry with 'func', replace 'kernels' by a dispatch table: 'dispatch: {CPU: add_out}'; "
        "kernels take no KernelRuntimeContext, and one kernel serves all element types",
        "an entry with 'op' is an operator of PyTorch: its schema is in PyTorch's native_functions.yaml",
    ),
)
EDGE = ForeignKind(
    "this is ExecuTorch's list of edge operators (edge.yaml), which opgen does not read",
    ("it lists the element types of PyTorch's operators, which opgen does not use",),
)
ASCEND_OPERATORS = ForeignKind(
    "this is a list of Ascend's operators (op_plugin_functions.yaml), which opgen does not read",
    (
        f"'official': {_TO_BACKEND}",
        f"'custom': {_TO_SCHEMA}",
        "'acl_op', 'op_api', 'gen_opapi' and versions have no counterpart: each kernel is a C++ function",
    ),
)
ASCEND_BACKEND = ForeignKind(
    "this is a backend file of Ascend's kind (npu_native_functions.yaml), which opgen does not read",
    (
        "in a file for --backend-yaml, 'supported', 'autograd' and 'symint' hold names: 'add.Tensor' for "
        "'func: add.Tensor'; a kernel is called after its operator, not by 'wrap_impl'",
        f"'custom', 'custom_autograd': {_TO_SCHEMA}",
    ),
)
DERIVATIVES = ForeignKind(
    "this is a list of derivatives (derivatives.yaml), not of operators",
    (
        "it is read from the folder of the schema file, or by --derivatives FILE, together with the file of the operators",
    ),
)
DEPRECATED = ForeignKind(
    "this is a list of deprecated signatures (deprecated.yaml), which opgen does not read",
    ("the Python bindings that opgen generates have no deprecated signatures",),
)
TAGS = ForeignKind(
    "this is a file of tags (tags.yaml), but another kind of file is expected here",
    ("it is read from the folder of the schema file, or by --tags FILE",),
)
MUSA = ForeignKind(
    "this is a list of operators by name, as torch_musa's musa_functions.yaml is, which opgen does not read",
    (
        _TO_BACKEND,
        "the kernel of add.Tensor is then the member 'add' of the class, not the one that 'dispatch' names; list "
        "structured operators under 'structured', by their out variants",
    ),
)
MLU = ForeignKind(
    "this is a list of operators in sections, as torch_mlu's mlu_functions.yaml is, which opgen does not read",
    (
        f"'aten': {_TO_BACKEND}",
        "list out variants that have 'structured' under 'structured', those that have 'override_meta' under "
        "'structured_own_meta', and operators that have 'custom_autograd' under 'autograd'",
        f"other sections: {_TO_SCHEMA}",
    ),
)
OLD_PYTORCH = ForeignKind(
    "this is a native_functions.yaml from before PyTorch 2.0, which opgen does not read",
    (
        "opgen reads the files of PyTorch 2.0.1 and later; each wheel of torch has one at "
        "torchgen/packaged/ATen/native/native_functions.yaml",
        "in entries of your own, remove 'use_c10_dispatcher' and 'supports_named_tensor', and write "
        "'CompositeImplicitAutograd' for 'Math', 'CompositeExplicitAutograd' for 'DefaultBackend', 'int[]' for "
        "'IntList', 'Generator?' for 'Generator*'",
    ),
)
BACKEND = ForeignKind(
    "this is a backend file, but a schema file is expected here",
    ("--backend-yaml FILE reads it, together with the schema file that has its operators",),
)
SCHEMA = ForeignKind(
    "this is a schema file, but --backend-yaml takes a backend file",
    (
        "pass a schema file without an option; a backend file is a mapping with 'backend', 'cpp_namespace' and "
        "'supported'",
    ),
)
