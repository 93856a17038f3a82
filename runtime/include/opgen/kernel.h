// kernel.h: everything that a kernel author needs: types, tensors, checks, iterators, loops and
// dtype dispatch.
#pragma once

// First, and directly: g++ prints the chain of includes that leads to the macros before an error in
// one of them.
#include "opgen/kernel_macros.h"

#include "opgen/core/error.h"
#include "opgen/core/macros.h"
#include "opgen/core/parallel.h"
#include "opgen/cpu/accessor.h"
#include "opgen/cpu/dispatch.h"
#include "opgen/cpu/loops.h"
#include "opgen/cpu/parallel_reduce.h"
#include "opgen/cpu/random.h"
#include "opgen/cpu/reduce.h"
#include "opgen/cpu/size.h"
#include "opgen/dispatch_macros.h"
#include "opgen/iterator/iterator_config.h"
#include "opgen/registration/composite.h"
#include "opgen/registration/dispatch_stub.h"
#include "opgen/registration/structured.h"
#include "opgen/registration/types.h"
#include "opgen/tensor/copy.h"
#include "opgen/tensor/empty.h"
#include "opgen/tensor/factories.h"
#include "opgen/tensor/memory_overlap.h"
#include "opgen/tensor/promotion.h"
#include "opgen/tensor/resize.h"
#include "opgen/tensor/shape_utils.h"
#include "opgen/tensor/tensor.h"
#include "opgen/tensor_functions.h"
