// not_selected.h: entrance to registration/not_selected.h.
#pragma once

#include "opgen/registration/not_selected.h"
#include "opgen/registration/types.h"
