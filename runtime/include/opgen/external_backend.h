// external_backend.h: entrance to structured/external_backend.h, and to the registration of its
// kernels.
#pragma once

#include "opgen/register.h"
#include "opgen/structured/external_backend.h"
