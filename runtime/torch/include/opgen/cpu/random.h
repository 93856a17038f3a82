// random.h: the same as in the runtime.
#pragma once

#include "../../../../include/opgen/cpu/random.h"
