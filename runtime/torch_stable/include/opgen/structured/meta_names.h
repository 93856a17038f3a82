// meta_names.h: the same as for target torch.
#pragma once

#include "../../../../torch/include/opgen/structured/meta_names.h"
