// kernel.h: all that a kernel author needs, under the names of opgen's own runtime, over ATen.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/native/cpu/Loops.h>

#include "opgen/dispatch_macros.h"
#include "opgen/error.h"
#include "opgen/iterator.h"
#include "opgen/kernel_macros.h"
#include "opgen/resize.h"
#include "opgen/tensor.h"
#include "opgen/tensor_functions.h"

namespace opgen {

using at::get_num_threads;
using at::get_thread_num;
using at::in_parallel_region;
using at::parallel_for;
using at::native::cpu_kernel;
using at::native::cpu_kernel_multiple_outputs;

}  // namespace opgen
