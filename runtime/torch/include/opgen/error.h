// error.h: the entrance to core/error.h.
#pragma once

#include "opgen/core/error.h"
