// main.cpp: the errors of kernels that are not written yet, and the report of them.
#include "../say.h"

#include <opgen/stub.h>

#include <aten/Functions.h>

int main() {
  opgen::Tensor a = say::range({2});
  say::show("written", at::written(a));
  say::refused("unwritten", [&] { at::unwritten(a, {1, 2}, "mode"); });
  say::refused("composed", [&] { at::composed(a); });
  say::refused("shaped", [&] { at::shaped(a, 1); });
  say::refused("halved, made from halved_", [&] { at::halved(a); });
  for (const opgen::StubReport& stub : opgen::opgen_stub_report()) {
    std::printf("%s: %s on %s: %s\n", stub.library.c_str(), stub.op.c_str(), stub.key.c_str(),
                stub.signature.c_str());
  }
}
