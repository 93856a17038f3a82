// main.cpp: calls every operator of input.yaml.
#include <mine/Functions.h>
#include <opgen/kernel.h>

#include <cstdio>
#include <vector>

using opgen::Tensor;

int main() {
  Tensor x = opgen::full({2}, 3, opgen::kFloat), y = opgen::full({2}, 0, opgen::kFloat);
  mine::scale(y, x, 2.5);
  std::printf("scale: %g\n", static_cast<double>(y.data_ptr<float>()[1]));
  mine::fill_both(x, y, 7);
  std::printf("fill_both: %g %g\n", static_cast<double>(*x.data_ptr<float>()),
              static_cast<double>(*y.data_ptr<float>()));
  mine::fill_both(x, std::nullopt, 8);
  const std::vector<Tensor> both = {x, y};
  const std::vector<double> values = {1.5, 2.5};
  mine::fill_each(both, values);
  std::printf("fill_each: %g %g\n", static_cast<double>(*x.data_ptr<float>()),
              static_cast<double>(*y.data_ptr<float>()));
  const auto [fresh, same] = mine::mixed(x, y);
  std::printf("mixed: %g %g %d\n", static_cast<double>(*fresh.data_ptr<float>()),
              static_cast<double>(*x.data_ptr<float>()), same.is_same(x));
  std::printf("describe: %s\n", mine::describe("sizes", {4, 5}, 6).c_str());
  std::printf("plus_one: %g\n", static_cast<double>(*mine::plus_one(x).data_ptr<float>()));
}
