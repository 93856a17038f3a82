// kernel.h: all that a kernel author needs: types, tensors, checks, iterators, loops and dtype
// dispatch.
#pragma once

#include "opgen/composite.h"
#include "opgen/copy.h"
#include "opgen/cpu/loops.h"
#include "opgen/dispatch_macros.h"
#include "opgen/dispatch_stub.h"
#include "opgen/empty.h"
#include "opgen/error.h"
#include "opgen/factories.h"
#include "opgen/iterator.h"
#include "opgen/macros.h"
#include "opgen/memory_overlap.h"
#include "opgen/parallel.h"
#include "opgen/promotion.h"
#include "opgen/random.h"
#include "opgen/reduce.h"
#include "opgen/resize.h"
#include "opgen/shape_utils.h"
#include "opgen/structured.h"
#include "opgen/tensor.h"
#include "opgen/tensor_functions.h"
