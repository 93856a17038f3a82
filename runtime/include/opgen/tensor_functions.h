// tensor_functions.h: entrance to tensor/tensor_functions.h.
#pragma once

#include "opgen/tensor/tensor_functions.h"
