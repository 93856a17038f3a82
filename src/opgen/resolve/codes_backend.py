"""Codes E0806 to E0810, E0814 to E0817, W1802 and W1842: names in backend and selective files that do not match the
operators.
"""

from __future__ import annotations

from opgen.diagnostics.codes import Code, Example

_BACKEND = "backend.yaml"
_HEAD = "backend: XLA\ncpp_namespace: torch_xla\n"
_GOOD = _HEAD + "supported:\n- neg\n"

E0806 = Code(
    "E0806",
    "a backend without a dispatch key",
    "Kernels are registered for the dispatch key that 'backend' names, and the kernels under 'autograd' for the "
    "key Autograd<backend>. Both keys must exist.",
    Example("backend: Xla\ncpp_namespace: torch_xla\nsupported:\n- neg\n", _GOOD),
    ("B12", "B13", "BA4"),
    _BACKEND,
)
E0807 = Code(
    "E0807",
    "a backend whose dispatch key is taken",
    "The dispatch key already has kernels: entries of native_functions.yaml name it, or opgen itself registers "
    "kernels for it. A second kernel would replace the first without a warning.",
    Example("backend: CPU\ncpp_namespace: torch_xla\nsupported:\n- neg\n", _GOOD),
    ("B14", "B17", "B20", "BA5"),
    _BACKEND,
)
E0808 = Code(
    "E0808",
    "a backend lists an operator that does not exist",
    "The lists of a backend file contain operator names as they are defined, with their overload and without a "
    "namespace: 'add.Tensor'.",
    Example(_HEAD + "supported:\n- add\n", _HEAD + "supported:\n- add.Tensor\n"),
    ("B09", "B11"),
    _BACKEND,
)
E0809 = Code(
    "E0809",
    "variants of one operator under both supported and autograd",
    "A kernel for the backend's autograd key replaces differentiation for that operator; other operators rely on "
    "differentiation. The decision must be the same for all variants of one operator (functional, in-place, "
    "out=), because opgen derives one from another.",
    Example(
        _HEAD + "supported:\n- add.Tensor\nautograd:\n- add.out\n",
        _HEAD + "autograd:\n- add.Tensor\n- add.out\n",
    ),
    ("B15",),
    _BACKEND,
)
E0810 = Code(
    "E0810",
    "'symint' on an operator without symbolic sizes",
    "The kernel of an operator under 'symint' takes SymInt where other kernels take int64_t, so the schema must "
    "have an argument of type SymInt.",
    Example(
        _HEAD + "supported:\n- neg\nsymint:\n- neg\n",
        _HEAD + "supported:\n- reshape\nsymint:\n- reshape\n",
    ),
    ("B16",),
    _BACKEND,
)
E0814 = Code(
    "E0814",
    "a structured kernel for an operator that is not structured",
    "List a structured kernel under the name of the out variant, the entry with `structured: True`. opgen "
    "generates the functional and in-place variants from the same kernel. Operators that are not structured "
    "belong under 'supported'.",
    Example(_HEAD + "structured:\n- add.Tensor\n", _HEAD + "structured:\n- add.out\n"),
    (),
    _BACKEND,
)
E0815 = Code(
    "E0815",
    "an operator with two kernels",
    "A structured kernel serves all variants of its operator, so none of them may be listed again: neither under "
    "another key for structured kernels, nor under 'supported' or 'autograd'.",
    Example(
        _HEAD + "supported:\n- add.Tensor\nstructured:\n- add.out\n",
        _HEAD + "structured:\n- add.out\n",
    ),
    (),
    _BACKEND,
)
E0816 = Code(
    "E0816",
    "an installed kernel for one backend only",
    "'structured_installed' lists operators whose kernel calls a DispatchStub for everything that depends on the "
    "device. native_functions.yaml names such a kernel for CPU and for another key. This operator's kernel is "
    "named for CPU alone, and would access the tensors' memory as if it were CPU memory.",
    Example(_HEAD + "structured_installed:\n- add.out\n", _HEAD + "structured:\n- add.out\n"),
    (),
    _BACKEND,
)
E0817 = Code(
    "E0817",
    "an out variant from which no other variant can be derived",
    "For the operators under 'out_as_primary', the functional variant passes new tensors like self (or like the "
    "first tensor argument) to the out kernel, and the in-place variant passes self. So the operator must be an "
    "out variant that writes plain tensors and returns them. (For structured operators, opgen derives all "
    "variants from any out kernel without this key.)",
    Example(_HEAD + "out_as_primary:\n- neg\n", _HEAD + "supported:\n- neg\n"),
    (),
    _BACKEND,
)
W1802 = Code(
    "W1802",
    "a name in a backend file without effect",
    "'symint' changes how the kernels of operators under 'supported' or 'autograd' are declared, so an operator "
    "in neither list is not affected. Without any operator under 'supported', opgen generates nothing, not even "
    "for 'autograd'.",
    Example(
        _HEAD + "supported:\n- neg\nsymint:\n- reshape\n",
        _HEAD + "supported:\n- neg\n- reshape\nsymint:\n- reshape\n",
    ),
    (),
    _BACKEND,
)
W1842 = Code(
    "W1842",
    "a selected operator that does not exist",
    "The library has no operator of this name, with its namespace and, if one is written, its overload. opgen "
    "does not check names in other namespaces, because one list may serve several libraries.",
    Example("operators:\n  aten::neg_: {}\n", "operators:\n  aten::neg: {}\n"),
    (),
    "selective.yaml",
)

CODES = (E0806, E0807, E0808, E0809, E0810, E0814, E0815, E0816, E0817, W1802, W1842)
