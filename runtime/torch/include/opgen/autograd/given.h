// given.h: the same as in the runtime.
#pragma once

#include "../../../../include/opgen/autograd/given.h"
