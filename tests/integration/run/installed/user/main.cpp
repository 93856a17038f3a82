// main.cpp: calls an installed operator, as a function and as a method.
#include <base/Functions.h>
#include <opgen/kernel.h>

#include <cstdio>

int main() {
  base::Tensor three = opgen::full({1}, 3, opgen::kFloat);
  std::printf("%g %g\n", *base::twice(three).data_ptr<float>(), *three.twice().data_ptr<float>());
}
