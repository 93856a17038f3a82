// iterator.h: the runtime's iterator, over tensors of PyTorch.
#pragma once

#include "opgen/core/function_ref.h"
#include "opgen/iterator/iterator_config.h"
#include "opgen/iterator/tensor_iterator.h"
