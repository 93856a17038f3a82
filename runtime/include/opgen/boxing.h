// boxing.h: entrance to registration/boxing.h.
#pragma once

#include "opgen/registration/boxing.h"
