// saved.h: Saved, a value that a node keeps from the forward pass until its formulas read it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opgen/autograd/autograd.h"
#include "opgen/autograd/optional_of.h"
#include "opgen/core/small_vector.h"
#include "opgen/registration/list.h"

namespace opgen::autograd {

class BackwardCall;
class Recording;

namespace internal {

// Tensors that a node has released. Destroy them after the node's lock is released, because they
// may own other nodes.
using Released = std::vector<SavedTensor>;

// An argument that the operator overwrites, if `is_written`, for a node that saves it. If the whole
// tensor is saved, it is copied (once).
class OPGEN_API Overwritten : public TensorBase {
 public:
  explicit Overwritten(const TensorBase& self, bool is_written = true)
      : TensorBase(self), is_written_(is_written) {}
  [[nodiscard]] const TensorBase& copy() const;

 private:
  bool is_written_;
  mutable TensorBase copy_;
};
// The same for a list of tensors.
template <class List>
class OverwrittenList : public List {
 public:
  OverwrittenList(const List& list, bool is_written) : List(list), is_written_(is_written) {}
  [[nodiscard]] std::vector<TensorBase> copies() const {
    std::vector<TensorBase> all;
    all.reserve(this->size());
    for (const TensorBase& each : *this) all.push_back(Overwritten(each, is_written_).copy());
    return all;
  }

 private:
  bool is_written_;
};

// A SavedTensor that knows whether it was released.
class OPGEN_API SavedVariable {
 public:
  SavedVariable() noexcept = default;
  SavedVariable(SavedVariable&&) noexcept = default;
  SavedVariable& operator=(SavedVariable&&) noexcept = default;
  ~SavedVariable();
  void save(const TensorBase& tensor);
  void save_output(const TensorBase& tensor);
  // Undefined if nothing was saved. Throws Error if the tensor was released, or changed in place
  // after it was saved. Safe while another thread releases it.
  [[nodiscard]] TensorBase get(const BackwardCall& call) const;
  void release(Released& released);

 private:
  enum class State : std::uint8_t { Empty, Kept, Freed };

  SavedTensor tensor_;
  State state_ = State::Empty;
};

// `T` is the library's Tensor; formulas read a `Got`.
template <class T, class Got = T>
class SavedOne {
 public:
  void save(const TensorBase& tensor) { variable_.save(tensor); }
  void save(const Overwritten& self) { variable_.save(self.copy()); }
  template <class U>
  void save(const std::optional<U>& tensor) {
    if (tensor.has_value()) variable_.save(*tensor);
  }
  void save_output(const Recording&, const TensorBase& tensor) { variable_.save_output(tensor); }
  [[nodiscard]] Got get(const BackwardCall& call) const { return Got(variable_.get(call)); }
  void release(Released& released) { variable_.release(released); }

 private:
  SavedVariable variable_;
};

// `Element` is Tensor or std::optional<Tensor>; `Got` is the type that formulas read.
template <class Got, class Element>
class SavedList {
 public:
  template <class List>
  void save(const List& tensors) {
    if constexpr (requires { tensors.copies(); }) {
      return save(tensors.copies());
    }
    variables_.reserve(tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) add(tensors[i]);
  }
  template <class List>
  void save_output(const Recording&, const List& tensors) {
    variables_.reserve(tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      variables_.emplace_back().save_output(tensors[i]);
    }
  }
  [[nodiscard]] Got get(const BackwardCall& call) const {
    std::vector<Element> tensors;
    tensors.reserve(variables_.size());
    for (const SavedVariable& variable : variables_) tensors.push_back(element(variable.get(call)));
    return Got(std::move(tensors));
  }
  void release(Released& released) {
    for (SavedVariable& variable : variables_) variable.release(released);
  }

 private:
  void add(const TensorBase& tensor) { variables_.emplace_back().save(tensor); }
  template <class T>
  void add(const std::optional<T>& tensor) {
    SavedVariable& variable = variables_.emplace_back();
    if (tensor.has_value()) variable.save(*tensor);
  }
  static Element element(TensorBase tensor) {
    if constexpr (requires(Element e) { e.has_value(); }) {
      return tensor.defined() ? Element(typename Element::value_type(std::move(tensor)))
                              : Element();
    } else {
      return Element(std::move(tensor));
    }
  }

  std::vector<SavedVariable> variables_;
};

// The type that owns a value of type T, for types that borrow.
template <class T>
struct Owned {
  using type = T;
};
template <class T>
struct Owned<ArrayRef<T>> {
  using type = std::vector<T>;
};
template <>
struct Owned<ArrayRef<std::int64_t>> {
  using type = DimVector;
};
template <>
struct Owned<std::string_view> {
  using type = std::string;
};
template <class T>
struct Owned<OptionalArrayRef<T>> {
  using type = std::optional<typename Owned<ArrayRef<T>>::type>;
};
template <class T>
struct Owned<std::optional<T>> {
  using type = std::optional<typename Owned<T>::type>;
};

template <class To, class From>
To owned(const From& value) {
  if constexpr (
      requires(To to) { to.has_value(); } && requires { value.has_value(); }) {
    return value.has_value() ? To(owned<typename To::value_type>(*value)) : To();
  } else if constexpr (std::is_constructible_v<To, const From&>) {
    return To(value);
  } else {
    return To(value.begin(), value.end());
  }
}

}  // namespace internal

// A value that a formula reads. T is the type of the operator's argument without reference, or the
// type of an expression that is saved instead of the argument, such as `self.sym_sizes()`. Tensors
// are released by a backward pass that does not retain the graph; other values are kept.
template <class T>
class Saved {
 public:
  using Value = typename internal::Owned<T>::type;

  template <class From>
  void save(const From& value) {
    value_ = internal::owned<Value>(value);
  }
  template <class From>
  void save_output(const Recording&, const From& value) {
    save(value);
  }
  [[nodiscard]] const Value& get(const BackwardCall&) const noexcept { return value_; }
  void release(internal::Released&) noexcept {}

 private:
  Value value_{};
};
template <class T>
requires std::is_base_of_v<Tensor, T>
class Saved<T> : public internal::SavedOne<T> {
};
template <class T>
requires std::is_base_of_v<Tensor, T>
class Saved<std::optional<T>> : public internal::SavedOne<T, internal::OptionalOf<T>> {
};
template <class T>
requires std::is_base_of_v<Tensor, T>
class Saved<ArrayRef<T>> : public internal::SavedList<std::vector<T>, T> {
};
template <class T>
requires std::is_base_of_v<Tensor, T>
class Saved<std::vector<T>> : public internal::SavedList<std::vector<T>, T> {
};
template <class T>
requires std::is_base_of_v<Tensor, T>
class Saved<ArrayRef<std::optional<T>>>
    : public internal::SavedList<std::vector<std::optional<T>>, std::optional<T>> {
};
template <class T>
requires std::is_base_of_v<Tensor, T>
class Saved<List<std::optional<T>>>
    : public internal::SavedList<List<std::optional<T>>, std::optional<T>> {
};

}  // namespace opgen::autograd
