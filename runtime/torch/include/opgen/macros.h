// macros.h: the entrance to core/macros.h.
#pragma once

#include "opgen/core/macros.h"
