// tensor.h: entrance to tensor/tensor.h.
#pragma once

#include "opgen/tensor/tensor.h"
