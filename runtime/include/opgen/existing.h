// existing.h: entrance to registration/existing.h.
#pragma once

#include "opgen/registration/existing.h"
#include "opgen/registration/types.h"
