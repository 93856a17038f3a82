// call_operator.h: calls of operators by name.
#pragma once

#include "opgen/dispatch/call_operator.h"
