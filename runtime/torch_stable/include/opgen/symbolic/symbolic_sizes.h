// symbolic_sizes.h: the same as for target torch.
#pragma once

#include "../../../../torch/include/opgen/symbolic/symbolic_sizes.h"
