// reports.cpp: lists of what is registered, for people: operators, their tables, kernels that are
// not written.
#include <algorithm>
#include <cstring>
#include <mutex>
#include <tuple>

#include "core/text.h"
#include "dispatch/dispatch_slots.h"
#include "dispatch/dispatcher_impl.h"
#include "opgen/schema/nearest_name.h"
#include "registration/stub_registry.h"

namespace opgen {

namespace {

std::unique_lock<std::mutex> locked() {
  return std::unique_lock(Dispatcher::singleton().impl().mutex);
}

}  // namespace

OperatorHandle Dispatcher::findSchemaOrThrow(std::string_view name,
                                             std::string_view overload_name) const {
  if (auto found = findSchema(name, overload_name)) return *found;
  std::string asked(name);
  if (!overload_name.empty()) asked.append(".").append(overload_name);
  std::string nearest;
  std::size_t best = detail::most_edits(asked);
  for (const OperatorHandle& op : operators()) {
    std::string candidate = op.full_name();
    // Another overload of the same operator counts as nearer than any other name.
    std::size_t d = op.name() == name ? 1 : detail::edit_distance(asked, candidate);
    if (d < best) {
      best = d;
      nearest = candidate;
    }
  }
  if (!nearest.empty()) {
    OPGEN_CHECK(false, "no operator ", asked, " is defined; did you mean ", nearest, "?");
  }
  OPGEN_CHECK(false, "no operator ", asked, " is defined; is its library loaded?");
  __builtin_unreachable();
}

namespace {
std::vector<OperatorHandle> sorted_by_name(std::vector<OperatorEntry*> entries) {
  std::sort(entries.begin(), entries.end(), [](const OperatorEntry* a, const OperatorEntry* b) {
    return std::tie(a->name, a->overload_name) < std::tie(b->name, b->overload_name);
  });
  return std::vector<OperatorHandle>(entries.begin(), entries.end());
}
}  // namespace

std::vector<OperatorHandle> Dispatcher::operators() const {
  std::lock_guard lock(impl_->mutex);
  std::vector<OperatorEntry*> found;
  for (const auto& [name, entry] : impl_->entries) {
    if (entry->schema_id != 0) found.push_back(entry.get());
  }
  return sorted_by_name(std::move(found));
}

std::vector<OperatorHandle> Dispatcher::operators_without_schema() const {
  std::lock_guard lock(impl_->mutex);
  std::vector<OperatorEntry*> found;
  for (const auto& [name, entry] : impl_->entries) {
    bool has_kernels = std::any_of(entry->kernels.begin(), entry->kernels.end(),
                                   [](const auto& stack) { return !stack.second.empty(); });
    if (entry->schema_id == 0 && has_kernels) found.push_back(entry.get());
  }
  return sorted_by_name(std::move(found));
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

std::vector<StubReport> opgen_stub_report() {
  StubRegistry& registry = StubRegistry::singleton();
  std::lock_guard lock(registry.mutex);
  std::vector<StubReport> stubs;
  for (const StubTable* table : registry.tables) registry.report(*table, stubs);
  auto order = [](const StubReport& s) { return std::tie(s.library, s.op, s.key, s.signature); };
  std::sort(stubs.begin(), stubs.end(),
            [&](const StubReport& a, const StubReport& b) { return order(a) < order(b); });
  return stubs;
}

}  // namespace opgen
