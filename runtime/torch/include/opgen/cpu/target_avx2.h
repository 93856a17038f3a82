// target_avx2.h: the same as in the runtime.
#pragma once

#include "../../../../include/opgen/cpu/target_avx2.h"
