// library.h: OPGEN_LIBRARY, OPGEN_LIBRARY_FRAGMENT and OPGEN_LIBRARY_IMPL: hand-written
// registrations.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "opgen/dispatch/own_tensor.h"
#include "opgen/registration/loading.h"
#include "opgen/schema/cpp_signature.h"
#include "opgen/schema/typed_handle.h"

namespace opgen {

namespace detail {

// The signature of a callable object's operator(), without a leading key set.
template <class Call>
struct CallOf;
template <class F, class R, class... A>
struct CallOf<R (F::*)(A...)> {
  using type = R(A...);
  static constexpr bool with_keys = false;
};
template <class F, class R, class... A>
struct CallOf<R (F::*)(DispatchKeySet, A...)> {
  using type = R(A...);
  static constexpr bool with_keys = true;
};
template <class F, class R, class... A>
struct CallOf<R (F::*)(A...) const> : CallOf<R (F::*)(A...)> {};
template <class F, class R, class... A>
struct CallOf<R (F::*)(A...) noexcept> : CallOf<R (F::*)(A...)> {};
template <class F, class R, class... A>
struct CallOf<R (F::*)(A...) const noexcept> : CallOf<R (F::*)(A...)> {};

template <class F, class Signature>
struct FunctorCall;
template <class F, class R, class... A>
struct FunctorCall<F, R(A...)> {
  static R call(void* functor, DispatchKeySet keys, A... arguments) {
    F& f = *static_cast<F*>(functor);
    if constexpr (CallOf<decltype(&F::operator())>::with_keys) {
      return f(keys, std::forward<A>(arguments)...);
    } else {
      static_cast<void>(keys);
      return f(std::forward<A>(arguments)...);
    }
  }
};

// A functor with captures, which its registration owns.
template <class F>
struct HeldFunctor final : HeapValue {
  explicit HeldFunctor(F f) : functor(std::move(f)) {}
  F functor;
};

}  // namespace detail

// A kernel made from a function, a lambda or other function object, a boxed function, or a
// fallthrough. A function object lives until its registration is removed, and must be thread-safe:
// calls from all threads use the same object.
class CppFunction {
  // The class Tensor of a library is passed as the runtime's.
  template <class Signature>
  using OfRuntime = typename detail::WithTensor<Tensor, Signature>::type;

 public:
  template <class R, class... A>
  CppFunction(R (*function)(A...))  // NOLINT
      : CppFunction(reinterpret_cast<void*>(function), false, &boxing<OfRuntime<R(A...)>>,
                    cpp_signature<OfRuntime<R(A...)>>) {}
  template <class R, class... A>
  CppFunction(R (*function)(DispatchKeySet, A...))  // NOLINT
      : CppFunction(reinterpret_cast<void*>(function), true, &boxing<OfRuntime<R(A...)>>,
                    cpp_signature<OfRuntime<R(A...)>>) {}
  template <class F>
  requires(std::is_class_v<F>&& requires(F f) { +f; }) CppFunction(F lambda)
      : CppFunction(+lambda) {}  // NOLINT
  template <class F>
  requires(
      std::is_class_v<F>&& requires { &F::operator(); } && !requires(F f) { +f; })
      CppFunction(F functor) {  // NOLINT
    using Signature = typename detail::CallOf<decltype(&F::operator())>::type;
    auto* held = new detail::HeldFunctor<F>(std::move(functor));
    owner_ = Ref<HeapValue>::adopt(held);
    kernel_ = KernelFunction::from_functor(
        reinterpret_cast<void*>(&detail::FunctorCall<F, Signature>::call), &held->functor,
        &boxing<OfRuntime<Signature>>);
    signature_ = cpp_signature<OfRuntime<Signature>>;
  }
  CppFunction(const CppFunction& other) = default;
  CppFunction& operator=(const CppFunction& other) = default;
  // Not inline (like the constructor that the others call), because a library has one CppFunction
  // per kernel.
  OPGEN_API ~CppFunction();

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
  // For a key of autograd: returns the function as one that calls without a tensor that may need a
  // gradient pass over.
  [[nodiscard]] CppFunction only_for_tracked() const {
    CppFunction copy = *this;
    copy.kernel_.only_tracked = true;
    return copy;
  }
  [[nodiscard]] const KernelFunction& kernel() const noexcept { return kernel_; }
  // Returns null for boxed functions and fallthroughs.
  [[nodiscard]] const CppSignature* signature() const noexcept { return signature_; }
  [[nodiscard]] const Ref<HeapValue>& owner() const noexcept { return owner_; }

 private:
  explicit CppFunction(KernelFunction kernel) noexcept : kernel_(kernel) {}
  OPGEN_API CppFunction(void* function, bool with_keys, const Boxing* unboxed,
                        const CppSignature* signature) noexcept;
  KernelFunction kernel_;
  const CppSignature* signature_ = nullptr;
  Ref<HeapValue> owner_;
};

// The `m` of the macros below. Its destructor removes its registrations.
class OPGEN_API Library {
 public:
  enum class Kind : std::uint8_t { Def, Fragment, Impl };
  Library(Kind kind, std::string_view ns, DispatchKey key, const char* file, int line);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // Defines an operator: "add.Tensor(Tensor self, Tensor other) -> Tensor". A namespace in the
  // string must be that of the library.
  Library& def(std::string_view schema);
  Library& def(std::string_view schema, const std::vector<std::string>& tags);
  // Also registers a kernel for every key that has no other kernel (CompositeImplicitAutograd). For
  // a name without parentheses, "add.Tensor", the schema is inferred from the function's type.
  Library& def(std::string_view schema, const CppFunction& function);
  // Registers a kernel for the key of OPGEN_LIBRARY_IMPL, or in other blocks for all keys.
  Library& impl(std::string_view name, const CppFunction& function);
  Library& impl(std::string_view name, DispatchKey key, const CppFunction& function);
  // Registers a fallback for all operators. Call it only in OPGEN_LIBRARY_IMPL(_, key, m).
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

// Hidden: only the library that uses OPGEN_LIBRARY needs the symbol.
class OPGEN_HIDDEN LibraryInit {
 public:
  LibraryInit(Library::Kind kind, void (*fill)(Library&), const char* ns, DispatchKey key,
              const char* file, int line)
      : LibraryInit(LoadingScope(), kind, fill, ns, key, file, line) {}

 private:
  LibraryInit(const LoadingScope&, Library::Kind kind, void (*fill)(Library&), const char* ns,
              DispatchKey key, const char* file, int line)
      : library_(kind, ns, key, file, line) {
    fill(library_);
  }

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

// Defines the operators of a namespace. Use it once per namespace. OPGEN_LIBRARY(myops, m) {
// m.def("…"); }
#define OPGEN_LIBRARY(ns, m) OPGEN_LIBRARY_INIT(Def, ns, Undefined, m, ns)
// Adds operators to a namespace that may be defined elsewhere.
#define OPGEN_LIBRARY_FRAGMENT(ns, m) OPGEN_LIBRARY_INIT(Fragment, ns, Undefined, m, __COUNTER__)
// Registers kernels for one key: OPGEN_LIBRARY_IMPL(myops, CPU, m) { m.impl("add.Tensor", add_cpu);
// }
#define OPGEN_LIBRARY_IMPL(ns, key, m) OPGEN_LIBRARY_INIT(Impl, ns, key, m, __COUNTER__)
