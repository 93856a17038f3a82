// autograd_nodes.h: PyTorch's graph nodes, without all of ATen's functions.
#pragma once

// Without this macro these headers include ATen/Functions.h: 6 MB, more than a third of the time
// to compile a small library.
#ifndef AT_PER_OPERATOR_HEADERS
#define AT_PER_OPERATOR_HEADERS
#define OPGEN_UNDEFINE_AFTERWARDS
#endif

#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/csrc/autograd/functions/basic_ops.h>
#include <torch/csrc/autograd/functions/tensor.h>
#include <torch/csrc/autograd/functions/utils.h>

#ifdef OPGEN_UNDEFINE_AFTERWARDS
#undef OPGEN_UNDEFINE_AFTERWARDS
#undef AT_PER_OPERATOR_HEADERS
#endif
