// autograd.h: entrance to autograd/autograd.h.
#pragma once

#include "opgen/autograd/autograd.h"
#include "opgen/registration/types.h"
