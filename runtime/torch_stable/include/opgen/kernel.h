// kernel.h: everything that a kernel author needs: types, tensors, checks, iterators, loops and
// dtype dispatch, over PyTorch's stable C functions.
#pragma once

// Included first, and directly: g++ prints the chain of includes to the macros before an error in
// one of them.
#include "opgen/kernel_macros.h"

#include "opgen/core/error.h"
#include "opgen/core/parallel.h"
#include "opgen/cpu/dispatch.h"
#include "opgen/cpu/loops.h"
#include "opgen/cpu/parallel_reduce.h"
#include "opgen/cpu/random.h"
#include "opgen/cpu/reduce.h"
#include "opgen/dispatch_macros.h"
#include "opgen/iterator/iterator_config.h"
#include "opgen/registration/composite.h"
#include "opgen/registration/dispatch_stub.h"
#include "opgen/structured/sizes.h"
#include "opgen/tensor_functions.h"
