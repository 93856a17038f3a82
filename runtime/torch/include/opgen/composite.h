// composite.h: the entrance to structured/composite.h.
#pragma once

#include "opgen/structured/composite.h"
