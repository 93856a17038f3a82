// node_extras.h: data that only some nodes have: hooks, and the records of anomaly mode. Internal.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "autograd/autograd_part.h"
#include "opgen/autograd/hooks.h"

namespace opgen::autograd::internal {

struct HookTable {
  template <class F>
  struct Hook {
    std::uint64_t id;
    std::uint32_t output_nr;  // for the hook of a tensor
    F run;
  };
  struct Retained {
    std::uint32_t output_nr;
    std::shared_ptr<GradSlot> slot;
  };

  std::mutex mutex;
  std::uint64_t next_id = 0;
  std::vector<Hook<TensorHook>> tensor;
  std::vector<Retained> retained;
  std::vector<Hook<NodePreHook>> pre;
  std::vector<Hook<NodePostHook>> post;
  std::vector<Hook<LeafHook>> accumulated;
};

struct NodeExtras {
  std::mutex mutex;  // protects `hooks`, not the table
  std::shared_ptr<HookTable> hooks;
  std::string trace;  // the operators of the forward call; empty without anomaly mode
  std::shared_ptr<const std::string> parent;  // the text for the node whose backward made this one
};

[[nodiscard]] NodeExtras& extras_of(Node& node);
[[nodiscard]] std::shared_ptr<HookTable> find_hooks(const Node& node);
[[nodiscard]] HookTable& hooks_of(Node& node);

// Run the node's hooks, and replace or return the gradients accordingly.
void run_tensor_hooks(HookTable& table, const Node& node, Gradients& gradients);
void run_pre_hooks(HookTable& table, const Node& node, Gradients& gradients);
void run_post_hooks(HookTable& table, const Node& node, Gradients& results,
                    const Gradients& gradients);
void run_leaf_hooks(HookTable& table, const TensorBase& leaf);

// Returns the node whose apply() this thread is executing; null if none.
[[nodiscard]] const Node* running_node() noexcept;

// Anomaly mode (anomaly.cpp).
void note_forward_call(Node& node);
[[nodiscard]] std::string describe_forward_call(const Node& node);
// Rethrows the current exception, with the forward call of `node` in its text.
[[noreturn]] void rethrow_with_forward_call(const Node& node);
void check_no_nan(const Node& node, const Gradients& results);

}  // namespace opgen::autograd::internal
