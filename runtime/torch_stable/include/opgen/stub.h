// stub.h: the same as for target torch.
#pragma once

#include "../../../torch/include/opgen/stub.h"
