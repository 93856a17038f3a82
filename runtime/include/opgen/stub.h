// stub.h: entrance to registration/stub_report.h.
#pragma once

#include "opgen/registration/stub_report.h"
