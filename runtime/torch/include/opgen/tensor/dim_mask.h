// dim_mask.h: the same as in the runtime.
#pragma once

#include "../../../../include/opgen/tensor/dim_mask.h"
