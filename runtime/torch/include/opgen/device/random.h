// random.h: the same as in the runtime.
#pragma once

#include "../../../../include/opgen/device/random.h"
