// tracer_test.cpp: recorded graphs are printed, and replayed on other inputs and on Meta.
#include "opgen/transforms/tracer.h"

#include <thread>

#include "check.h"
#include "operators.h"

using namespace opgen;
using tensors::arange;
using tensors::values;
using Values = std::vector<double>;

namespace {

std::string warning;
void keep(const char* text) {
  warning = text;
}
Tensor weight = tensors::full({3}, 10);

Tensor program(const Tensor& a, const Tensor& b) {
  Tensor product = ops::mul(a, b);
  ops::add_(product, weight);
  std::vector<Tensor> rows = ops::rows(product);
  return ops::add_all({rows[0], rows[1], ops::row(a, 0)}, std::nullopt);
}

}  // namespace

TEST(a_graph_is_printed_call_by_call) {
  Graph graph = trace(program, arange({2, 3}), arange({3}));
  CHECK_EQ(graph.str(), R"(graph(%0: Float[2, 3] on cpu, %1: Float[3] on cpu):
  %3 = constant  # Float[3] on cpu
  %2 = t::mul(%0, %1)  # Float[2, 3] on cpu
  %4 = t::add_(%2, %3)  # Float[2, 3] on cpu
  %5, %6 = t::rows(%4)  # Float[3] on cpu, Float[3] on cpu
  %7 = t::row(%0, 0)  # Float[3] on cpu
  %8 = t::add_all([%5, %6, %7], None)  # Float[3] on cpu
  return %8
)");
  CHECK_EQ(graph.nodes().size(), 5u);
}

TEST(a_graph_runs_again) {
  Tensor a = arange({2, 3}), b = arange({3});
  Graph graph = trace(program, a, b);
  Tensor c = tensors::full({2, 3}, 2), d = tensors::full({3}, 5);
  CHECK_EQ(values(graph.replay({c, d})[0]), values(program(c, d)));
  // In-place calls work on the replay's own values, including views.
  CHECK_EQ(values(graph.replay({a, b})[0]), values(program(a, b)));
  CHECK_EQ(values(a), (Values{0, 1, 2, 3, 4, 5}));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { CHECK_EQ(values(graph.replay({c, d})[0]), (Values{42, 42, 42})); });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_THROWS(Error, "takes 2 inputs, not 1", graph.replay({a}));
}

TEST(replay_on_meta) {
  Graph graph = trace(program, arange({2, 3}), arange({3}));
  std::vector<TensorBase> out = graph.replay({tensors::meta({2, 3}), tensors::meta({3})});
  CHECK(out[0].is_meta() && out[0].sizes().equals({3}));
}

TEST(out_arguments_and_several_results) {
  Graph graph = trace(
      [](const Tensor& a, const Tensor& out) {
        Tensor result = out;
        ops::add_out(result, a, a);
        return std::vector<Tensor>{result, a};
      },
      arange({2}), tensors::empty({2}));
  CHECK(graph.str().find("%2 = t::add.out(%0, %0, out=%1)") != std::string::npos);
  CHECK(graph.str().find("return %2, %0") != std::string::npos);
  Tensor out = tensors::empty({2});
  CHECK(graph.replay({arange({2}), out})[0].is_same(out));
  CHECK_EQ(values(out), (Values{0, 2}));
}

TEST(numbers_become_constants_with_a_warning) {
  WarningHandler old = set_warning_handler(&keep);
  Graph graph = trace(
      [](const Tensor& a) { return ops::add(a, tensors::full({}, ops::item(ops::row(a, 1)))); },
      arange({2}));
  set_warning_handler(old);
  CHECK(warning.find("t::item, which returns a number") != std::string::npos);
  CHECK_EQ(values(graph.replay({tensors::full({2}, 5)})[0]), (Values{6, 6}));
}

TEST(recording_ends) {
  {
    Trace recording({arange({2})});
    CHECK_THROWS(Error, "is already recording a trace", Trace({arange({2})}));
    // Calls of another thread are not recorded.
    std::thread([] { ops::add(arange({2}), arange({2})); }).join();
    CHECK_THROWS(Error, "broadcast", ops::add(arange({2}), arange({3})));
    Graph graph = recording.finish({});
    CHECK(graph.nodes().empty());
    CHECK_THROWS(Error, "has ended", recording.finish({}));
  }
  Graph graph = trace([](const Tensor& a) { return a; }, arange({2}));
  CHECK(graph.nodes().empty() && graph.str().find("return %0") != std::string::npos);
  ops::add(arange({2}), arange({2}));
}
