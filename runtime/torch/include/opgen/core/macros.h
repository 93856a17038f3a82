// macros.h: the runtime's macros, and the ABI number of these headers.
#pragma once

#include "../../../../include/opgen/core/macros.h"

// Increased when generated code of an older opgen would misbehave with these headers.
#define OPGEN_TORCH_ABI 1
