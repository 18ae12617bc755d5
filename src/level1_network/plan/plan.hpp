// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "d5/core/tensor/arena.hpp"
#include "d5/level0_ops/operator/operator.hpp"
#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level1_network/plan/planned_memory.hpp"
#include "d5/level1_network/plan/planned_updates.hpp"
#include "level1_network/plan/gradients/gradient_sum.hpp"
#include "level1_network/plan/run_state.hpp"
#include "level1_network/plan/transfer_kernel.hpp"

namespace d5 {

struct FrameworkSelection;

/// Throws: ShapeError unless `desc`, of loss `name`, has one element.
void expect_scalar(const std::string& name, const TensorDesc& desc);

/// A graph compiled for one set of input shapes: flat lists of steps with everything resolved. Made
/// by `compile`; the steps point into the containers below, which do not move.
struct Plan {
  struct Fed {
    std::string name;
    ValueDesc desc;
    Value* value;
  };
  struct Output {
    Value* answer;        ///< in `outputs`
    const Value* source;  ///< in `values`
  };
  struct Update {
    Tensor constant;
    const Value* source;
  };
  struct ForwardStep {
    Kernel* kernel;
    OpContext context;
  };
  struct BackwardStep {
    std::size_t again;  ///< steps of `Plan::again` that run before it
    Kernel* kernel;
    GradContext context;
    std::span<GradientSum* const> sums;  ///< gradients of tensors with several readers
    /// Gradients with dynamic shapes, known after forward, with the values that they belong to.
    std::span<const std::pair<Tensor*, const Value*>> to_allocate;
    /// Gradients of captured values; runs of the node's graphs add to them.
    std::span<Tensor* const> accumulated;
    std::size_t final_parameters;  ///< number of the arena's first parameters that are final after
                                   ///< this step
  };
  /// An output of a step with planned memory.
  struct Planned {
    const Value* value;
    const void* memory;
    const onnx::Node* node;
  };

  std::shared_ptr<const onnx::Graph> graph;
  std::string loss;  ///< its gradient is one
  NetworkMode network_mode = NetworkMode::as_written;
  std::set<std::string> given_seeds;  ///< without a loss: what `seeds` is to be given
  std::vector<Fed> inputs;            ///< sorted by name
  /// For a nested graph: index of each of `inputs` among its inputs, followed by its captures.
  std::vector<std::size_t> bound;
  std::vector<const Value*> ordered_outputs;  ///< for a nested graph; in `values`
  std::shared_ptr<void> reserved;             ///< for a nested graph; its memory
  std::vector<ForwardStep> kept;  ///< reorders of parameters and constants, in their own memory
  std::uint64_t kept_of = ~std::uint64_t{0};  ///< `Network::value_changes` when they ran last
  bool keeps_updated = false;                 ///< they read a constant that runs update
  std::vector<ForwardStep> forward;
  std::vector<ForwardStep> again;  ///< steps that backward recomputes, in their order
  std::vector<BackwardStep> backward;
  /// One per forward step, then one per backward step, in execution order.
  std::vector<StepInfo> infos;
  std::vector<StepInfo> kept_infos;
  std::vector<Update> updates;   ///< carried out at the end of a run
  std::vector<Update> in_place;  ///< carried out by the steps
  std::vector<PlannedUpdate> planned_updates;
  ValueMap outputs;
  std::vector<Output> changing_outputs;  ///< outputs whose memory differs from run to run
  std::map<std::string, const Value*> output_sources;  ///< all, in `values`

  Value* loss_value = nullptr;
  Tensor* loss_gradient = nullptr;
  double loss_factor = 1;              ///< factor that was written there last
  std::vector<Tensor> zero_gradients;  ///< gradients of tensors that the loss does not depend on
  /// The same for shapes that are known only after forward.
  std::vector<std::pair<Tensor*, const Value*>> dynamic_zeros;
  std::size_t final_at_start = 0;
  /// Gradients that backward starts from; written before it, then accumulated.
  std::map<std::string, Tensor*, std::less<>> seeds;
  struct NamedGradient {
    Tensor* tensor;
    bool reached;  ///< otherwise it is zero in every run
  };
  /// Gradients of parameters, and requested ones.
  std::map<std::string, NamedGradient, std::less<>> named_gradients;

  std::vector<Planned> planned;
  PlannedMemory memory;
  std::shared_ptr<const FrameworkSelection> selection;  ///< null: nothing was measured

  // Storage that the steps point to.
  std::map<Device, Arena> arenas;
  std::deque<onnx::Node> nodes;             ///< nodes of transfers and replaced sequences
  std::deque<std::string> framework_names;  ///< names for steps with several frameworks
  HostReads host_reads;
  std::deque<Value> values, again_values;
  std::deque<Tensor> gradients;
  std::deque<NodeServices> services;
  std::deque<std::unique_ptr<Operator>> operators;
  std::deque<std::unique_ptr<Kernel>> kernels;  // they keep their operators and services
  std::deque<std::vector<const Value*>> input_lists, output_lists;
  std::deque<std::vector<Value*>> writable_lists;
  std::deque<std::vector<Tensor>> saved_lists;
  std::deque<std::vector<const Tensor*>> grad_output_lists;
  std::deque<std::vector<Tensor*>> grad_input_lists;
  std::deque<GradientSum> sums;
  std::deque<std::vector<GradientSum*>> sum_lists;
  std::deque<std::vector<std::pair<Tensor*, const Value*>>> allocation_lists;

  /// Observers of a run; `ended` becomes true when one of them ends the run.
  struct Observers {
    std::span<ExecutionEvent* const> all;
    const bool& ended;
  };

  /// Runs forward with bound inputs. `value_changes`: the network's current number.
  void run_forward(std::uint64_t value_changes);
  /// Returns how many steps ran.
  std::size_t run_forward(std::uint64_t value_changes, const Observers& observers);
  /// Runs as a nested graph: observers see nested steps.
  void run_nested(std::span<ExecutionEvent* const> observers);
  void run_nested_backward(RunState& state, std::span<ExecutionEvent* const> observers);
  /// Runs backward after forward, and announces final gradients of `parameters`.
  void run_backward(RunState& state);
  /// Returns how many steps ran.
  std::size_t run_backward(RunState& state, std::vector<Parameter>& parameters,
                           const Observers& observers);
  /// Completes `outputs` of this run and carries out the updates. When it returns, the caller's
  /// inputs are no longer needed; other work of devices may be under way.
  void finish();
  /// The same for a run that ended after this number of forward steps: returns the computed
  /// outputs.
  [[nodiscard]] ValueMap finish_early(std::size_t forward_steps);

 private:
  void renew_kept(const Observers& observers);
  void begin_backward(RunState& state);
  void check_planned() const;
  bool checked_ = false;
};

}  // namespace d5
