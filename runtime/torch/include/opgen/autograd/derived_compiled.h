// derived_compiled.h: the interface of a node to compiled autograd, which replaces tensors and
// symbolic sizes while it traces, and uses everything else as part of a key.
#pragma once

#include <torch/csrc/dynamo/compiled_autograd.h>

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "opgen/autograd/derived_saved.h"

namespace opgen::autograd::detail {

using torch::autograd::CompiledNodeArgs;
using torch::autograd::SwapSavedVariables;

template <class V>
void collect_value(CompiledNodeArgs& arguments, const V& value, const char* name) {
  if constexpr (requires { value.has_value(); }) {
    if (arguments.cond(value.has_value())) collect_value(arguments, *value, name);
  } else if constexpr (std::is_same_v<V, TypeAndSize>) {
    arguments.collect(static_cast<const torch::autograd::TypeAndSize&>(value));
  } else if constexpr (std::is_same_v<V, at::Generator>) {
    TORCH_CHECK_NOT_IMPLEMENTED(!value.defined(), name,
                                ": its gradient keeps a generator, which compiled autograd "
                                "cannot trace");
  } else if constexpr (requires { value.begin(); } && !std::is_same_v<V, std::string>) {
    arguments.collect_size(static_cast<std::size_t>(value.size()));
    for (const auto& each : value) collect_value(arguments, each, name);
  } else {
    arguments.collect(value);
  }
}

template <class S>
void collect(CompiledNodeArgs& arguments, S& saved, const char* name) {
  if constexpr (requires { saved.is_output(); }) {
    arguments.collect(saved.kept(), saved.is_output());
  } else {
    collect_value(arguments, saved.kept(), name);
  }
}

// Calls `f` with every field that compiled autograd replaces.
template <class V, class F>
void for_each_replaced(V& value, const F& f) {
  if constexpr (std::is_same_v<V, torch::autograd::SavedVariable> ||
                std::is_same_v<V, c10::SymInt> || std::is_same_v<V, at::TensorGeometry>) {
    f(value);
  } else if constexpr (std::is_same_v<V, TypeAndSize>) {
    for (c10::SymInt& size : value.sym_sizes) f(size);
  } else if constexpr (requires { value.has_value(); }) {
    if (value.has_value()) for_each_replaced(*value, f);
  } else if constexpr (requires { value.begin(); } && !std::is_same_v<V, std::string> &&
                       !std::is_same_v<V, std::vector<bool>>) {
    for (auto& each : value) for_each_replaced(each, f);
  }
}
template <class V>
void before(SwapSavedVariables& swap, V& value) {
  for_each_replaced(value, [&](auto& field) { swap.before(field); });
}
template <class V>
void after(SwapSavedVariables& swap, V& value) {
  for_each_replaced(value, [&](auto& field) { swap.after(field); });
}

// The packed values of one node, and their types.
class Packed {
 public:
  template <class T>
  void pack(const T& value) {
    values_.pack(value);
    types_.push_back(torch::dynamo::autograd::IValuePacker<T>::packed_type());
  }
  // Adds a call of `function` to the graph that compiled autograd makes.
  template <auto function>
  Gradients call(const std::string& name, const torch::autograd::edge_list& next,
                 const SwapSavedVariables& swap, const Gradients& gradients) {
    const auto& compiler = torch::dynamo::autograd::getPyCompilerInterface();
    static const bool bound =
        (compiler->bind_function(swap.get_py_compiler(), name, function, types_), true);
    static_cast<void>(bound);
    using Metadata = std::vector<std::optional<torch::autograd::InputMetadata>>;
    const auto metadata = torch::dynamo::autograd::IValuePacker<Metadata>::pack(
        torch::dynamo::autograd::get_input_metadata(next));
    return compiler->call_function(swap.get_py_compiler(), "apply_functional", name, gradients,
                                   values_.vec(), metadata);
  }

 private:
  torch::dynamo::autograd::PackedArgs values_;
  std::vector<at::TypePtr> types_;
};
using Unpacked = torch::dynamo::autograd::PackedArgs;

template <class S>
void pack(Packed& packed, S& saved, const Reader& reader) {
  if constexpr (requires { saved.is_output(); }) {
    using Read = decltype(saved.get(reader));
    if constexpr (std::is_same_v<Read, c10::List<std::optional<at::Tensor>>>) {
      std::vector<at::Tensor> tensors;
      for (const std::optional<at::Tensor> each : saved.get(reader)) {
        tensors.push_back(each.has_value() ? *each : at::Tensor());
      }
      packed.pack(tensors);
    } else if constexpr (std::is_base_of_v<at::Tensor, Read>) {
      // As a tensor, also if it is optional: compiled autograd packs no types of ours.
      const at::Tensor tensor = saved.get(reader);
      packed.pack(tensor);
    } else {
      packed.pack(saved.get(reader));
    }
  } else if constexpr (std::is_same_v<std::remove_reference_t<decltype(saved.kept())>,
                                      TypeAndSize>) {
    packed.pack(static_cast<const torch::autograd::TypeAndSize&>(saved.kept()));
  } else {
    packed.pack(saved.kept());
  }
}
template <class S>
void unpack(Unpacked& packed, S& saved) {
  using Kept = std::remove_reference_t<decltype(saved.kept())>;
  if constexpr (std::is_same_v<Kept, torch::autograd::SavedVariable>) {
    saved.save(packed.template unpack<at::Tensor>());
  } else if constexpr (requires { saved.is_output(); }) {
    saved.save(packed.template unpack<std::vector<at::Tensor>>());
  } else if constexpr (std::is_same_v<Kept, TypeAndSize>) {
    static_cast<torch::autograd::TypeAndSize&>(saved.kept()) =
        packed.template unpack<torch::autograd::TypeAndSize>();
  } else {
    saved.kept() = packed.template unpack<Kept>();
  }
}

// Returns the properties from which zeros for an output are made; nothing for an output that has no
// gradient.
inline std::optional<torch::autograd::TypeAndSize> zeros_of(
    const torch::autograd::InputMetadata& metadata) {
  if (metadata.was_default_constructed()) return std::nullopt;
  torch::autograd::TypeAndSize zeros;
  zeros.sym_sizes = metadata.shape_as_dim_vector().vec();
  zeros.options = metadata.options();
  return zeros;
}

// Returns a unique identifier for a node's function in that graph.
inline std::string identifier(const char* operator_name, const char* node_name) {
  std::string name = std::string(operator_name) + "_" + node_name;
  for (char& c : name) {
    if (c == ':' || c == '.') c = '_';
  }
  return name;
}

}  // namespace opgen::autograd::detail
