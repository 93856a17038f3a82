// from_cpp LIBRARY PACKAGE CALLS: runs a package of AOTInductor without Python. CALLS holds, for
// each call, the arguments and the results found by Python (torch.save of a list).
#include <ATen/ATen.h>
#include <dlfcn.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

namespace {

std::vector<at::Tensor> tensors_of(const c10::IValue& list) {
  std::vector<at::Tensor> found;
  for (const c10::IValue& each : list.toListRef()) found.push_back(each.toTensor());
  return found;
}

bool same(const at::Tensor& one, const at::Tensor& other) {
  return one.sizes() == other.sizes() && one.dtype() == other.dtype() &&
         at::allclose(one.to(at::kDouble), other.to(at::kDouble), 1e-3, 1e-4, /*equal_nan=*/true);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return std::fputs("from_cpp LIBRARY PACKAGE CALLS\n", stderr), 2;
  if (dlopen(argv[1], RTLD_NOW) == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 2;
  torch::inductor::AOTIModelPackageLoader program(argv[2]);
  std::ifstream file(argv[3], std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  const c10::IValue calls = torch::jit::pickle_load(bytes);
  std::size_t compared = 0;
  for (const c10::IValue& call : calls.toListRef()) {
    const auto& pair = call.toListRef();
    const auto want = tensors_of(pair.at(1)), have = program.run(tensors_of(pair.at(0)));
    if (have.size() != want.size()) return std::fputs("another number of results\n", stderr), 1;
    for (std::size_t i = 0; i < have.size(); ++i, ++compared) {
      if (!same(have[i], want[i])) return std::fprintf(stderr, "result %zu differs\n", i), 1;
    }
  }
  std::printf("%zu results are those of Python\n", compared);
}
