// symbolic_iterator.h: the same as for target torch.
#pragma once

#include "../../../../torch/include/opgen/symbolic/symbolic_iterator.h"
