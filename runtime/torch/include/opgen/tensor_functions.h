// tensor_functions.h: the entrance to tensor/tensor_functions.h.
#pragma once

#include "opgen/tensor/tensor_functions.h"
