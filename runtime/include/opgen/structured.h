// structured.h: entrance to structured/structured.h.
#pragma once

#include "opgen/structured/structured.h"
