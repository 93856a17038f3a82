// existing.h: the entrance to registration/existing.h.
#pragma once

#include "opgen/registration/existing.h"
