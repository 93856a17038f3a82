"""A helper that defines an operator from a function, in the manner of inference engines."""

import torch
from torch.library import Library

engine_lib = Library("engine", "FRAGMENT")  # noqa


def direct_register_custom_op(
    op_name,
    op_func,
    mutates_args=None,
    fake_impl=None,
    target_lib=None,
    dispatch_key="CPU",
    tags=(),
):
    if mutates_args is None:
        mutates_args = []
    schema_str = torch.library.infer_schema(op_func, mutates_args=mutates_args)
    my_lib = target_lib or engine_lib
    my_lib.define(op_name + schema_str, tags=tags)
    my_lib.impl(op_name, op_func, dispatch_key=dispatch_key)
    if fake_impl is not None:
        my_lib._register_fake(op_name, fake_impl)
