// meta_kernel.h: the entrance to registration/meta_kernel.h.
#pragma once

#include "opgen/registration/meta_kernel.h"
#include "opgen/registration/types.h"
