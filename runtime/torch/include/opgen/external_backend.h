// external_backend.h: the entrance to registration/external_backend.h.
#pragma once

#include "opgen/registration/external_backend.h"
