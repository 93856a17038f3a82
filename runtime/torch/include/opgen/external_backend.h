// external_backend.h: variants of operators made from other kernels of an external backend: as for
// the runtime.
#pragma once

#include "../../../include/opgen/external_backend.h"
