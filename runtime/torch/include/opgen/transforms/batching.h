// batching.h: the vmap kernel of operators that PyTorch's own fallback rejects: operators that
// write arguments other than the first, and operators that take or return lists of tensors.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <ATen/functorch/BatchedTensorImpl.h>
#include <ATen/ops/stack.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "opgen/autograd/autograd.h"

namespace opgen {

namespace detail {

// Returns the batched tensor behind `tensor` if it was made at `level`; else null.
inline const at::functorch::BatchedTensorImpl* find_batch(const at::Tensor& tensor,
                                                          std::int64_t level) {
  const auto* batch = at::functorch::maybeGetBatchedImpl(tensor);
  return batch != nullptr && batch->level() == level ? batch : nullptr;
}

// Returns `value` with each tensor replaced by `f(tensor)`.
template <class F>
c10::IValue map_tensors(const c10::IValue& value, const F& f) {
  if (value.isTensor())
    return value.toTensor().defined() ? c10::IValue(f(value.toTensor())) : value;
  if (value.isTensorList()) {
    std::vector<at::Tensor> mapped;
    for (const at::Tensor& tensor : value.toTensorVector()) mapped.push_back(f(tensor));
    return mapped;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> mapped;
    for (const auto& tensor : value.toOptionalTensorVector()) {
      mapped.push_back(tensor.has_value() ? std::optional<at::Tensor>(f(*tensor)) : std::nullopt);
    }
    return mapped;
  }
  return value;
}

// Calls `op` once for each element of a batch.
class BatchLoop {
 public:
  BatchLoop(const c10::OperatorHandle& op, std::vector<c10::IValue> arguments)
      : op_(op), arguments_(std::move(arguments)) {
    for (const c10::IValue& value : arguments_) {
      for_each_tensor(value, [&](const at::Tensor& tensor) {
        const auto* batch = at::functorch::maybeGetBatchedImpl(tensor);
        if (batch != nullptr) level_ = std::max(level_, batch->level());
      });
    }
  }

  // Returns what the operator returns: batches, and the arguments that it writes.
  std::vector<c10::IValue> run() {
    if (level_ == kNoLevel) return call(arguments_);
    find_size();
    check_written();
    TORCH_CHECK(size_ > 0, "vmap: ", op_.operator_name(), " cannot be called for an empty batch");
    std::vector<std::vector<c10::IValue>> results;
    for (std::int64_t i = 0; i < size_; ++i) results.push_back(call(element(i)));
    std::vector<c10::IValue> together;
    for (std::size_t i = 0; i < op_.schema().returns().size(); ++i) {
      together.push_back(gather(i, results));
    }
    return together;
  }

 private:
  static constexpr std::int64_t kNoLevel = -1;

  std::vector<c10::IValue> call(std::vector<c10::IValue> arguments) const {
    op_.callBoxed(&arguments);
    return arguments;
  }

  void find_size() {
    for (const c10::IValue& value : arguments_) {
      for_each_tensor(value, [&](const at::Tensor& tensor) {
        const auto* batch = find_batch(tensor, level_);
        if (batch != nullptr) size_ = batch->value().size(batch->bdim());
      });
    }
  }

  void check_written() const {
    const auto& arguments = op_.schema().arguments();
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (!is_written(arguments[i])) continue;
      for_each_tensor(arguments_[i], [&](const at::Tensor& tensor) {
        const auto* batch = find_batch(tensor, level_);
        TORCH_CHECK(batch != nullptr, "vmap: ", op_.operator_name(), " writes its argument '",
                    arguments[i].name(),
                    "', which is shared by the whole batch: pass one tensor for each ",
                    "of its elements (in_dims)");
        TORCH_CHECK(size_ < 2 || batch->value().stride(batch->bdim()) != 0,
                    "vmap: ", op_.operator_name(), " writes its argument '", arguments[i].name(),
                    "', whose elements share memory; clone() it first");
      });
    }
  }

  // Returns the arguments of the call for the element at `index`.
  std::vector<c10::IValue> element(std::int64_t index) const {
    std::vector<c10::IValue> own;
    for (const c10::IValue& value : arguments_) {
      own.push_back(map_tensors(value, [&](const at::Tensor& tensor) {
        const auto* batch = find_batch(tensor, level_);
        return batch == nullptr ? tensor : batch->value().select(batch->bdim(), index);
      }));
    }
    return own;
  }

  // Combines the returns at `position` of all calls into one: the argument that is returned, or a
  // batch.
  c10::IValue gather(std::size_t position,
                     const std::vector<std::vector<c10::IValue>>& results) const {
    const c10::IValue* argument = find_argument(op_.schema().returns()[position]);
    if (argument != nullptr) return *argument;
    std::vector<c10::IValue> values;
    for (const auto& result : results) values.push_back(result[position]);
    return gather(values);
  }
  // Combines the values of all calls: tensors to a batch, and lists item by item.
  c10::IValue gather(const std::vector<c10::IValue>& values) const {
    const c10::IValue& first = values.front();
    if (first.isTensor() && first.toTensor().defined()) {
      std::vector<at::Tensor> parts;
      for (const c10::IValue& value : values) parts.push_back(value.toTensor());
      return batch_of(parts);
    }
    if (first.isList()) {
      const c10::List<c10::IValue> items = first.toList();
      c10::impl::GenericList batches(items.elementType());
      for (std::size_t i = 0; i < items.size(); ++i) {
        std::vector<c10::IValue> parts;
        for (const c10::IValue& value : values) {
          check_same(value.toList().size() == items.size());
          parts.push_back(value.toList().get(i));
        }
        batches.push_back(gather(parts));
      }
      return batches;
    }
    for (const c10::IValue& value : values) {
      for_each_tensor(value, [&](const at::Tensor& tensor) {
        TORCH_CHECK(!tensor.defined(), "vmap: ", op_.operator_name(),
                    " returns tensors that are neither results nor in lists");
      });
      check_same(value.isTensor() || value == first);
    }
    return first;
  }

  void check_same(bool same) const {
    TORCH_CHECK(
        same, "vmap: ", op_.operator_name(),
        " returns different numbers, or lists of different lengths, for the elements of the batch");
  }

  at::Tensor batch_of(const std::vector<at::Tensor>& parts) const {
    return at::functorch::makeBatched(at::stack(parts), /*dim=*/0, level_);
  }

  // Returns the argument that this return is, according to its alias annotation, if the argument
  // was given.
  const c10::IValue* find_argument(const c10::Argument& value) const {
    if (value.alias_info() == nullptr) return nullptr;
    const auto& arguments = op_.schema().arguments();
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const auto* own = arguments[i].alias_info();
      if (own == nullptr || own->beforeSets() != value.alias_info()->beforeSets()) continue;
      return arguments_[i].isNone() ? nullptr : &arguments_[i];
    }
    return nullptr;
  }

  const c10::OperatorHandle& op_;
  std::vector<c10::IValue> arguments_;
  std::int64_t level_ = kNoLevel;
  std::int64_t size_ = 0;
};

}  // namespace detail

// Runs an operator under vmap, boxed: calls it once for each element of the batch, with views of
// the tensors that it reads and writes.
inline void call_for_each(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const c10::impl::ExcludeDispatchKeyGuard guard(c10::DispatchKey::FuncTorchBatched);
  const std::size_t count = op.schema().arguments().size();
  std::vector<c10::IValue> results = detail::BatchLoop(op, torch::jit::pop(*stack, count)).run();
  for (c10::IValue& value : results) stack->push_back(std::move(value));
}

}  // namespace opgen
