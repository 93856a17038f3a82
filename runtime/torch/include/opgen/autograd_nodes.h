// autograd_nodes.h: PyTorch's nodes of a graph, without all of ATen's functions.
#pragma once

// Included by them for one function, and it includes ATen/Functions.h, 6 MB, unless told that
// headers are for single operators: 5 s of a unit. What else these include does not ask.
#ifndef AT_PER_OPERATOR_HEADERS
#define AT_PER_OPERATOR_HEADERS
#include <ATen/ExpandUtils.h>
#undef AT_PER_OPERATOR_HEADERS
#endif

#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/csrc/autograd/functions/basic_ops.h>
#include <torch/csrc/autograd/functions/utils.h>
