"""The records of E0806 to E0810, E0814 to E0817, W1802 and W1842: names in backend and selective files that do not fit the operators."""

from __future__ import annotations

from opgen.diagnostics.codes import Code

_BACKEND = "backend.yaml"
_HEAD = "backend: XLA\ncpp_namespace: torch_xla\n"
_GOOD = _HEAD + "supported:\n- neg\n"

E0806 = Code(
    "E0806",
    "a backend without a dispatch key",
    "Kernels are registered for the dispatch key that 'backend' names, and those under 'autograd' for "
    "the key Autograd<backend>. Both keys have to exist.",
    "backend: Xla\ncpp_namespace: torch_xla\nsupported:\n- neg\n",
    _GOOD,
    ("B12", "B13", "BA4"),
    _BACKEND,
)
E0807 = Code(
    "E0807",
    "a backend whose key is taken",
    "The dispatch key has kernels already: entries of native_functions.yaml name it, or it is one that "
    "opgen itself registers kernels for. A second kernel would replace the first without a word.",
    "backend: CPU\ncpp_namespace: torch_xla\nsupported:\n- neg\n",
    _GOOD,
    ("B14", "B17", "B20", "BA5"),
    _BACKEND,
)
E0808 = Code(
    "E0808",
    "a backend lists an operator that does not exist",
    "The lists of a backend hold names of operators as they are defined, with their overload and without "
    "a namespace: 'add.Tensor'.",
    _HEAD + "supported:\n- add\n",
    _HEAD + "supported:\n- add.Tensor\n",
    ("B09", "B11"),
    _BACKEND,
)
E0809 = Code(
    "E0809",
    "variants of one operator under both supported and autograd",
    "A kernel for the backend's autograd key replaces differentiation for the operator; the others make "
    "use of it. For the variants of one operator (functional, in-place, out=) that has to be decided "
    "together, since one is made from another.",
    _HEAD + "supported:\n- add.Tensor\nautograd:\n- add.out\n",
    _HEAD + "autograd:\n- add.Tensor\n- add.out\n",
    ("B15",),
    _BACKEND,
)
E0810 = Code(
    "E0810",
    "a kernel for symbolic sizes without symbolic sizes",
    "The kernel of an operator under 'symint' takes SymInt where other kernels take int64_t, so the "
    "schema has to have an argument of type SymInt.",
    _HEAD + "supported:\n- neg\nsymint:\n- neg\n",
    _HEAD + "supported:\n- reshape\nsymint:\n- reshape\n",
    ("B16",),
    _BACKEND,
)
E0814 = Code(
    "E0814",
    "a structured kernel for an operator that takes none",
    "Structured kernels are listed by the out variant, the entry with `structured: True`: its functional and "
    "in-place variants are made from the same kernel. Operators that are not structured stand under 'supported'.",
    _HEAD + "structured:\n- add.Tensor\n",
    _HEAD + "structured:\n- add.out\n",
    (),
    _BACKEND,
)
E0815 = Code(
    "E0815",
    "an operator with two kernels",
    "A structured kernel serves all variants of its operator, so that none of them is listed again: neither under "
    "another key for structured kernels, nor under 'supported' or 'autograd'.",
    _HEAD + "supported:\n- add.Tensor\nstructured:\n- add.out\n",
    _HEAD + "structured:\n- add.out\n",
    (),
    _BACKEND,
)
E0816 = Code(
    "E0816",
    "an installed kernel that is for one backend",
    "Under 'structured_installed' stand operators whose kernel leaves to a DispatchStub what depends on the device: "
    "native_functions.yaml names it for CPU and for another key. A kernel that it names for CPU alone would "
    "take the tensors' memory for the CPU's.",
    _HEAD + "structured_installed:\n- add.out\n",
    _HEAD + "structured:\n- add.out\n",
    (),
    _BACKEND,
)
E0817 = Code(
    "E0817",
    "an out variant that nothing can be made from",
    "Of the operators under 'out_as_primary', the functional variant gives the out kernel new tensors like self "
    "(or the first tensor argument), and the in-place one gives it self. So it has to be an out variant that writes plain "
    "tensors, and returns them. Of structured operators every variant is made from any out kernel anyway.",
    _HEAD + "out_as_primary:\n- neg\n",
    _HEAD + "supported:\n- neg\n",
    (),
    _BACKEND,
)
W1802 = Code(
    "W1802",
    "a name in a backend file that has no effect",
    "'symint' says how the kernels of operators under 'supported' or 'autograd' are declared, so one that "
    "is in neither changes nothing; and without any operator under 'supported' nothing is generated, "
    "for 'autograd' neither.",
    _HEAD + "supported:\n- neg\nsymint:\n- reshape\n",
    _HEAD + "supported:\n- neg\n- reshape\nsymint:\n- reshape\n",
    (),
    _BACKEND,
)
W1842 = Code(
    "W1842",
    "a selected operator that does not exist",
    "No operator of the library has this name, with namespace and, if one is written, overload. Names in "
    "other namespaces are not looked at: one list may serve several libraries.",
    "operators:\n  aten::neg_: {}\n",
    "operators:\n  aten::neg: {}\n",
    (),
    "selective.yaml",
)

CODES = (E0806, E0807, E0808, E0809, E0810, E0814, E0815, E0816, E0817, W1802, W1842)
