// main.cpp: call all variants of the generated operator.
#include <opgen/kernel.h>

#include <cstdio>
#include <exception>

#include <myops/Functions.h>
#include <myops/MetaFunctions.h>

namespace {

opgen::Tensor range(std::int64_t rows, std::int64_t columns) {
  opgen::Tensor t = opgen::empty({rows, columns}, opgen::TensorOptions());
  for (std::int64_t i = 0; i < t.numel(); ++i)
    t.mutable_data_ptr<float>()[i] = static_cast<float>(i);
  return t;
}

void print(const char* what, const opgen::Tensor& t) {
  std::printf("%-24s", what);
  for (std::int64_t i = 0; i < t.numel(); ++i) std::printf(" %g", t.const_data_ptr<float>()[i]);
  std::printf("\n");
}

}  // namespace

int main() {
  opgen::Tensor a = range(2, 3), row = range(1, 3);
  print("myadd(a, row)", myops::myadd(a, row));

  opgen::Tensor out = opgen::empty({2, 3}, opgen::TensorOptions());
  myops::myadd_out(out, a, a);
  print("myadd_out(out, a, a)", out);

  myops::myadd_(a, row);
  print("myadd_(a, row)", a);

  opgen::Tensor shape = myops::meta::myadd(a, row);
  std::printf("%-24s %lld x %lld, %s\n", "meta::myadd(a, row)",
              static_cast<long long>(shape.size(0)), static_cast<long long>(shape.size(1)),
              shape.is_meta() ? "no data" : "with data");

  try {
    myops::myadd(a, range(2, 2));
  } catch (const std::exception& error) {
    std::printf("myadd(2x3, 2x2): %s\n", error.what());
  }
}
