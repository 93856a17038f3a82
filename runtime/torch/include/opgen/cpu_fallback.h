// cpu_fallback.h: the entrance to dispatch/cpu_fallback.h.
#pragma once

#include "opgen/dispatch/cpu_fallback.h"
