// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/tensor/value.hpp"
#include "d5/core/trace/event.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "d5/level1_network/graph/network_mode.hpp"
#include "d5/level1_network/graph/placement.hpp"

namespace d5 {

/// A batch between its forward and its backward run; it keeps all that backward reads. Several may
/// be under way at once, and end in any order. It must end before its executor.
class BatchInFlight {
 public:
  virtual ~BatchInFlight() = default;
  /// As those of `GraphExecutor::inference`; valid until this ends.
  [[nodiscard]] virtual const ValueMap& outputs() const = 0;
  /// Writes the gradients of the sum of all elements of `output_gradients` times the outputs, as
  /// `GraphExecutor::inference_and_backprop` does those of a loss; an output that is left out
  /// counts as one of zeros. Inputs and parameters must be what they were.
  /// Throws: NotFound for an output that `forward` was not told of, ShapeError, TypeError,
  /// ValueError for a second call.
  virtual void backward(const ValueMap& output_gradients) = 0;
  /// After `backward`, until this ends: as `GraphExecutor::gradient`.
  [[nodiscard]] virtual const Tensor& gradient(std::string_view name) const = 0;
};

/// Runs a network.
///
/// Thread safety: one run at a time, on any thread. Executors of one network may run at once on
/// several threads, each with its own number of threads (`ThreadShare`, in which it is made, too),
/// as long as nobody writes what they share: parameters and constants.
class GraphExecutor {
 public:
  virtual ~GraphExecutor() = default;

  /// All outputs of the network by name, on the host unless the options say otherwise; of a run
  /// that ended early those that were computed. They are valid until the next run. The inputs may
  /// be changed when it returns. Throws: NotFound (an input missing or unknown), ShapeError,
  /// TypeError.
  virtual const ValueMap& inference(const ValueMap& inputs) = 0;

  /// As `inference`, then writes the gradient of the scalar output `loss` into every parameter's
  /// `gradient`, announcing each (`ExecutionEvent::gradient_ready`).
  /// Throws: NotFound if there is no such output, ShapeError if it is no scalar, Unsupported where
  /// an operator on the path has no gradient.
  virtual const ValueMap& inference_and_backprop(const ValueMap& inputs, std::string_view loss) = 0;

  /// What the loss counts as where backward begins, from the next run on: its gradient is this
  /// number, 1 at first. The outputs keep the loss as it is. What keeps gradients of short types
  /// from vanishing. Throws: Unsupported by executors that cannot, for another number than 1.
  virtual void set_loss_factor(double factor);

  /// Runs forward as `inference_and_backprop` does, and leaves backward for later, from gradients
  /// of `outputs` that are given then: a stage of a pipeline, or a loss computed elsewhere.
  /// Throws: as `inference_and_backprop`; Unsupported by executors that cannot.
  [[nodiscard]] virtual std::unique_ptr<BatchInFlight> forward(
      const ValueMap& inputs, const std::vector<std::string>& outputs);

  /// After `inference_and_backprop`, until the next run: the gradient of a tensor that the options
  /// name, or of a parameter. It lies where the tensor was computed; zero where the loss does not
  /// depend on the tensor. Throws: NotFound.
  [[nodiscard]] virtual const Tensor& gradient(std::string_view name) const = 0;

  /// From a hook of an observer: the step under way is the last one of this run, which is no error.
  /// From `before_run` and `before_pass` no step runs. `after_run` is still called; outputs that
  /// were not computed are absent, and gradients that the run would have written undefined; no
  /// update is carried out. The next run is whole. Outside of a run it does nothing.
  /// Throws: Unsupported by executors that cannot.
  virtual void end_run();
  /// Whether the last run was ended before its last step.
  [[nodiscard]] virtual bool ended_early() const { return false; }

  /// From the next run on. d5's own executor keeps the plans of each mode.
  virtual void set_mode(NetworkMode mode) = 0;
  [[nodiscard]] virtual NetworkMode mode() const = 0;

  /// Does all that the first run on such inputs does before it computes, and computes nothing:
  /// compiling, whose complaints it throws. An executor that decides while running does nothing.
  virtual void plan(const ValueMap& inputs, std::string_view loss = {}) {
    (void)inputs, (void)loss;
  }

  /// Waits until all work of devices that runs have queued is done: parameters' gradients, outputs
  /// that stay on a device. Throws: what that work failed with.
  virtual void synchronise() {}

  /// What it needs, besides the network, to go on after a pause as if there had been none: its
  /// place in random streams; empty where there is nothing.
  [[nodiscard]] virtual ValueMap state() const = 0;
  /// Throws: NotFound, TypeError for a state that another kind gave.
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

/// Where an executor leaves the outputs of the network.
enum class OutputPlace {
  host,    ///< there when the run returns
  device,  ///< where they were computed; the run may return before they are
};

struct ExecutorOptions {
  /// Frameworks in order of preference for each node: {"torch", "reference"} mixes. "auto" stands
  /// for the fastest of all, measured on the node's shapes while compiling.
  std::vector<std::string> frameworks = {"reference"};
  /// Where nodes run that a framework has a kernel for there; the others run on the host. The
  /// network's parameters are moved there.
  Device device = {};
  OutputPlace outputs = OutputPlace::host;
  std::uint64_t seed = 0;                     ///< of operators that draw random numbers
  std::int64_t iteration_budget = 1'000'000;  ///< of each Loop and Scan
  /// Whose gradients backpropagation gives, besides the parameters': inputs, constants, values
  /// between nodes, and parameters. Of real numbers (TypeError).
  std::vector<std::string> gradients = {};
  /// Otherwise no parameter's `gradient` is written, and only what leads to `gradients` runs
  /// backward.
  bool parameter_gradients = true;
  /// Nodes that run elsewhere than in `frameworks`.
  Placement placement = {};
  /// Bytes, the most that a plan may lay out on a device; 0: `memory_budget()` alone. What steps
  /// allocate whose shapes only running tells counts on top of the plan's. Parameters, their
  /// gradients, inputs and constants are no part of it. Compiling throws MemoryError above it.
  std::size_t memory_limit = 0;
  /// Nodes whose outputs backward computes again instead of keeping them: by their names, or by
  /// that of a layer ("stage1" for "stage1.block2.conv1"); {"auto"} alone: as many as
  /// `memory_limit` asks for. Gradients stay the same to the bit. Nodes that draw random numbers,
  /// hold graphs, or have shapes that only running tells are kept. Source: Chen et al., "Training
  /// Deep Nets with Sublinear Memory Cost" (2016).
  std::vector<std::string> recompute = {};
};

/// d5's own executor: compiles the network for the shapes it is fed (one plan a set of shapes, the
/// last few kept), then runs a flat list of steps over one arena.
[[nodiscard]] std::unique_ptr<GraphExecutor> make_executor(Network network,
                                                           ExecutorOptions options = {});

/// A framework's own executor for whole graphs: a part of `Framework`.
using ExecutorEntry = Entry<std::shared_ptr<GraphExecutor>(Network, const ExecutorOptions&)>;
class ExecutorRegistry : public Registry<ExecutorEntry> {
 public:
  ExecutorRegistry() : Registry("executor") {}
};

}  // namespace d5
