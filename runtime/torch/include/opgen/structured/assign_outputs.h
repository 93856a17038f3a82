// assign_outputs.h: the same as in the runtime.
#pragma once

#include "../../../../include/opgen/structured/assign_outputs.h"
