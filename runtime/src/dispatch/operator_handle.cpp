// operator_handle.cpp: the reports of a handle about its operator: names, schema, computed table.
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

namespace {
const char* kind_name(const KernelFunction& kernel) noexcept {
  constexpr const char* kinds[] = {"missing", "unboxed",     "unboxed with keys", "functor",
                                   "boxed",   "fallthrough", "ambiguous"};
  return kinds[static_cast<int>(kernel.kind)];
}
}  // namespace

std::string OperatorHandle::dump_registrations() const {
  auto lock = locked();
  std::string text = entry_->full_name() + "\n";
  text += "schema: " +
          (entry_->schema_id != 0 ? entry_->schema_text + ", from " + entry_->library
                                  : std::string("none")) +
          "\n";
  std::vector<const std::pair<DispatchKey, KernelStack>*> sorted;
  for (const auto& stack : entry_->kernels) sorted.push_back(&stack);
  std::sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->first < b->first; });
  for (const auto* stack : sorted) {
    for (auto it = stack->second.rbegin(); it != stack->second.rend(); ++it) {
      text += std::string(toString(stack->first)) + ": " + kind_name(it->kernel) + ", from " +
              it->library + (it == stack->second.rbegin() ? "" : " (inactive)") + "\n";
    }
  }
  return text;
}

std::string OperatorHandle::dump_computed_table() const {
  auto lock = locked();
  const Dispatcher::Impl& impl = Dispatcher::singleton().impl();
  std::string text;
  for_each_slot([&](int, DispatchKey key, DispatchKey) {
    ComputedKernel cell = impl.compute(*entry_, key);
    if (cell.kernel.kind == KernelFunction::Kind::Missing) return;
    const bool silent = std::strcmp(cell.reason, "fallthrough") == 0;
    if (!silent) text += std::string(toString(key)) + ": " + cell.reason + "\n";
  });
  return text;
}

namespace {

// The part of a line of dump_table() that follows the key.
std::string cell_text(const ComputedKernel& cell) {
  if (std::strcmp(cell.reason, "fallthrough") == 0) return cell.reason;
  std::string text = kind_name(cell.kernel);
  if (cell.from != nullptr) text.append(", from ").append(cell.from->library);
  if (std::strcmp(cell.reason, kind_name(cell.kernel)) != 0) {
    text.append(" [").append(cell.reason).append("]");
  }
  return text;
}

// Keys with the same text, of which the line names the first ones.
struct Line {
  std::string keys;
  std::string text;
  int count;
};
constexpr int kNamedKeys = 4;

std::string short_table(const std::vector<std::pair<const char*, std::string>>& cells) {
  std::vector<Line> lines;
  std::vector<Line> without;
  for (const auto& [key, text] : cells) {
    std::vector<Line>& among = text == "missing" || text == "fallthrough" ? without : lines;
    auto same = std::find_if(among.begin(), among.end(),
                             [&text = text](const Line& line) { return line.text == text; });
    if (same == among.end()) {
      among.push_back({key, text, 1});
    } else if (++same->count <= kNamedKeys) {
      same->keys.append(", ").append(key);
    }
  }
  std::string all;
  for (const Line& line : lines) {
    all += line.keys;
    if (line.count > kNamedKeys) all += " and " + std::to_string(line.count - kNamedKeys) + " more";
    all += ": " + line.text + "\n";
  }
  for (const Line& line : without) {
    all += std::to_string(line.count) + (line.count == 1 ? " key: " : " keys: ") + line.text + "\n";
  }
  return all;
}

}  // namespace

std::string OperatorHandle::dump_table(bool whole) const {
  auto lock = locked();
  const Dispatcher::Impl& impl = Dispatcher::singleton().impl();
  std::vector<std::pair<const char*, std::string>> cells;
  for_each_slot([&](int, DispatchKey key, DispatchKey) {
    cells.emplace_back(toString(key), cell_text(impl.compute(*entry_, key)));
  });
  if (!whole) return short_table(cells);
  std::string text;
  for (const auto& [key, cell] : cells) text.append(key).append(": ").append(cell) += '\n';
  return text;
}

void OperatorHandle::check_signature(const std::type_info& signature) const {
  auto lock = locked();
  const Boxing* known = entry_->own.boxing;
  OPGEN_CHECK(known == nullptr || *known->signature == signature, entry_->full_name(),
              " is requested as ", readable(signature), " but its C++ signature is ",
              known != nullptr ? readable(*known->signature) : "");
}

}  // namespace opgen
