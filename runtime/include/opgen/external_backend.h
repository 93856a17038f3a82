// external_backend.h: entrance to registration/external_backend.h, and to the registration of its
// kernels.
#pragma once

#include "opgen/register.h"
#include "opgen/registration/external_backend.h"
#include "opgen/registration/types.h"
