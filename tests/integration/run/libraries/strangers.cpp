// strangers.cpp: a program that links two libraries whose authors do not know each other.
#include <base/Functions.h>
#include <opgen/kernel.h>
#include <second/Functions.h>

#include <cstdio>
#include <type_traits>
#include <vector>

template <class T>
void print(const T& tensor) {
  std::printf("%g ", *tensor.template data_ptr<float>());
}

int main() {
  static_assert(!std::is_same_v<base::Tensor, second::Tensor>);
  opgen::Tensor one = opgen::full({1}, 1, opgen::kFloat);
  // The tensors of each library are arguments of the other's functions, without a copy.
  const base::Tensor two = base::twice(one);
  const second::Tensor six = second::thrice(two);
  print(two.twice());
  print(six.thrice());
  // Written arguments are the caller's handles.
  second::Tensor same = six;
  print(base::add_one_(same).twice());
  std::printf("%d ", same.is_same(six));
  print(base::add_one_(one).add_one_());
  // Lists.
  const std::vector<base::Tensor> list = {two, base::twice(two)};
  for (const second::Tensor& each : second::thrice_each(list)) print(each.thrice());
  std::printf("%zu\n", two.use_count());
}
