// dot.h: the function that dot_kernel.cpp defines once for each instruction set.
#pragma once

#include <opgen/kernel.h>

using dot_fn = float (*)(const float*, const float*, int64_t);
using name_fn = const char* (*)();
OPGEN_DECLARE_DISPATCH(dot_fn, dot_stub);
OPGEN_DECLARE_DISPATCH(name_fn, name_stub);
