// main.cpp: use each dispatch key above the kernels with generated operators.
#include <opgen/autograd.h>
#include <opgen/autograd/autograd_fallback.h>
#include <opgen/autograd/forward.h>
#include <opgen/autograd/inference_mode.h>
#include <opgen/autograd/inplace_or_view.h>
#include <opgen/autograd/primitives.h>
#include <opgen/boxing.h>
#include <opgen/transforms/autocast.h>
#include <opgen/transforms/profiler.h>
#include <opgen/transforms/tracer.h>
#include <opgen/transforms/vmap.h>

#include <algorithm>

#include "say.h"

using opgen::Tensor;
namespace autocast = opgen::autocast;
namespace autograd = opgen::autograd;

// Each operator without a gradient needs one line.
OPGEN_LIBRARY_IMPL(myops, Autograd, m) {
  m.impl("myadd", opgen::autogradNotImplementedFallback());
  m.impl("myadd_", opgen::autogradNotImplementedFallback());
}
OPGEN_LIBRARY_IMPL(myops, AutocastCPU, m) {
  m.impl("mymatmul", autocast::lower_precision());
}

void run_tutorial();

namespace {

void trace() {
  say::section("Tracer");
  auto program = [](const Tensor& a, const Tensor& b) {
    Tensor product = myops::mymatmul(a, b);
    myops::myadd_(product, say::full({2}, 100));
    return myops::row(product, 0);
  };
  opgen::Graph graph = opgen::trace(program, say::range({2, 3}), say::range({3, 2}));
  std::printf("%s", graph.str().c_str());
  say::show("replayed", graph.replay({say::full({1, 2}, 2), say::full({2, 2}, 1)})[0]);
  auto meta = opgen::TensorOptions().device(opgen::kMeta);
  say::show("on Meta", graph.replay({opgen::empty({7, 5}, meta), opgen::empty({5, 2}, meta)})[0]);
}

void mixed_precision() {
  say::section("Autocast");
  Tensor input = say::full({1, 2}, 0.5), weight = say::full({2, 1}, 1.001);
  autograd::set_requires_grad(weight, true);
  say::show("outside", myops::mymatmul(input, weight));
  {
    autocast::Mode mode(opgen::kCPU, opgen::kBFloat16);
    say::show("inside", myops::mymatmul(input, weight));
    myops::mymatmul(input, weight);
    std::printf("weights kept: %zu\n", autocast::cache_size());
    autocast::Mode off(opgen::kCPU, opgen::kBFloat16, /*enabled=*/false);
    say::show("switched off inside", myops::mymatmul(input, weight));
  }
  std::printf("weights kept: %zu\n", autocast::cache_size());
}

void batches() {
  say::section("Batched");
  Tensor rows = say::range({3, 2}), bias = say::full({2}, 10);
  // The batch is dimension 0 of `rows`; `bias` is the same for all.
  say::show("vmap(myadd)", opgen::vmap(myops::myadd, {0, std::nullopt})(rows, bias));
  // Two levels combine every row with every column.
  auto inner = [&](const Tensor& row) {
    return opgen::vmap(myops::myadd, {std::nullopt, 0})(row, rows);
  };
  say::show("all pairs", opgen::vmap(inner)(rows));
  opgen::vmap([](Tensor matrix) {
    Tensor first = myops::row(matrix, 0);
    return myops::myadd_(first, say::full({}, 100));
  })(rows);
  say::show("in place, through a view", rows);
  say::refused("a number", [&] {
    opgen::vmap([](const Tensor& row) { return say::full({}, myops::total(row)); })(rows);
  });
}

void changes_and_views() {
  say::section("ADInplaceOrView");
  Tensor base = say::range({2, 2});
  Tensor view = myops::row(base, 1);
  myops::myadd_(view, say::full({2}, 10));
  say::show("base", base);
  std::printf("version of base %lld, of the view %lld\n", static_cast<long long>(base._version()),
              static_cast<long long>(view._version()));
  std::printf("is_view %d, of base %d\n", opgen::is_view(view),
              opgen::view_base(view).is_same(base));
  Tensor made;
  {
    opgen::InferenceMode mode;
    made = myops::myadd(base, base);
    myops::myadd_(made, base);
  }
  say::refused("_version()", [&] { std::printf("%lld", static_cast<long long>(made._version())); });
  say::refused("outside of the mode", [&] { myops::myadd_(made, base); });
}

void no_gradient() {
  say::section("autogradNotImplementedFallback");
  Tensor a = say::range({2});
  autograd::set_requires_grad(a, true);
  Tensor sum = myops::myadd(a, a);
  std::printf("requires_grad %d, made by %s\n", autograd::requires_grad(sum),
              autograd::grad_fn(sum)->name().c_str());
  say::refused("backward", [&] { autograd::backward(sum, sum); });
  say::refused("in place", [&] { myops::myadd_(a, a); });
}

void forward_mode() {
  say::section("forward mode");
  auto f = [](const opgen::TensorBase& x) { return opgen::primitive::add(x, x); };
  Tensor value = say::range({2}), direction = say::full({2}, 1);
  opgen::autograd::ForwardLevel level;
  auto x = opgen::autograd::make_dual(value, direction);
  auto derivative = opgen::autograd::tangent_of(f(x));  // the Jacobian of f times the direction
  say::show("derivative", derivative);
}

void profile() {
  say::section("profiler");
  opgen::Profiler profiler;
  for (int i = 0; i < 3; ++i) myops::myadd(say::range({2}), say::range({2}));
  myops::mymatmul(say::range({1, 2}), say::range({2, 1}));
  profiler.stop();
  myops::myadd(say::range({2}), say::range({2}));
  auto rows = profiler.rows();
  std::sort(rows.begin(), rows.end(), [](auto& a, auto& b) { return a.op < b.op; });
  for (const auto& row : rows) {
    std::printf("%s: %lld calls\n", row.op.c_str(), static_cast<long long>(row.calls));
  }
}

}  // namespace

int main() {
  run_tutorial();
  trace();
  mixed_precision();
  batches();
  changes_and_views();
  no_gradient();
  forward_mode();
  profile();
}
