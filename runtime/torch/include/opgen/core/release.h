// release.h: the differences between the releases of PyTorch that opgen supports, 2.9 to 2.15. No
// other file depends on the release. Where possible, this file tests for a feature and not for a
// version number.
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/TensorMeta.h>
#include <ATen/core/enum_tag.h>
#if __has_include(<torch/headeronly/version.h>)
#include <torch/headeronly/version.h>
#else
#include <torch/version.h>
#endif

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

// Before 2.9, symbolic sizes cannot tell whether a tensor is contiguous, and functionalization has
// another interface for views.
#if TORCH_VERSION_MAJOR < 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 9)
#error "this PyTorch is too old: opgen needs 2.9 or newer"
#endif

namespace opgen {

namespace detail {

// The release against which this is compiled: its major and minor number, a byte each, and its
// text.
inline constexpr std::uint64_t kBuiltFor =
    (std::uint64_t{TORCH_VERSION_MAJOR} << 8) | TORCH_VERSION_MINOR;
inline constexpr const char* kBuiltForText = TORCH_VERSION;

template <class... T>
struct Types {};

// The parameters of set_output_strided and set_output_raw_strided after `options`: the names of
// dimensions up to 2.12, nothing since 2.13.
template <class... More>
Types<More...> types_after_options(void (at::impl::MetaBase::*)(std::int64_t, at::IntArrayRef,
                                                                at::IntArrayRef, at::TensorOptions,
                                                                More...));
using AfterOptions = decltype(types_after_options(&at::impl::MetaBase::set_output_strided));

// Implements the two virtual functions of `Base`, a MetaBase: they call output_strided() and
// output_raw_strided() of `Derived`.
template <class Derived, class Base, class More = AfterOptions>
struct TakesOutputs;
template <class Derived, class Base, class... More>
struct TakesOutputs<Derived, Base, Types<More...>> : Base {
  void set_output_strided(std::int64_t i, at::IntArrayRef sizes, at::IntArrayRef strides,
                          at::TensorOptions options, More...) final {
    static_cast<Derived*>(this)->output_strided(i, sizes, strides, options);
  }
  void set_output_raw_strided(std::int64_t i, at::IntArrayRef sizes, at::IntArrayRef strides,
                              at::TensorOptions options, More...) final {
    static_cast<Derived*>(this)->output_raw_strided(i, sizes, strides, options);
  }

 protected:
  // Does for an output what ATen's own iterator does.
  void take_as_iterator(std::int64_t i, at::IntArrayRef sizes, at::IntArrayRef strides,
                        const at::TensorOptions& options) {
    at::TensorIteratorBase::set_output_raw_strided(i, sizes, strides, options, More()...);
  }
};

// ATen's iterator as the base of a meta class, with a set_output_raw_strided() of four parameters.
template <class More>
struct IteratorBaseFor;
template <>
struct IteratorBaseFor<Types<>> {
  using type = at::TensorIteratorBase;
};
template <class More>
struct IteratorBaseFor<Types<More>> {
  struct type : at::TensorIteratorBase {
    using at::TensorIteratorBase::set_output_raw_strided;
    void set_output_raw_strided(std::int64_t i, at::IntArrayRef sizes, at::IntArrayRef strides,
                                at::TensorOptions options) {
      this->set_output_raw_strided(i, sizes, strides, options, More());
    }
  };
};
using IteratorBase = typename IteratorBaseFor<AfterOptions>::type;

// Returns a new T in the smart pointer that PyTorch uses for it: graph nodes are held by
// std::shared_ptr up to 2.12 and by c10::intrusive_ptr since.
template <class Pointer, class T, class... A>
Pointer make_held(A&&... arguments) {
  if constexpr (std::is_constructible_v<Pointer, std::shared_ptr<T>>) {
    return std::make_shared<T>(std::forward<A>(arguments)...);
  } else {
    return c10::make_intrusive<T>(std::forward<A>(arguments)...);
  }
}

// Returns a new graph node T. Up to 2.12, only PyTorch's own deleter frees a long graph without
// recursion.
template <class Pointer, class T>
Pointer make_node() {
  if constexpr (requires(T * node) { deleteNode(node); }) {
    return Pointer(new T, [](auto* node) { deleteNode(node); });
  } else {
    return make_held<Pointer, T>();
  }
}

}  // namespace detail

// Tags that some releases do not have.
namespace tag {

#define OPGEN_TAG(name)                          \
  struct name {                                  \
    template <class Tag>                         \
    static void add_to(std::vector<Tag>& tags) { \
      if constexpr (requires { Tag::name; }) {   \
        tags.push_back(Tag::name);               \
      }                                          \
    }                                            \
  };
OPGEN_TAG(inplace)    // since 2.13
OPGEN_TAG(reduction)  // since 2.10
#undef OPGEN_TAG

}  // namespace tag

// Returns `tags`, and those of `Later` that this release has.
template <class... Later>
std::vector<at::Tag> tags_there_are(std::initializer_list<at::Tag> tags) {
  std::vector<at::Tag> all(tags);
  (Later::add_to(all), ...);
  return all;
}

}  // namespace opgen
