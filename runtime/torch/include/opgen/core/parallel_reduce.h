// parallel_reduce.h: the same as in the runtime.
#pragma once

#include "../../../../include/opgen/core/parallel_reduce.h"
