"""Codes E0520 to E0525: inner loops from which no kernel can be generated."""

from __future__ import annotations

from opgen.diagnostics.codes import Code, Example


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
    "inner loops with different names for one functor",
    "For CUDA, one functor serves all element types. opgen generates it from the loops of ScalarOnly and Generic "
    "together, so both must have the same name. Rename one, or write CUDAFunctor (and, for two tensors, "
    "CUDAFunctorOnSelf and CUDAFunctorOnOther) yourself.",
    Example(
        _ufunc("\n    Generic: foo (All)\n    ScalarOnly: bar (Bool)"),
        _ufunc("\n    Generic: foo (All)\n    ScalarOnly: foo (Bool)"),
    ),
    ("V172",),
)
E0521 = Code(
    "E0521",
    "an inner loop for special cases only",
    "CPUVector works on whole vectors, and CUDAFunctorOnSelf and CUDAFunctorOnOther work on a number and a "
    "tensor. For each of their element types there must also be a loop for all other cases: CPUScalar or "
    "CUDAFunctor, or Generic or ScalarOnly, from which opgen generates these.",
    Example(
        _ufunc("\n    CPUVector: foo (Float)\n    Generic: foo (Double)"),
        _ufunc("\n    CPUVector: foo (Float)\n    Generic: foo (Float, Double)"),
    ),
    ("V173", "C33"),
)
E0522 = Code(
    "E0522",
    "a functor for a tensor and a number on an operator without two tensors",
    "CUDAFunctorOnSelf and CUDAFunctorOnOther take one of two tensors as a number. This operator does not have "
    "two tensors.",
    Example(
        _ufunc(
            "\n    Generic: foo (All)\n    CUDAFunctorOnSelf: bar (All)",
            "Tensor self, *, Scalar alpha=1",
        ),
        _ufunc("\n    Generic: foo (All)", "Tensor self, *, Scalar alpha=1"),
    ),
    ("V174",),
)
E0523 = Code(
    "E0523",
    "no inner loop from which a kernel can be generated",
    "Inner loops become kernels for CPU and CUDA. The CPU kernel needs CPUScalar, ScalarOnly or Generic. The "
    "CUDA kernel needs ScalarOnly or Generic, or CUDAFunctor (and, for two tensors, CUDAFunctorOnSelf and "
    "CUDAFunctorOnOther).",
    Example(_ufunc("\n    CPUScalar: foo (All)"), _GOOD),
    ("V175", "A85"),
)
E0524 = Code(
    "E0524",
    "an inner loop over an argument that is neither a tensor nor a number",
    "An inner loop takes one element of each Tensor, and each Scalar converted to the same type. There is no "
    "rule for converting other arguments.",
    Example(
        _ufunc(" foo (All)", "Tensor self, int[] dim"),
        _ufunc(" foo (All)", "Tensor self, Scalar dim"),
    ),
    ("V176",),
)
E0525 = Code(
    "E0525",
    "an inner loop without an iterator",
    "The generated kernel runs over the iterator that the meta function builds, so the meta class must be one: "
    "'structured_inherits: TensorIteratorBase'.",
    Example(_GOOD.replace("  structured_inherits: TensorIteratorBase\n", ""), _GOOD),
)

CODES: tuple[Code, ...] = tuple(v for v in list(vars().values()) if isinstance(v, Code))
