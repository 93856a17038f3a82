// assign_outputs.h: the same as in the runtime.
#pragma once

#include "../../../../include/opgen/registration/assign_outputs.h"
