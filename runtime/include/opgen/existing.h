// existing.h: entrance to dispatch/existing.h.
#pragma once

#include "opgen/dispatch/existing.h"
