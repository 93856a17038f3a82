// tensor.h: the entrance to tensor/tensor.h.
#pragma once

#include "opgen/tensor/tensor.h"
