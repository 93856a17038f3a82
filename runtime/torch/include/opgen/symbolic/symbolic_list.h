// symbolic_list.h: lists of tensors with symbolic sizes, for the targets torch and torch-stable.
// symbolic_tensor.h includes it.
#pragma once

#include <optional>
#include <vector>

#include "opgen/symbolic/symbolic_tensor.h"

namespace opgen {

// The counterpart of ITensorListRef and IOptTensorListRef.
template <class Element>
class SymbolicList {
 public:
  using value_type = Element;

  template <class List>
  static SymbolicList of(const List& tensors) {
    SymbolicList list;
    list.elements_.reserve(tensors.size());
    for (const auto& tensor : tensors) list.elements_.push_back(element(tensor));
    return list;
  }

  [[nodiscard]] std::size_t size() const noexcept { return elements_.size(); }
  [[nodiscard]] bool empty() const noexcept { return elements_.empty(); }
  [[nodiscard]] auto begin() const noexcept { return elements_.begin(); }
  [[nodiscard]] auto end() const noexcept { return elements_.end(); }
  [[nodiscard]] const Element& front() const { return elements_.front(); }
  // A std::reference_wrapper without its header.
  class Reference {
   public:
    explicit Reference(const Element& element) noexcept : element_(&element) {}
    [[nodiscard]] const Element& get() const noexcept { return *element_; }
    operator const Element&() const noexcept { return *element_; }  // NOLINT: implicit

   private:
    const Element* element_;
  };
  [[nodiscard]] std::vector<Reference> materialize() const {
    return std::vector<Reference>(elements_.begin(), elements_.end());
  }

 private:
  static Element element(const Tensor& tensor) { return tensor; }
  static Element element(const std::optional<Tensor>& tensor) {
    return tensor.has_value() ? Element(*tensor) : Element();
  }

  std::vector<Element> elements_;
};
using SymbolicTensorList = SymbolicList<SymbolicTensor>;
using OptionalSymbolicTensorList = SymbolicList<OptionalSymbolicTensor>;

}  // namespace opgen
