// library.h: entrance to schema/library.h.
#pragma once

#include "opgen/schema/library.h"
