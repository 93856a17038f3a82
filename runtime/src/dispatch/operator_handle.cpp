// operator_handle.cpp: what a handle knows of its operator: names, schema, keys.
#include <algorithm>
#include <cstring>
#include <mutex>

#include "core/text.h"
#include "dispatch/dispatch_slots.h"
#include "dispatch/dispatcher_impl.h"

namespace opgen {

namespace {

std::unique_lock<std::mutex> locked() {
  return std::unique_lock(Dispatcher::singleton().impl().mutex);
}

}  // namespace

const std::string& OperatorHandle::name() const noexcept {
  return entry_->name;
}
const std::string& OperatorHandle::overload_name() const noexcept {
  return entry_->overload_name;
}
std::string OperatorHandle::full_name() const {
  return entry_->full_name();
}
std::string OperatorHandle::signature() const {
  auto lock = locked();
  const std::size_t open = entry_->schema_text.find('(');
  return full_name() + (open == std::string::npos ? "" : entry_->schema_text.substr(open));
}
OperatorSlot& OperatorHandle::slot() const noexcept {
  return entry_->own;
}
bool OperatorHandle::has_schema() const noexcept {
  auto lock = locked();
  return entry_->schema_id != 0;
}
const FunctionSchema& OperatorHandle::schema() const {
  auto lock = locked();
  return Dispatcher::singleton().impl().schema_of(*entry_);
}
std::vector<std::string> OperatorHandle::tags() const {
  auto lock = locked();
  std::vector<std::string> tags;
  std::string_view rest = entry_->tags;
  while (!rest.empty()) {
    std::size_t comma = rest.find(',');
    tags.emplace_back(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return tags;
}
std::string OperatorHandle::library() const {
  auto lock = locked();
  return entry_->library;
}
bool OperatorHandle::has_kernel_for(DispatchKey key) const {
  auto lock = locked();
  return entry_->has(key);
}
bool OperatorHandle::is_served_by(DispatchKey alias, DispatchKey key) const {
  auto lock = locked();
  ComputedKernel cell = Dispatcher::singleton().impl().compute(*entry_, key);
  return std::strcmp(cell.reason, toString(alias)) == 0;
}
std::vector<DispatchKey> OperatorHandle::registered_keys() const {
  auto lock = locked();
  std::vector<DispatchKey> keys;
  for (const auto& [key, stack] : entry_->kernels) {
    if (!stack.empty()) keys.push_back(key);
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

void OperatorHandle::check_signature(const std::type_info& signature) const {
  auto lock = locked();
  const Boxing* known = entry_->own.boxing;
  OPGEN_CHECK(known == nullptr || *known->signature == signature, entry_->full_name(),
              " is requested as ", readable(signature), " but its C++ signature is ",
              known != nullptr ? readable(*known->signature) : "");
}

}  // namespace opgen
