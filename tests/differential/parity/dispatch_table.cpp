// dispatch_table.cpp: reads keys, one set of registrations per line, and prints the computed table
// of an operator with a kernel for each: "key=the registration that serves it", separated by
// blanks. With any argument, prints the existing keys instead.
#include <iostream>
#include <sstream>
#include <string>

#include "opgen/library.h"

using namespace opgen;

namespace {

void nothing(const OperatorHandle&, DispatchKeySet, Stack&) {}

// "CPU: kernel" -> "CPU=CPU", "CUDA: Autograd" -> "CUDA=Autograd".
void print_row(const std::string& row) {
  std::size_t colon = row.find(": ");
  std::string key = row.substr(0, colon);
  std::string reason = row.substr(colon + 2);
  std::cout << key << '=' << (reason == "kernel" ? key : reason.substr(0, reason.find(':'))) << ' ';
}

}  // namespace

int main(int argc, char**) {
  if (argc > 1) {
    for (int i = 0; i < static_cast<int>(DispatchKey::EndOfKeys); ++i) {
      std::cout << toString(static_cast<DispatchKey>(i)) << '\n';
    }
    return 0;
  }
  for (std::string line; std::getline(std::cin, line);) {
    Library m(Library::Kind::Fragment, "test", DispatchKey::Undefined, __FILE__, __LINE__);
    m.def("foo(Tensor x) -> Tensor");
    std::istringstream names(line);
    for (std::string name; names >> name;) {
      m.impl("foo", find_dispatch_key(name).value(), CppFunction::makeFromBoxedFunction(nothing));
    }
    std::istringstream table(
        Dispatcher::singleton().findSchemaOrThrow("test::foo", "").dump_computed_table());
    for (std::string row; std::getline(table, row);) print_row(row);
    std::cout << '\n';
  }
}
