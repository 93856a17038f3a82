// meta_base.h: entrance to structured/meta_base.h.
#pragma once

#include "opgen/structured/meta_base.h"
