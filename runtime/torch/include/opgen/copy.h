// copy.h: the runtime's name for a part of tensor_functions.h.
#pragma once

#include "opgen/tensor_functions.h"
