// kernel.h: all that a kernel author needs: types, tensors, checks, iterators, loops and dtype dispatch.
#pragma once

#include "opgen/composite.h"
#include "opgen/cpu/loops.h"
#include "opgen/dispatch_macros.h"
#include "opgen/empty.h"
#include "opgen/error.h"
#include "opgen/iterator.h"
#include "opgen/macros.h"
#include "opgen/parallel.h"
#include "opgen/promotion.h"
#if __has_include("opgen/random.h")
#include "opgen/random.h"
#endif
#include "opgen/structured.h"
#include "opgen/tensor.h"
