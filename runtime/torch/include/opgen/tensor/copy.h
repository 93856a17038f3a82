// copy.h: the runtime's header name for a part of tensor_functions.h.
#pragma once

#include "opgen/tensor_functions.h"
