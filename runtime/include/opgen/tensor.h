// tensor.h: entrance to tensor/tensor.h, and to the accessors of its elements.
#pragma once

#include "opgen/cpu/accessor.h"
#include "opgen/registration/types.h"
#include "opgen/tensor/tensor.h"
