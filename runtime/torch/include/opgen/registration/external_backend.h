// external_backend.h: makes variants of operators from other kernels of an external backend, the
// same as in the runtime.
#pragma once

#include "../../../../include/opgen/registration/external_backend.h"
