// by_name.cpp: a program that uses an operator by its name alone, and no symbol of its library.
#include <opgen/dispatch/dispatcher.h>

#include <cstdio>

int main() {
  const bool is_there = opgen::Dispatcher::singleton().findSchema("base::twice", "").has_value();
  std::puts(is_there ? "found" : "not there");
}
