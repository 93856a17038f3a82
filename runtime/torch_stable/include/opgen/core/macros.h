// macros.h: the runtime's macros, without those that make its functions visible to other libraries.
#pragma once

#include "../../../../include/opgen/core/macros.h"

// Several libraries may be in one process, each with its own copy of this code: they are compiled
// with -fvisibility=hidden.
#undef OPGEN_API
#define OPGEN_API

// Increased when generated code of an older opgen would misbehave with these headers.
#define OPGEN_TORCH_STABLE_ABI 1
