// parallel_reduce.h: the same as in the runtime.
#pragma once

#include "../../../../include/opgen/cpu/parallel_reduce.h"
