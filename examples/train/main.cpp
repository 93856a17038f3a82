// main.cpp: train the network of README.md, and print the loss before each step.
#include <opgen/autograd.h>
#include <opgen/tensor_functions.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include <lookup/Functions.h>

using opgen::Tensor;

namespace {

constexpr std::int64_t kKeys = 4, kValues = 4, kWidth = 16, kBatch = 32;
constexpr double kRate = 0.05, kMomentum = 0.9;
constexpr int kSteps = 100;

// The random numbers of network.py: a linear congruential generator.
class Numbers {
 public:
  std::int64_t below(std::int64_t n) { return (next() >> 16) % n; }
  // Returns a number between -1 and 1.
  double weight() { return static_cast<double>(next() >> 8) / (1 << 23) - 1; }

 private:
  std::uint32_t next() { return state_ = state_ * 1664525 + 1013904223; }
  std::uint32_t state_ = 1;
};

struct Parameter {
  Tensor value;
  Tensor velocity;
};

Parameter parameter(Tensor value) {
  opgen::autograd::set_requires_grad(value, true);
  return {value, opgen::zeros_like(value)};
}

Tensor random_matrix(Numbers& numbers, std::int64_t rows, std::int64_t columns) {
  const Tensor result = opgen::empty({rows, columns});
  auto elements = result.accessor<float, 2>();
  const double scale = std::sqrt(3.0 / static_cast<double>(columns));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      elements[i][j] = static_cast<float>(numbers.weight() * scale);
    }
  }
  return result;
}

// Tables of pairs of a key and a value, a key to look up in each, and the value to find.
struct Batch {
  Tensor tables = opgen::zeros({kBatch, kKeys, kKeys + kValues});
  Tensor questions = opgen::zeros({kBatch, 1, kKeys});
  Tensor answers = opgen::zeros({kBatch, 1}, opgen::kLong);
};

Batch random_batch(Numbers& numbers) {
  Batch batch;
  auto table = batch.tables.accessor<float, 3>();
  auto question = batch.questions.accessor<float, 3>();
  auto answer = batch.answers.accessor<std::int64_t, 2>();
  for (std::int64_t b = 0; b < kBatch; ++b) {
    std::vector<std::int64_t> keys{0, 1, 2, 3};
    for (std::size_t i = 3; i > 0; --i) {
      std::swap(keys[i], keys[static_cast<std::size_t>(numbers.below(std::int64_t(i) + 1))]);
    }
    std::vector<std::int64_t> values(keys.size());
    for (std::int64_t& value : values) value = numbers.below(kValues);
    const std::int64_t wanted = numbers.below(kKeys);
    question[b][0][wanted] = 1;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      table[b][std::int64_t(i)][keys[i]] = 1;
      table[b][std::int64_t(i)][kKeys + values[i]] = 1;
      if (keys[i] == wanted) answer[b][0] = values[i];
    }
  }
  return batch;
}

struct Network {
  explicit Network(Numbers& numbers)
      : parameters{parameter(random_matrix(numbers, kWidth, kKeys)),
                   parameter(random_matrix(numbers, kWidth, kKeys + kValues)),
                   parameter(random_matrix(numbers, kWidth, kKeys + kValues)),
                   parameter(opgen::ones({kWidth})),
                   parameter(opgen::zeros({kWidth})),
                   parameter(random_matrix(numbers, 2 * kWidth, kWidth)),
                   parameter(opgen::zeros({2 * kWidth})),
                   parameter(random_matrix(numbers, kValues, 2 * kWidth)),
                   parameter(opgen::zeros({kValues}))} {}

  Tensor loss(const Batch& batch) const {
    const auto w = [this](std::size_t i) { return parameters[i].value; };
    const auto [found, probabilities] =
        lookup::attention(lookup::linear(batch.questions, w(0)), lookup::linear(batch.tables, w(1)),
                          lookup::linear(batch.tables, w(2)));
    const Tensor normal = lookup::layer_norm(found, w(3), w(4));
    const Tensor hidden = lookup::gelu(lookup::add(lookup::linear(normal, w(5)), w(6)));
    return lookup::cross_entropy(lookup::add(lookup::linear(hidden, w(7)), w(8)), batch.answers);
  }

  // One step of gradient descent.
  void step() {
    const opgen::NoGradGuard no_grad;
    for (auto& [value, velocity] : parameters) {
      lookup::sgd_(value, velocity, Tensor(opgen::autograd::grad_of(value)), kRate, kMomentum);
      opgen::autograd::set_grad(value, Tensor());
    }
  }

  std::vector<Parameter> parameters;
};

}  // namespace

int main() {
  Numbers numbers;
  Network network(numbers);
  for (int step = 0; step < kSteps; ++step) {
    const Tensor loss = network.loss(random_batch(numbers));
    std::printf("%.8f\n", opgen::item(loss).to<double>());
    opgen::autograd::backward(loss);
    network.step();
  }
}
