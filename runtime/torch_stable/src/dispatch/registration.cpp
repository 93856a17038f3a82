// registration.cpp: register schemas and kernels; undo all of it if one registration fails.
#include "opgen/registration/registration_tables.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "shim.h"

#include "opgen/core/error.h"

namespace opgen {

namespace {

void warn_by_pytorch(const char* text) {
  aoti_torch_warn(shim::WarningScope::function(), "opgen", 0, text);
}

struct RegisteredRows {
  const char* key;
  const KernelRow* rows;
  std::size_t count;
};

// Hidden, as all of this code: each shared library has its own, also if there are several in one
// process.
class Registrations {
 public:
  static Registrations& of_this_library() {
    static Registrations all;
    return all;
  }

  Registrations() : path_(path_of_this_library()) {
    set_warning_handler(&warn_by_pytorch);
    if (shim::release() < 0x020a) {
      refuse(path_ + " needs torch 2.10 or newer, but torch " + release() + " is running");
    }
  }
  Registrations(const Registrations&) = delete;
  Registrations& operator=(const Registrations&) = delete;
  ~Registrations() { undo(); }

  [[nodiscard]] const char* refusal() const noexcept {
    return refusal_.empty() ? nullptr : refusal_.c_str();
  }

  // Registers what `fill` registers with a new library of PyTorch, unless an earlier registration
  // failed.
  template <class Make, class Fill>
  void add(const char* ns, const Make& make, const Fill& fill) {
    if (!refusal_.empty()) return;
    try {
      TorchLibraryHandle library = nullptr;
      shim::check(make(path_.c_str(), &library), "the library");
      libraries_.push_back(library);
      fill(library);
    } catch (const std::exception& error) {
      refuse(words(ns, error.what()));
    }
  }

  // Knows the kernel at Autograd of the operator `name`, and registers it.
  void add_autograd(const char* ns, const std::string& name, BoxedFunction kernel) {
    if (!autograd_.try_emplace(name, AutogradEntry{ns, kernel, nullptr}).second) return;
    set_autograd(name.c_str(), true);
  }
  // Registers the kernel at Autograd of the operator `name`, or undoes it.
  void set_autograd(const char* name, bool is_registered) {
    for (auto& [known, entry] : autograd_) {
      if (name == nullptr || known == name) set_autograd(known, entry, is_registered);
    }
  }

  // PyTorch keeps the pointer to the name of a file.
  const char* keep(std::string file) { return files_.emplace_back(std::move(file)).c_str(); }

  std::vector<RegisteredRows> rows;

 private:
  struct AutogradEntry {
    const char* ns;
    BoxedFunction kernel;
    TorchLibraryHandle library;  // null if it is not registered
  };

  void set_autograd(const std::string& name, AutogradEntry& entry, bool is_registered) {
    if (!is_registered) {
      if (entry.library != nullptr) aoti_torch_delete_library_object(entry.library);
      entry.library = nullptr;
    } else if (entry.library == nullptr && refusal_.empty()) {
      shim::check(
          aoti_torch_library_init_impl(entry.ns, "Autograd", path_.c_str(), 1, &entry.library),
          "the library");
      shim::check(torch_library_impl(entry.library, name.c_str(), entry.kernel, shim::kVersion),
                  name.c_str());
    }
  }

  static std::string path_of_this_library() {
    Dl_info info{};
    const void* own = reinterpret_cast<const void*>(&Registrations::of_this_library);
    return ::dladdr(own, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "this library";
  }
  static std::string release() {
    const std::uint32_t running = shim::release();
    return std::to_string(running >> 8) + "." + std::to_string(running & 0xff);
  }

  [[nodiscard]] std::string words(const std::string& ns, std::string_view error) const {
    constexpr std::string_view before = "Previous registration of TORCH_LIBRARY was ";
    const auto start = error.find(before);
    if (start == std::string_view::npos) {
      return path_ + " cannot register its operators: " + std::string(error);
    }
    error.remove_prefix(start + before.size());
    const std::string other(error.substr(0, error.find("; latest registration")));
    return path_ + " defines the namespace " + ns + ", which is already defined (" + other +
           "): load only one of them, or build one with 'fragment: True' at the top of its YAML";
  }

  void refuse(std::string reason) {
    undo();
    refusal_ = std::move(reason);
    tell_python();
  }

  void undo() noexcept {
    for (auto& [name, entry] : autograd_) {
      if (entry.library != nullptr) aoti_torch_delete_library_object(entry.library);
      entry.library = nullptr;
    }
    while (!libraries_.empty()) {
      aoti_torch_delete_library_object(libraries_.back());
      libraries_.pop_back();
    }
  }

  // Sets ImportError in the thread that loads the library: the Python function that called dlopen
  // raises it. A program without Python ends, as it does when TORCH_LIBRARY throws.
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
  template <class Function>
  static Function* find(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
  }

  std::string path_;
  std::deque<std::string> files_;
  std::string refusal_;
  std::vector<TorchLibraryHandle> libraries_;
  std::map<std::string, AutogradEntry> autograd_;
};

// The numbers of those tags that the running release can register.
std::vector<std::int32_t> tag_numbers(std::string_view tags) {
  std::vector<std::int32_t> numbers;
  while (!tags.empty()) {
    const std::size_t end = std::min(tags.find(','), tags.size());
    const std::string getter = "torch_tag_" + std::string(tags.substr(0, end));
    if (const auto number = shim::find_function<std::int32_t()>(getter.c_str())) {
      numbers.push_back(number());
    }
    tags.remove_prefix(std::min(end + 1, tags.size()));
  }
  return numbers;
}

void define(TorchLibraryHandle library, const SchemaRow& row) {
  using WithTags =
      AOTITorchError(TorchLibraryHandle, const char*, const std::int32_t*, std::int32_t);
  using SetModule = AOTITorchError(TorchLibraryHandle, const char*, const char*);
  static const auto def_with_tags = shim::find_function<WithTags>("torch_library_def_with_tags");
  static const auto set_module = shim::find_function<SetModule>("torch_library_set_python_module");
  if (row.module != nullptr && set_module != nullptr) {
    shim::check(set_module(library, row.module, row.context), "set_python_module");
  }
  const std::vector<std::int32_t> tags = tag_numbers(row.tags);
  if (!tags.empty() && def_with_tags != nullptr) {
    shim::check(
        def_with_tags(library, row.schema, tags.data(), static_cast<std::int32_t>(tags.size())),
        row.schema);
  } else {
    shim::check(aoti_torch_library_def(library, row.schema), row.schema);
  }
}

std::string full_name(const char* name, const char* overload) {
  return *overload == '\0' ? name : std::string(name) + "." + overload;
}
void implement(TorchLibraryHandle library, const std::string& name, BoxedFunction boxed) {
  shim::check(torch_library_impl(library, name.c_str(), boxed, shim::kVersion), name.c_str());
}

BoxedFunction boxed_for(const char* key, const KernelRow& row) noexcept {
  if (std::strcmp(key, "CPU") == 0) return row.call_on_cpu;
  if (std::strncmp(key, "CompositeImplicit", 17) == 0 || std::strncmp(key, "Autograd", 8) == 0 ||
      std::strncmp(key, "Autocast", 8) == 0) {
    return row.call_composite;
  }
  return row.call;
}

}  // namespace

SchemaTable::SchemaTable(const char* ns, bool is_fragment, const char* yaml, std::uint32_t line,
                         const SchemaRow* rows, std::size_t count) {
  Registrations& all = Registrations::of_this_library();
  all.add(
      ns,
      [&](const char* path, TorchLibraryHandle* library) {
        const char* file = all.keep(std::string(path) + ", " + yaml);
        return is_fragment ? aoti_torch_library_init_fragment(ns, file, line, library)
                           : aoti_torch_library_init_def(ns, file, line, library);
      },
      [&](TorchLibraryHandle library) {
        for (std::size_t i = 0; i < count; ++i) define(library, rows[i]);
      });
}

KernelTable::KernelTable(const char* ns, const char* key, const KernelRow* rows,
                         std::size_t count) {
  Registrations& all = Registrations::of_this_library();
  all.rows.push_back({key, rows, count});
  const bool is_meta = std::strcmp(key, "Meta") == 0;
  const auto registers = [&](const KernelRow& row) { return !is_meta || row.is_of_pytorch; };
  if (std::none_of(rows, rows + count, registers)) return;
  all.add(
      ns,
      [&](const char* path, TorchLibraryHandle* library) {
        return aoti_torch_library_init_impl(ns, key, path, 1, library);
      },
      [&](TorchLibraryHandle library) {
        for (std::size_t i = 0; i < count; ++i) {
          const KernelRow& row = rows[i];
          if (!registers(row)) continue;
          const BoxedFunction boxed = boxed_for(key, row);
          const std::string name = full_name(row.name, row.overload);
          implement(library, name, boxed);
          if (row.below == nullptr) continue;
          implement(library, full_name(row.below, row.overload), boxed);
          all.add_autograd(ns, name, row.autograd);
        }
      });
}

const KernelRow* detail::find_kernel(const char* name, const char* overload,
                                     const char* key) noexcept {
  for (const RegisteredRows& table : Registrations::of_this_library().rows) {
    if (std::strcmp(table.key, key) != 0) continue;
    for (std::size_t i = 0; i < table.count; ++i) {
      const KernelRow& row = table.rows[i];
      if (std::strcmp(row.name, name) == 0 && std::strcmp(row.overload, overload) == 0) {
        return &row;
      }
    }
  }
  return nullptr;
}

}  // namespace opgen

// Returns why the shared library that contains this function registered nothing; null if it
// registered its operators.
extern "C" __attribute__((used, visibility("default"))) const char* opgen_refusal() {
  return opgen::Registrations::of_this_library().refusal();
}

// Registers the library's kernel at Autograd of an operator, or takes it back; null: of all.
extern "C" __attribute__((used, visibility("default"))) void opgen_set_autograd(
    const char* name, std::int32_t is_registered) {
  opgen::Registrations::of_this_library().set_autograd(name, is_registered != 0);
}
