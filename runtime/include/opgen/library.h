// library.h: entrance to dispatch/library.h.
#pragma once

#include "opgen/dispatch/library.h"
