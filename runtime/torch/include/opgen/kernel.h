// kernel.h: everything that a kernel author needs, under the names of opgen's own runtime,
// implemented by ATen.
#pragma once

// Included first, and directly: g++ prints the chain of includes to the macros before an error in
// one of them.
#include "opgen/kernel_macros.h"

#include "opgen/core/error.h"
#include "opgen/core/parallel.h"
#include "opgen/cpu/cpu_generator.h"
#include "opgen/cpu/dispatch.h"
#include "opgen/cpu/loops.h"
#include "opgen/cpu/parallel_reduce.h"
#include "opgen/cpu/random.h"
#include "opgen/cpu/reduce.h"
#include "opgen/dispatch_macros.h"
#include "opgen/iterator/iterator.h"
#include "opgen/tensor/resize.h"
#include "opgen/tensor/tensor.h"
#include "opgen/tensor_functions.h"
