// schema_text.h: the same as in the runtime.
#pragma once

#include "../../../../include/opgen/dispatch/schema_text.h"
