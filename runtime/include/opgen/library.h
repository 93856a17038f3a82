// library.h: OPGEN_LIBRARY, OPGEN_LIBRARY_FRAGMENT and OPGEN_LIBRARY_IMPL: registrations written by
// hand.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "opgen/dispatcher.h"

namespace opgen {

// A kernel as an author gives it: a function, a captureless lambda, a boxed function or a
// fallthrough.
class CppFunction {
 public:
  template <class R, class... A>
  CppFunction(R (*function)(A...))  // NOLINT
      : kernel_(KernelFunction::from_unboxed(reinterpret_cast<void*>(function), false,
                                             &boxing<R(A...)>)) {}
  template <class R, class... A>
  CppFunction(R (*function)(DispatchKeySet, A...))  // NOLINT
      : kernel_(KernelFunction::from_unboxed(reinterpret_cast<void*>(function), true,
                                             &boxing<R(A...)>)) {}
  template <class F>
  requires(std::is_class_v<F>&& requires(F f) { +f; }) CppFunction(F lambda)
      : CppFunction(+lambda) {}  // NOLINT

  [[nodiscard]] static CppFunction makeFallthrough() noexcept {
    return CppFunction(KernelFunction::fallthrough());
  }
  [[nodiscard]] static CppFunction makeFromBoxedFunction(BoxedKernel function) noexcept {
    return CppFunction(KernelFunction::from_boxed(function));
  }
  template <BoxedKernel function>
  [[nodiscard]] static CppFunction makeFromBoxedFunction() noexcept {
    return CppFunction(KernelFunction::from_boxed(function));
  }
  [[nodiscard]] const KernelFunction& kernel() const noexcept { return kernel_; }

 private:
  explicit CppFunction(KernelFunction kernel) noexcept : kernel_(kernel) {}
  KernelFunction kernel_;
};

// The `m` of the macros below. What it registers lasts as long as it does.
class OPGEN_API Library {
 public:
  enum class Kind : std::uint8_t { Def, Fragment, Impl };
  Library(Kind kind, std::string_view ns, DispatchKey key, const char* file, int line);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // "add.Tensor(Tensor self, Tensor other) -> Tensor"; a namespace in the text must be the
  // library's.
  Library& def(std::string_view schema, const std::vector<std::string>& tags = {});
  // Also registers a kernel for every key without a better one (CompositeImplicitAutograd).
  Library& def(std::string_view schema, const CppFunction& function);
  // For the key of OPGEN_LIBRARY_IMPL, else for all keys.
  Library& impl(std::string_view name, const CppFunction& function);
  Library& impl(std::string_view name, DispatchKey key, const CppFunction& function);
  // For every operator; only in OPGEN_LIBRARY_IMPL(_, key, m).
  Library& fallback(const CppFunction& function);

 private:
  [[nodiscard]] std::pair<std::string, std::string> qualified(std::string_view name) const;

  Kind kind_;
  std::string ns_;
  DispatchKey key_;
  std::string place_;  // "file:line"
  std::vector<RegistrationHandle> handles_;
};

namespace detail {

class LibraryInit {
 public:
  LibraryInit(Library::Kind kind, void (*fill)(Library&), const char* ns, DispatchKey key,
              const char* file, int line)
      : library_(kind, ns, key, file, line) {
    fill(library_);
  }

 private:
  Library library_;
};

}  // namespace detail
}  // namespace opgen

#define OPGEN_LIBRARY_INIT(kind, ns, key, m, id)                                 \
  static void OPGEN_CONCAT(opgen_library_fill_, id)(::opgen::Library&);          \
  static const ::opgen::detail::LibraryInit OPGEN_CONCAT(opgen_library_, id)(    \
      ::opgen::Library::Kind::kind, &OPGEN_CONCAT(opgen_library_fill_, id), #ns, \
      ::opgen::DispatchKey::key, __FILE__, __LINE__);                            \
  static void OPGEN_CONCAT(opgen_library_fill_, id)(::opgen::Library & m)

// Defines the operators of a namespace; once per namespace. OPGEN_LIBRARY(myops, m) { m.def("…"); }
#define OPGEN_LIBRARY(ns, m) OPGEN_LIBRARY_INIT(Def, ns, Undefined, m, ns)
// Adds to a namespace that may have been defined elsewhere.
#define OPGEN_LIBRARY_FRAGMENT(ns, m) OPGEN_LIBRARY_INIT(Fragment, ns, Undefined, m, __COUNTER__)
// Kernels for one key: OPGEN_LIBRARY_IMPL(myops, CPU, m) { m.impl("add.Tensor", add_cpu); }
#define OPGEN_LIBRARY_IMPL(ns, key, m) OPGEN_LIBRARY_INIT(Impl, ns, key, m, __COUNTER__)
