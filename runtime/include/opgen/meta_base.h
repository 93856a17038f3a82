// meta_base.h: entrance to structured/meta_base.h.
#pragma once

#include "opgen/registration/types.h"
#include "opgen/structured/meta_base.h"
