// registration.h: OPGEN_LIBRARY and similar macros. They register all operators of a shared
// library; if one of them fails, they register none and report the reason.
//
// They replace TORCH_LIBRARY, TORCH_LIBRARY_FRAGMENT and TORCH_LIBRARY_IMPL, which throw while the
// library is being loaded. Nothing can catch such an exception, so the process ends, for example if
// another library has defined the namespace. Here the first failure undoes what the library has
// registered and stops all further registrations. If Python loads the library, the failure becomes
// a Python exception; the Python code of the package calls opgen_refusal().
#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/Exception.h>
#include <dlfcn.h>
#include <torch/library.h>

#include <cstdint>
#include <exception>
#include <list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "opgen/core/release.h"

// A function of libtorch_cpu that returns the running release, in the layout of TORCH_ABI_VERSION.
// Weak, because old releases do not have it.
#ifdef __APPLE__
extern "C" __attribute__((weak_import)) std::uint64_t aoti_torch_abi_version();
#else
extern "C" __attribute__((weak)) std::uint64_t aoti_torch_abi_version();
#endif

namespace opgen::detail {

// Hidden, so that each shared library in a process has its own.
class __attribute__((visibility("hidden"))) Registrations {
 public:
  using Fill = void (*)(torch::Library&);

  static Registrations& of_this_library() {
    static Registrations all;
    return all;
  }

  Registrations() : path_(path_of_this_library()) { check_release(); }
  Registrations(const Registrations&) = delete;
  Registrations& operator=(const Registrations&) = delete;
  ~Registrations() { undo(); }

  // Returns why nothing is registered; null if registration succeeded.
  const char* refusal() const noexcept { return refusal_.empty() ? nullptr : refusal_.c_str(); }

  // Returns `what` of this library, for PyTorch's messages.
  std::string place(std::string_view what) const { return path_ + ", " + std::string(what); }

  // Calls `fill`, which registers operators or kernels, unless an earlier registration failed.
  bool add(torch::Library::Kind kind, const char* name, std::optional<c10::DispatchKey> key,
           std::string_view file, std::uint32_t line, Fill fill) {
    if (!refusal_.empty()) return false;
    try {
      // PyTorch keeps the pointer. It reports this place if another library defines the same name.
      places_.push_back(place(file.substr(file.find_last_of('/') + 1)));
      libraries_.emplace_back(kind, name, key, places_.back().c_str(), line);
      fill(libraries_.back());
      return true;
    } catch (const c10::Error& error) {
      refuse(words(name, error.what_without_backtrace()));
    } catch (const std::exception& error) {
      refuse(words(name, error.what()));
    }
    return false;
  }

 private:
  // Returns the path under which the dynamic loader has loaded this library.
  static std::string path_of_this_library() {
    Dl_info info{};
    const void* own = reinterpret_cast<const void*>(&Registrations::of_this_library);
    return ::dladdr(own, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "this library";
  }

  // Classes such as TensorImpl are compiled into the library. They differ between minor releases,
  // but not between patch releases.
  void check_release() {
    const std::uint64_t running =
        aoti_torch_abi_version == nullptr ? 0 : aoti_torch_abi_version() >> 40;
    if (running >> 8 == kBuiltFor) return;
    const auto part = [&](int shift) { return std::to_string((running >> shift) & 0xff); };
    const std::string release =
        running == 0 ? "an older torch" : "torch " + part(16) + "." + part(8) + "." + part(0);
    refuse(path_ + " was built for torch " + kBuiltForText + ", but " + release +
           " is running; build it again");
  }

  std::string words(const std::string& name, std::string_view error) const {
    constexpr std::string_view before = "Previous registration of TORCH_LIBRARY was ";
    const auto start = error.find(before);
    if (start == std::string_view::npos) {
      return path_ + " cannot register its operators: " + std::string(error);
    }
    error.remove_prefix(start + before.size());
    const std::string other(error.substr(0, error.find("; latest registration")));
    return path_ + " defines the namespace " + name + ", which is already defined (" + other +
           "): load only one of them, or build one with 'fragment: True' at the top of its YAML";
  }

  void refuse(std::string reason) {
    undo();
    refusal_ = std::move(reason);
    tell_python();
  }

  void undo() {
    while (!libraries_.empty()) libraries_.pop_back();
  }

  // Sets ImportError in the thread that loads the library: the Python function that called dlopen
  // raises it. A program without Python ends, as if TORCH_LIBRARY had thrown.
  void tell_python() const {
    const auto ready = find<int()>("Py_IsInitialized");
    const auto state = find<void*()>("PyGILState_GetThisThreadState");
    const auto enter = find<int()>("PyGILState_Ensure");
    const auto leave = find<void(int)>("PyGILState_Release");
    const auto set = find<void(void*, const char*)>("PyErr_SetString");
    const auto type = static_cast<void**>(::dlsym(RTLD_DEFAULT, "PyExc_ImportError"));
    if (!ready || !state || !enter || !leave || !set || !type || ready() == 0 || !state()) {
      throw std::runtime_error(refusal_);
    }
    const int before = enter();
    set(*type, refusal_.c_str());
    leave(before);
  }

  // Returns a function of the running Python; null if there is none. Nothing here is linked to
  // Python.
  template <class Function>
  static Function* find(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
  }

  std::string path_;
  std::string refusal_;
  std::list<std::string> places_;
  std::list<torch::Library> libraries_;
};

}  // namespace opgen::detail

// Returns why the shared library that contains this function registered nothing; null if it
// registered its operators.
extern "C" __attribute__((used, visibility("default"))) inline const char* opgen_refusal() {
  return opgen::detail::Registrations::of_this_library().refusal();
}

// `name` is stringified directly, before macro expansion: some users have namespaces that are
// macros elsewhere, such as `linux`.
#define OPGEN_LIBRARY(name, m) OPGEN_DETAIL_REGISTER(DEF, #name, std::nullopt, m, C10_UID)
#define OPGEN_LIBRARY_FRAGMENT(name, m) \
  OPGEN_DETAIL_REGISTER(FRAGMENT, #name, std::nullopt, m, C10_UID)
#define OPGEN_LIBRARY_IMPL(name, key, m) \
  OPGEN_DETAIL_REGISTER(IMPL, #name, c10::DispatchKey::key, m, C10_UID)
#define OPGEN_DETAIL_REGISTER(kind, name, key, m, id)                                              \
  static void C10_CONCATENATE(opgen_fill_, id)(torch::Library&);                                   \
  [[maybe_unused]] static const bool C10_CONCATENATE(opgen_is_filled_, id) =                       \
      opgen::detail::Registrations::of_this_library().add(                                         \
          torch::Library::kind, name, key, __FILE__, __LINE__, &C10_CONCATENATE(opgen_fill_, id)); \
  static void C10_CONCATENATE(opgen_fill_, id)([[maybe_unused]] torch::Library & m)
