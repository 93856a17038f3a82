// external_backend.h: the entrance to structured/external_backend.h.
#pragma once

#include "opgen/structured/external_backend.h"
