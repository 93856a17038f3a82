// symbolic_meta.h: the same as for target torch.
#pragma once

#include "../../../../torch/include/opgen/symbolic/symbolic_meta.h"
