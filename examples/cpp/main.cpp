// main.cpp: call operators, and make, print, read and compare tensors (docs/guides/cpp.md).
#include <opgen/tensor_functions.h>

#include <cstdint>
#include <iomanip>
#include <iostream>
#include <vector>

#include <myops/Functions.h>
#include <myops/MetaFunctions.h>

using opgen::Tensor;

namespace {

Tensor make() {
  Tensor zeros = opgen::zeros({2, 3});                    // Float, the default dtype
  Tensor sevens = opgen::full({1}, int64_t(7));           // Long, the dtype of the number
  Tensor halves = opgen::full({2}, 0.5, opgen::kDouble);  // another dtype
  Tensor copied = opgen::full_like(zeros, 2);             // sizes, strides and dtype of `zeros`
  std::vector<float> numbers{0, 1, 2, 3, 4, 5};
  Tensor shared = opgen::from_blob(numbers.data(), {2, 3}, {3, 1});  // uses the vector's memory
  Tensor owned = opgen::clone(shared);                               // outlives the vector
  opgen::copy_(zeros, sevens);                                       // converts and broadcasts
  return owned;
}

void fill(const Tensor& tensor) {
  opgen::fill_(tensor, 1);                      // one value
  auto elements = tensor.accessor<float, 2>();  // checked: Float, two dimensions
  for (int64_t i = 0; i < tensor.size(0); ++i) {
    for (int64_t j = 0; j < tensor.size(1); ++j) elements[i][j] = float(10 * i + j) / 4;
  }
}

void print(const Tensor& tensor) {
  std::cout << tensor << "\n\n";
  std::cout << opgen::as_strided(tensor, {3, 2}, {1, 3}) << "\n\n";
  std::cout << opgen::full({}, 3.5) << "\n\n";
  std::cout << opgen::full({40, 50}, true) << "\n\n";
  std::cout << std::setprecision(3) << opgen::full({2}, 1.0 / 3, opgen::kHalf) << "\n\n";
  std::cout << std::setprecision(6);
}

void read(const Tensor& tensor) {
  std::cout << toString(tensor.scalar_type()) << ' ' << tensor.dim() << ' ' << tensor.size(-1)
            << '\n';
  const auto elements = tensor.accessor<const float, 2>();
  std::cout << elements[1][2] << '\n';
  const Tensor one = opgen::as_strided(tensor, {}, {}, 4);
  std::cout << opgen::item(one).to<double>() << '\n';
  const Tensor rows = opgen::contiguous(tensor);  // row-major, so a pointer is enough
  const float* data = rows.const_data_ptr<float>();
  std::cout << std::vector<float>(data, data + rows.numel()).back() << '\n';
}

void compare(const Tensor& a) {
  Tensor b = opgen::clone(a);
  std::cout << std::boolalpha << opgen::equal(a, b) << ' ';
  opgen::fill_(opgen::as_strided(b, {1}, {1}), 1e-9);
  std::cout << opgen::equal(a, b) << ' ' << opgen::allclose(a, b) << '\n';
}

void call(const Tensor& a) {
  Tensor row = opgen::ones({1, 3});
  std::cout << myops::myadd(a, row) << "\n\n";  // a new tensor
  Tensor out = opgen::empty({0});
  myops::myadd_out(out, a, a);  // into a tensor, which is resized
  myops::myadd_(out, row);      // in place
  std::cout << out << "\n\n";
  const Tensor shape = myops::meta::myadd(a, row);  // sizes and dtype only
  std::cout << shape.size(0) << " x " << shape.size(1) << "\n\n";
  try {
    (void)myops::myadd(a, opgen::ones({2, 2}));
  } catch (const opgen::Error& error) {
    std::cout << error.msg() << '\n';
  }
}

}  // namespace

int main() {
  Tensor tensor = make();
  fill(tensor);
  std::cout << "== print ==\n";
  print(tensor);
  std::cout << "== read ==\n";
  read(tensor);
  std::cout << "== compare ==\n";
  compare(tensor);
  std::cout << "== call ==\n";
  call(tensor);
}
