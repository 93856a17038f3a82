// registers.cpp: a library whose loading, and whose function hunt_register(), define an operator
// and its kernel; its end, and that of the function, remove them again.
#include <atomic>
#include <string>

#include "opgen/schema/library.h"

namespace {

void same(const opgen::OperatorHandle&, opgen::DispatchKeySet, opgen::Stack&) {}

void define(opgen::Library& library, const std::string& name) {
  library.def(name + "(int number) -> int", opgen::CppFunction::makeFromBoxedFunction<&same>());
}

}  // namespace

OPGEN_LIBRARY(hunt_loaded, m) {
  define(m, "same");
}

extern "C" void hunt_register() {
  // Several threads may define operators of one namespace, but not the same operator.
  static std::atomic<int> number{0};
  opgen::Library library(opgen::Library::Kind::Fragment, "hunt", opgen::DispatchKey::Undefined,
                         __FILE__, __LINE__);
  define(library, "same_" + std::to_string(number++));
}
