#!/usr/bin/env python3
"""What torchgen derives from derivatives.yaml, one row for every function, as JSON.

torchgen_derivatives.py NATIVE_FUNCTIONS TAGS DERIVATIVES [-o OUT]

A row is {"name", "schema", "kernel", "inplace_or_view", "differentiable_outputs", "keys"}:
  kernel: what is registered for Autograd: "formula", "derived" (a wrapper without a formula), "not_implemented" (the boxed
    fallback), or null (composite, or written by hand);
  inplace_or_view: the kernel for ADInplaceOrView ("view", "inplace"), or null;
  differentiable_outputs: by key of derivatives.yaml, the returns that can have a gradient;
  keys: for each key a row {"node", "formulas", "forward", "saved_inputs", "saved_outputs", "arguments",
    "non_differentiable", "outputs", "conditions", "named_gradients"}.
An attribute that is saved is [name, C++ type, the expression that is saved]; "formula" is what is left after saved attributes
were replaced, "written" what stands in the file. White space is torchgen's.
"""

import argparse
import json
from pathlib import Path

from torchgen.api import cpp
from torchgen.api.autograd import (
    gen_differentiable_outputs,
    match_differentiability_info,
)
from torchgen.context import native_function_manager
from torchgen.gen import parse_native_yaml
from torchgen.packaged.autograd import gen_inplace_or_view_type as iv
from torchgen.packaged.autograd import gen_variable_type as vt
from torchgen.packaged.autograd.load_derivatives import load_derivatives


def attribute(a):
    return [
        a.nctype.name if isinstance(a.nctype.name, str) else a.nctype.name.name,
        a.nctype.cpp_type(),
        a.expr,
    ]


def attributes(found):
    return sorted(attribute(a) for a in found)


def names(found, everything):
    return everything if found is None else sorted(found)


def forward(d):
    return {
        "of": list(d.var_names),
        "types": [str(t) for t in d.var_types],
        "formula": d.formula,
        "tangents": names(d.required_inputs_fw_grad, []),
        "primals": names(d.required_inputs_primal, []),
        "original_self": d.required_original_self_value,
        "in_place": d.is_reusing_outplace_formula,
    }


def info_row(info, forwards):
    return {
        "node": info.op,
        "formulas": [
            {
                "of": list(d.var_names),
                "formula": d.formula,
                "written": d.original_formula,
                "saved_inputs": attributes(d.saved_inputs),
                "saved_outputs": attributes(d.saved_outputs),
                "named_gradients": sorted(d.named_gradients),
            }
            for d in info.derivatives
        ],
        "forward": [forward(d) for d in forwards],
        "saved_inputs": attributes(info.all_saved_inputs),
        "saved_outputs": attributes(info.all_saved_outputs),
        "arguments": [b.name for b in info.args_with_derivatives],
        "non_differentiable": list(info.non_differentiable_arg_names),
        "outputs": info.output_differentiability,
        "conditions": info.output_differentiability_conditions,
        "named_gradients": sorted(info.used_named_gradients),
    }


def kernel(fn):
    """Return the kind of the kernel, as gen_variable_type_func decides it."""
    f = fn.func
    if not iv.use_derived(fn):
        return None
    if (
        fn.info is None
        and str(f.func.name.name) not in vt.RESET_GRAD_ACCUMULATOR
        and vt.get_base_name(f) not in vt.DONT_REQUIRE_DERIVATIVE
        and len(gen_differentiable_outputs(fn)) > 0
        and cpp.name(f.func) not in vt.DONT_ENFORCE_SAME_TENSOR_IMPL_OR_STORAGE
        and vt.type_wrapper_name(f) not in vt.DONT_ENFORCE_STORAGE_IMPL_USE_COUNT
        and vt.type_wrapper_name(f) not in vt.DONT_ENFORCE_TENSOR_IMPL_USE_COUNT
    ):
        return "not_implemented"
    return "formula" if fn.info and any(i.has_derivatives for i in fn.info.values()) else "derived"


def row(fn):
    f = fn.func
    with native_function_manager(f):
        registered = iv.use_derived(fn) and iv.inplace_or_view_method_registration(fn) is not None
        return {
            "name": f"{f.namespace}::{f.func.name}",
            "schema": str(f.func),
            "kernel": kernel(fn),
            "inplace_or_view": (
                None if not registered else "view" if iv.get_view_info(f) is not None else "inplace"
            ),
            "differentiable_outputs": {
                k: [o.name for o in gen_differentiable_outputs(fn, k)]
                for k in sorted(fn.info or {"Default": None})
            },
            "keys": {
                k: info_row(i, (fn.fw_derivatives or {}).get(k, ()))
                for k, i in sorted((fn.info or {}).items())
            },
        }


def rows(native, tags, derivatives):
    """Return the rows, in torchgen's order."""
    infos, _ = load_derivatives(derivatives, native, tags)
    functions = parse_native_yaml(native, tags).native_functions
    ordered = sorted(functions, key=lambda f: cpp.name(f.func))
    return [row(fn) for fn in match_differentiability_info(ordered, infos)]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("native")
    p.add_argument("tags")
    p.add_argument("derivatives")
    p.add_argument("-o")
    a = p.parse_args()
    text = json.dumps(rows(a.native, a.tags, a.derivatives))
    if a.o is None:
        print(text)
    else:
        Path(a.o).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
