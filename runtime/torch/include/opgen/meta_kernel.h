// meta_kernel.h: the entrance to dispatch/meta_kernel.h.
#pragma once

#include "opgen/dispatch/meta_kernel.h"
