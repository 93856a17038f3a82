// vec_doubles.h: the same as in the runtime.
#pragma once

#include "../../../../include/opgen/cpu/vec_doubles.h"
