// structured.h: entrance to registration/structured.h.
#pragma once

#include "opgen/registration/structured.h"
