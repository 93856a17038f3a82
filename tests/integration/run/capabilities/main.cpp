// main.cpp: prints which of the kernels runs, and its exact result.
#include <opgen/kernel.h>
#include <opgen/registration/dispatch_stub.h>
#include <wide/Functions.h>

#include <cstdio>
#include <string>

int main() {
  opgen::Tensor a = opgen::full({1000}, 0.1, opgen::kFloat);
  for (int i = 0; i < 1000; ++i) a.data_ptr<float>()[i] += static_cast<float>(i) / 7;
  std::printf("%s, %s, %a\n", opgen::toString(opgen::get_cpu_capability()),
              std::string(wide::compiled_for(a)).c_str(),
              static_cast<double>(*wide::dot(a, a).data_ptr<float>()));
}
