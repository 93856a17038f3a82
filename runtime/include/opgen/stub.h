// stub.h: entrance to structured/stub_report.h.
#pragma once

#include "opgen/structured/stub_report.h"
