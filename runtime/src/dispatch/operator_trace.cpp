// operator_trace.cpp: reads the stack of the thread with the unwinder for exceptions.
#include "dispatch/operator_trace.h"

#include <unwind.h>

#include <algorithm>
#include <vector>

#include "dispatch/dispatcher_impl.h"

namespace opgen::detail {

namespace {

struct Frame {
  void* function;                      // its start
  std::vector<std::string> operators;  // one kernel may serve several
};
constexpr std::size_t kMostFrames = 200;

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* frames) {
  auto& list = *static_cast<std::vector<Frame>*>(frames);
  if (list.size() == kMostFrames) return _URC_END_OF_STACK;
  // _Unwind_GetRegionStart needs a handler's data, which not every function has.
  void* inside = reinterpret_cast<void*>(_Unwind_GetIP(context) - 1);
  if (void* start = _Unwind_FindEnclosingFunction(inside)) list.push_back({start, {}});
  return _URC_NO_REASON;
}

std::string signature(const OperatorEntry& entry) {
  std::size_t open = entry.schema_text.find('(');
  return entry.full_name() + (open == std::string::npos ? "" : entry.schema_text.substr(open));
}

void note(std::vector<Frame>& frames, const OperatorEntry& entry) {
  for (const auto& [key, stack] : entry.kernels) {
    for (const KernelRegistration& registration : stack) {
      const void* function = registration.kernel.function;
      if (function == nullptr) continue;
      for (Frame& frame : frames) {
        if (frame.function != function) continue;
        frame.operators.push_back(signature(entry));
      }
    }
  }
}

}  // namespace

std::string operator_trace() {
  const Dispatcher::Impl& impl = Dispatcher::singleton().impl();
  // Does not wait for the lock: the throwing code may hold it, or hold a lock for which its owner
  // waits.
  std::unique_lock lock(impl.mutex, std::try_to_lock);
  if (!lock.owns_lock()) return {};
  std::vector<Frame> frames;
  frames.reserve(kMostFrames);
  _Unwind_Backtrace(&add_frame, &frames);
  for (const auto& [name, entry] : impl.entries) note(frames, *entry);
  std::string text;
  std::vector<std::string> inner;
  for (Frame& frame : frames) {
    std::vector<std::string>& operators = frame.operators;
    std::sort(operators.begin(), operators.end());
    operators.erase(std::unique(operators.begin(), operators.end()), operators.end());
    // Do not repeat an operator whose kernel for BackendSelect or Autograd called another of its
    // kernels.
    if (operators.empty() || operators == inner) continue;
    inner = operators;
    for (const std::string& one : operators) {
      text += &one == operators.data() ? "\n  in " : " or ";
      text += one;
    }
  }
  return text;
}

}  // namespace opgen::detail
