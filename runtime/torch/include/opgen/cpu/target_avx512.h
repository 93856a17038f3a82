// target_avx512.h: the same as in the runtime.
#pragma once

#include "../../../../include/opgen/cpu/target_avx512.h"
