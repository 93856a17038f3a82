// derived_saved.h: the values of a call that a graph node of a formula keeps until its backward
// pass. Tensors are kept in the same way as in PyTorch: with their versions and their hooks, and
// without cycles.
#pragma once

#include <ATen/TensorGeometry.h>
#include <ATen/core/IListRef.h>
#include <ATen/core/List.h>
#include <ATen/ops/zeros.h>
#include <c10/util/SmallVector.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "opgen/autograd/autograd_nodes.h"
#include "opgen/core/release.h"
#include "opgen/tensor/kept.h"

namespace opgen::autograd {

using NodePointer = decltype(torch::autograd::Edge::function);
using Gradients = torch::autograd::variable_list;
// The gradients of the outputs. That of an output without a gradient is undefined.
using OutputGradients = Gradients;

// The sizes and options of a tensor, without its memory.
struct TypeAndSize : torch::autograd::TypeAndSize {
  TypeAndSize() = default;
  TypeAndSize(const at::Tensor& tensor)  // NOLINT(google-explicit-constructor)
      : torch::autograd::TypeAndSize(tensor) {}
  at::Tensor zeros() const { return at::zeros_symint(sym_sizes, options); }
};

// An argument that the operator is about to write, if `is_written`. It can also return a copy of
// the argument's previous value, which is made only once, and only if it is needed.
template <class T>
class Before;
template <>
class Before<at::Tensor> : public at::Tensor {
 public:
  explicit Before(const at::Tensor& self, bool is_written = true)
      : at::Tensor(self), is_written_(is_written) {}
  const at::Tensor& copy() const {
    if (!is_written_) return *this;
    if (!copy_.defined() && this->defined()) copy_ = this->clone();
    return copy_;
  }
  const at::Tensor& before() const {
    if (copy_.defined()) return copy_;
    return *this;
  }

 private:
  bool is_written_;
  mutable at::Tensor copy_;
};
template <>
class Before<at::TensorList> : public at::TensorList {
 public:
  explicit Before(at::TensorList self, bool is_written = true)
      : at::TensorList(self), is_written_(is_written) {}
  at::TensorList copy() const {
    if (!is_written_) return *this;
    if (copies_.empty()) {
      copies_.reserve(this->size());
      for (const at::Tensor& each : *this) {
        copies_.push_back(each.defined() ? each.clone() : each);
      }
    }
    return copies_;
  }
  at::TensorList before() const {
    if (copies_.empty()) return *this;
    return copies_;
  }

 private:
  bool is_written_;
  mutable std::vector<at::Tensor> copies_;
};

// A call that is recorded, while its node saves values.
class Recording {
 public:
  // Returns whether the argument at position `input` of D::Inputs needs a gradient; for a list,
  // whether any of its elements does.
  bool needs(std::size_t input) const { return ((needs_ >> input) & 1) != 0; }

  void need(std::size_t input) { needs_ |= std::uint64_t{1} << input; }
  void run_in_place() { in_place_ = true; }
  bool in_place() const { return in_place_; }

 private:
  std::uint64_t needs_ = 0;
  bool in_place_ = false;
};

// Reads what was saved; see BackwardCall.
struct Reader {
  std::mutex& mutex;
  torch::autograd::Node& node;
};

namespace detail {

template <class T>
inline constexpr bool kIsTensor =
    std::is_same_v<T, at::Tensor> || std::is_same_v<T, std::optional<at::Tensor>>;
template <class T>
inline constexpr bool kIsOptionalTensorList =
    std::is_same_v<T, c10::List<std::optional<at::Tensor>>> ||
    std::is_same_v<T, at::IOptTensorListRef>;
template <class T>
inline constexpr bool kIsTensorList =
    std::is_same_v<T, at::TensorList> || std::is_same_v<T, at::ITensorListRef> ||
    std::is_same_v<T, std::vector<at::Tensor>> ||
    std::is_same_v<T, std::optional<at::TensorList>> || kIsOptionalTensorList<T>;

inline torch::autograd::SavedVariable save_tensor(const at::Tensor& tensor) {
  return torch::autograd::SavedVariable(tensor, /*is_output=*/false);
}
inline torch::autograd::SavedVariable save_output(const Recording& recording,
                                                  const at::Tensor& tensor) {
  return torch::autograd::SavedVariable(tensor, /*is_output=*/true,
                                        recording.in_place() && tensor.is_view());
}
inline at::Tensor read_tensor(const Reader& reader, const torch::autograd::SavedVariable& saved,
                              bool is_output) {
  return is_output ? saved.unpack(reader.node.getptr()) : saved.unpack();
}

}  // namespace detail

namespace detail {

// Returns the value that is read if a call did not save it because no gradient needs it.
template <class T>
T nothing_saved() {
  if constexpr (std::is_default_constructible_v<T>) {
    return T();
  } else {
    return T(c10::kCPU);
  }
}

}  // namespace detail

// An optional tensor as formulas see it: a tensor that may be undefined, and nullopt for a function
// that takes an optional one.
class OptionalTensor : public at::Tensor {
 public:
  explicit OptionalTensor(at::Tensor tensor) : at::Tensor(std::move(tensor)) {}
  operator std::optional<at::Tensor>() const {  // NOLINT(google-explicit-constructor)
    // As a Tensor: std::optional(*this) may call this operator again.
    const at::Tensor& tensor = *this;
    return tensor.defined() ? std::optional<at::Tensor>(tensor) : std::nullopt;
  }
  bool has_value() const { return this->defined(); }
  const at::Tensor& value() const { return *this; }
};

// A value that is saved: T is a type of the operator's C++ signature, without its reference.
template <class T>
class Saved {
 public:
  void save(const T& value) { value_ = opgen::detail::keep(value); }
  void save_output(const Recording&, const T& value) { save(value); }

  T get(const Reader&) const {
    if constexpr (std::is_same_v<T, opgen::detail::kept_t<T>>) {
      return value_;
    } else if constexpr (requires { value_.has_value(); }) {
      return value_.has_value() ? T(*value_) : T();
    } else {
      return T(value_);
    }
  }
  void release() {}

  // For compiled autograd: see derived_compiled.h.
  opgen::detail::kept_t<T>& kept() { return value_; }

 private:
  opgen::detail::kept_t<T> value_ = detail::nothing_saved<opgen::detail::kept_t<T>>();
};

template <class T>
requires detail::kIsTensor<T>
class Saved<T> {
 public:
  void save(const at::Tensor& tensor) { saved_ = detail::save_tensor(tensor); }
  void save(const std::optional<at::Tensor>& tensor) {
    saved_ = detail::save_tensor(tensor.has_value() ? *tensor : at::Tensor());
  }
  void save(const Before<at::Tensor>& self) { save(self.copy()); }
  void save_output(const Recording& recording, const at::Tensor& tensor) {
    is_output_ = true;
    saved_ = detail::save_output(recording, tensor);
  }
  // The type that get() returns.
  using Read = std::conditional_t<std::is_same_v<T, at::Tensor>, at::Tensor, OptionalTensor>;
  Read get(const Reader& reader) const {
    const std::lock_guard lock(reader.mutex);
    return Read(detail::read_tensor(reader, saved_, is_output_));
  }
  void release() { saved_.reset_data(); }

  torch::autograd::SavedVariable& kept() { return saved_; }
  bool is_output() const { return is_output_; }

 private:
  torch::autograd::SavedVariable saved_;
  bool is_output_ = false;
};

template <class T>
requires detail::kIsTensorList<T>
class Saved<T> {
 public:
  // The type that get() returns.
  using Read = std::conditional_t<detail::kIsOptionalTensorList<T>,
                                  c10::List<std::optional<at::Tensor>>, std::vector<at::Tensor>>;

  template <class Tensors>
  void save(const Tensors& tensors) {
    saved_.clear();
    if constexpr (requires { tensors.copy(); }) {
      save(tensors.copy());
    } else if constexpr (requires { tensors.has_value(); }) {
      if (tensors.has_value()) save(*tensors);
    } else {
      saved_.reserve(tensors.size());
      for (const auto& each : tensors) {
        const std::optional<at::Tensor> tensor = each;
        saved_.push_back(detail::save_tensor(tensor.has_value() ? *tensor : at::Tensor()));
      }
    }
  }
  template <class Tensors>
  void save_output(const Recording& recording, const Tensors& tensors) {
    is_output_ = true;
    saved_.clear();
    saved_.reserve(tensors.size());
    for (const at::Tensor& tensor : tensors) {
      saved_.push_back(detail::save_output(recording, tensor));
    }
  }

  Read get(const Reader& reader) const {
    const std::lock_guard lock(reader.mutex);
    TORCH_CHECK(!released_, torch::autograd::ERR_BACKWARD_TWICE);
    Read all;
    all.reserve(saved_.size());
    for (const auto& saved : saved_) {
      at::Tensor tensor = detail::read_tensor(reader, saved, is_output_);
      if constexpr (detail::kIsOptionalTensorList<T>) {
        all.push_back(tensor.defined() ? std::optional(std::move(tensor)) : std::nullopt);
      } else {
        all.push_back(std::move(tensor));
      }
    }
    return all;
  }
  void release() {
    saved_.clear();
    released_ = true;
  }

  std::vector<torch::autograd::SavedVariable>& kept() { return saved_; }
  bool is_output() const { return is_output_; }

 private:
  std::vector<torch::autograd::SavedVariable> saved_;
  bool is_output_ = false;
  bool released_ = false;
};

}  // namespace opgen::autograd
