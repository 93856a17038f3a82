// main.cpp: a program that uses two libraries of operators.
#include <base/Functions.h>
#include <more/Functions.h>
#include <opgen/kernel.h>

#include <cstdio>

int main() {
  opgen::Tensor three = opgen::full({1}, 3, opgen::kFloat);
  std::printf("%g %g\n", *base::twice(three).data_ptr<float>(),
              *more::fourfold(three).data_ptr<float>());
}
