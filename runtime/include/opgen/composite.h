// composite.h: entrance to registration/composite.h.
#pragma once

#include "opgen/registration/composite.h"
#include "opgen/registration/types.h"
