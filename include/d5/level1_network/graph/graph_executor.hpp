// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/tensor/device.hpp"
#include "d5/core/tensor/value.hpp"
#include "d5/core/trace/event.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "d5/level1_network/graph/network_mode.hpp"
#include "d5/level1_network/graph/placement.hpp"

namespace d5 {

/// A batch between its forward and its backward run; holds everything that backward reads. Several
/// may be in flight at once and end in any order. It must be destroyed before its executor.
class BatchInFlight {
 public:
  virtual ~BatchInFlight() = default;
  /// Outputs as of `GraphExecutor::inference`; valid as long as this object.
  [[nodiscard]] virtual const ValueMap& outputs() const = 0;
  /// Backpropagates from `output_gradients`, the gradients of the outputs; a missing output counts
  /// as zeros. Writes gradients as `GraphExecutor::inference_and_backprop` does for a loss. Inputs
  /// and parameters must not have changed since `forward`. Throws: NotFound for an output that was
  /// not given to `forward`; ShapeError; TypeError; ValueError for a second call.
  virtual void backward(const ValueMap& output_gradients) = 0;
  /// Gradient of a tensor, as of `GraphExecutor::gradient`. Call it after `backward`.
  [[nodiscard]] virtual const Tensor& gradient(std::string_view name) const = 0;
};

/// Runs a network.
///
/// Thread safety: one run at a time, on any thread. Executors of one network may run at once on
/// several threads, as long as no thread writes the parameters and constants that they share. Each
/// executor uses the number of threads of the `ThreadShare` in which it was made and runs.
class GraphExecutor {
 public:
  virtual ~GraphExecutor() = default;

  /// Runs forward and returns all outputs of the network by name, on the host unless the options
  /// say otherwise. After a run that ended early it returns the outputs computed so far. Outputs
  /// are valid until the next run. Inputs may be changed after the call returns. Throws: NotFound
  /// (an input is missing or unknown), ShapeError, TypeError.
  virtual const ValueMap& inference(const ValueMap& inputs) = 0;

  /// Runs `inference`, then writes the gradient of the scalar output `loss` into every parameter's
  /// `gradient`, and announces each (`ExecutionEvent::gradient_ready`). Throws: NotFound if there
  /// is no such output; ShapeError if it is not a scalar; Unsupported if an operator on the path
  /// has no gradient.
  virtual const ValueMap& inference_and_backprop(const ValueMap& inputs, std::string_view loss) = 0;

  /// Loss scaling: sets the gradient of the loss with which backward begins, from the next run on;
  /// 1 at first. The loss among the outputs stays unscaled. Scaling keeps gradients of short types
  /// from vanishing. Throws: Unsupported for a factor other than 1 if the executor cannot scale.
  virtual void set_loss_factor(double factor);

  /// Runs forward like `inference_and_backprop` and leaves backward for later, when the gradients
  /// of `outputs` are given. Use it for a pipeline stage, or for a loss computed elsewhere. Throws:
  /// as `inference_and_backprop`; Unsupported if the executor cannot.
  [[nodiscard]] virtual std::unique_ptr<BatchInFlight> forward(
      const ValueMap& inputs, const std::vector<std::string>& outputs);

  /// Gradient of a parameter, or of a tensor that the options name; valid after
  /// `inference_and_backprop` until the next run. It lies on the device where the tensor was
  /// computed, and is zero if the loss does not depend on the tensor. Throws: NotFound.
  [[nodiscard]] virtual const Tensor& gradient(std::string_view name) const = 0;

  /// Ends the run early, without an error; called from an observer's hook. The step under way is
  /// the last one; from `before_run` and `before_pass` no step runs. `after_run` is still called.
  /// Outputs that were not computed are absent, gradients that were not written are undefined, and
  /// no update is carried out. The next run is complete. Outside a run it does nothing. Throws:
  /// Unsupported if the executor cannot.
  virtual void end_run();
  /// Whether the last run ended before its last step.
  [[nodiscard]] virtual bool ended_early() const { return false; }

  /// Sets the mode from the next run on. d5's own executor keeps the plans of each mode.
  virtual void set_mode(NetworkMode mode) = 0;
  [[nodiscard]] virtual NetworkMode mode() const = 0;

  /// Prepares the first run on such inputs without computing: compiles, and throws what compiling
  /// throws. An executor that decides at run time does nothing.
  virtual void plan(const ValueMap& inputs, std::string_view loss = {}) {
    (void)inputs, (void)loss;
  }

  /// Waits for all device work that runs have queued, such as parameters' gradients and outputs
  /// that stay on a device. Throws: the error with which that work failed.
  virtual void synchronise() {}

  /// State besides the network that a checkpoint needs to resume exactly: positions in random
  /// streams; empty if there is none.
  [[nodiscard]] virtual ValueMap state() const = 0;
  /// Restores a `state`. Throws: NotFound, TypeError for the state of another kind of executor.
  virtual void restore(const ValueMap& state) = 0;

  [[nodiscard]] virtual Network& network() = 0;
  [[nodiscard]] virtual EventList& events() = 0;
  [[nodiscard]] virtual std::string framework() const = 0;
};

/// Sets an executor's mode until the end of its scope.
class ModeScope {
 public:
  ModeScope(GraphExecutor& executor, NetworkMode mode)
      : executor_(executor), before_(executor.mode()) {
    executor_.set_mode(mode);
  }
  ~ModeScope() { executor_.set_mode(before_); }
  ModeScope(const ModeScope&) = delete;
  ModeScope& operator=(const ModeScope&) = delete;

 private:
  GraphExecutor& executor_;
  NetworkMode before_;
};

/// Place where an executor leaves the outputs of the network.
enum class OutputPlace {
  host,    ///< available when the run returns
  device,  ///< on the device that computed them; the run may return before they are available
};

struct ExecutorOptions {
  /// Frameworks in order of preference for each node: {"torch", "reference"} mixes. "auto" chooses
  /// the fastest of all for each node, measured on the node's shapes while compiling.
  std::vector<std::string> frameworks = {"reference"};
  /// Device of all nodes for which a framework has a kernel there; other nodes run on the host. The
  /// network's parameters are moved to it.
  Device device = {};
  OutputPlace outputs = OutputPlace::host;
  std::uint64_t seed = 0;                     ///< seed of operators that draw random numbers
  std::int64_t iteration_budget = 1'000'000;  ///< most iterations of a Loop or Scan
  /// Tensors to give gradients of, besides the parameters: inputs, constants, intermediate values,
  /// or parameters. They must be floating-point (TypeError).
  std::vector<std::string> gradients = {};
  /// Whether parameters' gradients are written. If not, backward runs only the nodes that lead to
  /// `gradients`.
  bool parameter_gradients = true;
  /// Exceptions to `frameworks` for some nodes.
  Placement placement = {};
  /// Limit of a plan's memory on a device, in bytes; 0: `memory_budget()` alone. Parameters, their
  /// gradients, inputs and constants do not count. Memory that steps with dynamic shapes allocate
  /// comes on top of the plan. Compiling throws MemoryError above the limit.
  std::size_t memory_limit = 0;
  /// Nodes whose outputs backward recomputes instead of keeping them (activation checkpointing).
  /// Each is named by itself or by its layer ("stage1" for "stage1.block2.conv1"). {"auto"} alone
  /// recomputes as many as `memory_limit` needs. Gradients stay bitwise equal. Nodes that draw
  /// random numbers, hold graphs or have dynamic shapes are always kept. Source: Chen et al.,
  /// "Training Deep Nets with Sublinear Memory Cost" (2016).
  std::vector<std::string> recompute = {};
};

/// d5's own executor: compiles the network for the input shapes (one plan per set of shapes, the
/// last few are kept), then runs a flat list of steps over one arena.
[[nodiscard]] std::unique_ptr<GraphExecutor> make_executor(Network network,
                                                           ExecutorOptions options = {});

/// A framework's own executor for whole graphs; a part of `Framework`.
using ExecutorEntry = Entry<std::shared_ptr<GraphExecutor>(Network, const ExecutorOptions&)>;
class ExecutorRegistry : public Registry<ExecutorEntry> {
 public:
  ExecutorRegistry() : Registry("executor") {}

  /// Declares that an executor computes on devices of this kind, too. Every executor computes on
  /// the host; `open_executor` refuses a device of a kind that was not declared.
  void computes_on(const std::string& name, DeviceKind kind) { kinds_.emplace(name, kind); }
  [[nodiscard]] bool can_compute_on(const std::string& name, DeviceKind kind) const {
    return kind == DeviceKind::cpu || kinds_.contains({name, kind});
  }

 private:
  std::set<std::pair<std::string, DeviceKind>> kinds_ = {};
};

}  // namespace d5
