// not_selected.h: entrance to dispatch/not_selected.h.
#pragma once

#include "opgen/dispatch/not_selected.h"
