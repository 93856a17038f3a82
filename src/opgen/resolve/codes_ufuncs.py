"""The records of E052x and E053x: inner loops from which no kernel can be made."""

from __future__ import annotations

from opgen.diagnostics.codes import Code


def _ufunc(loops: str, arguments: str = "Tensor self, Tensor other, *, Scalar alpha=1") -> str:
    mark = "" if "*" in arguments else ", *"
    return (
        f"- func: foo({arguments}) -> Tensor\n"
        "  structured_delegate: foo.out\n"
        f"- func: foo.out({arguments}{mark}, Tensor(a!) out) -> Tensor(a!)\n"
        "  structured: True\n"
        "  structured_inherits: TensorIteratorBase\n"
        f"  ufunc_inner_loop:{loops}\n"
    )


_GOOD = _ufunc(" foo (All)")

E0520 = Code(
    "E0520",
    "inner loops of two names where one is made for all types",
    "For CUDA one functor is made for all element types, from the loops of ScalarOnly and Generic together, so "
    "both have one name. Give them one, or write CUDAFunctor (and, for two tensors, CUDAFunctorOnSelf and "
    "CUDAFunctorOnOther) yourself.",
    _ufunc("\n    Generic: foo (All)\n    ScalarOnly: bar (Bool)"),
    _ufunc("\n    Generic: foo (All)\n    ScalarOnly: foo (Bool)"),
    ("V172",),
)
E0521 = Code(
    "E0521",
    "an inner loop for special cases without one for the others",
    "CPUVector works on whole vectors, and CUDAFunctorOnSelf and CUDAFunctorOnOther on a number beside a tensor. "
    "For each of their element types there is also a loop that does the rest: CPUScalar or CUDAFunctor, or "
    "Generic or ScalarOnly, from which these are made.",
    _ufunc("\n    CPUVector: foo (Float)\n    Generic: foo (Double)"),
    _ufunc("\n    CPUVector: foo (Float)\n    Generic: foo (Float, Double)"),
    ("V173", "C33"),
)
E0522 = Code(
    "E0522",
    "a functor for a number beside a tensor where there are not two tensors",
    "CUDAFunctorOnSelf and CUDAFunctorOnOther take one of two tensors as a number. The operator has another "
    "count of tensors.",
    _ufunc(
        "\n    Generic: foo (All)\n    CUDAFunctorOnSelf: bar (All)",
        "Tensor self, *, Scalar alpha=1",
    ),
    _ufunc("\n    Generic: foo (All)", "Tensor self, *, Scalar alpha=1"),
    ("V174",),
)
E0523 = Code(
    "E0523",
    "no inner loop from which a kernel can be made",
    "An inner loop makes kernels for CPU and CUDA. The first is made of CPUScalar, ScalarOnly or Generic, the "
    "second of ScalarOnly or Generic, or of CUDAFunctor (and, for two tensors, CUDAFunctorOnSelf and "
    "CUDAFunctorOnOther).",
    _ufunc("\n    CPUScalar: foo (All)"),
    _GOOD,
    ("V175", "A85"),
)
E0524 = Code(
    "E0524",
    "an inner loop over something that is neither a tensor nor a number",
    "Inner loops take one element of each Tensor, and each Scalar converted to the same type. Of another argument "
    "nothing says how to convert it.",
    _ufunc(" foo (All)", "Tensor self, int[] dim"),
    _ufunc(" foo (All)", "Tensor self, Scalar dim"),
    ("V176",),
)
E0525 = Code(
    "E0525",
    "an inner loop without an iterator",
    "The kernel that is made runs over the iterator that the meta function builds, so the meta class is one: "
    "'structured_inherits: TensorIteratorBase'.",
    _GOOD.replace("  structured_inherits: TensorIteratorBase\n", ""),
    _GOOD,
)

CODES: tuple[Code, ...] = tuple(v for v in list(vars().values()) if isinstance(v, Code))
