// composite.h: the entrance to registration/composite.h.
#pragma once

#include "opgen/registration/composite.h"
