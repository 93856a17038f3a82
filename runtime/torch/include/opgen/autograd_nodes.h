// autograd_nodes.h: PyTorch's nodes of a graph, without all of ATen's functions.
#pragma once

// Unless told that headers are for single operators, these and what they include read
// ATen/Functions.h: 6 MB, and more than a third of a small library's unit.
#ifndef AT_PER_OPERATOR_HEADERS
#define AT_PER_OPERATOR_HEADERS
#define OPGEN_UNDEFINE_AFTERWARDS
#endif

#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/csrc/autograd/functions/basic_ops.h>
#include <torch/csrc/autograd/functions/utils.h>

#ifdef OPGEN_UNDEFINE_AFTERWARDS
#undef OPGEN_UNDEFINE_AFTERWARDS
#undef AT_PER_OPERATOR_HEADERS
#endif
