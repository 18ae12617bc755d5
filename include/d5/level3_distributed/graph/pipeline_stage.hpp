// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/level3_distributed/graph/partition.hpp"
#include "d5/level3_distributed/graph/pipeline_schedule.hpp"

namespace d5 {

/// The inputs that a pipeline runs at once.
struct MicroBatch {
  ValueMap values;    ///< inputs of the whole network, on every rank
  double factor = 1;  ///< weight of its loss
  /// The stage cut for this number of samples; null: the number that the stage was made for.
  const NetworkPart* cut = nullptr;
};

/// This rank's stage of a network that is distributed over the ranks of a group: rank r holds part
/// r.
///
///     auto parts = partitions().at("pipeline").make({{"batch", 8}})->cut(network, ranks->size());
///     PipelineStage stage(parts.at(ranks->rank()), "loss", ranks,
///                         pipeline_schedules().at("1f1b").make());
///     stage.run(micro_batches);  // then update stage.network()
///
/// The timeline shows its tasks and its waits for neighbours, at level "pipeline".
class PipelineStage {
 public:
  /// Called once per micro-batch, after its forward pass, with the outputs of this stage.
  using ReadOutputs = std::function<void(std::size_t micro_batch, const ValueMap& outputs)>;
  /// Called once per parameter and run, as soon as its gradient is the sum over all micro-batches,
  /// which is during the last backward pass. `parameter` is the index in `network().parameters()`.
  using GradientFinal = std::function<void(std::size_t parameter)>;

  /// A collective.
  /// Throws: on every rank NotFound if no stage has the output `loss`, and Unsupported if a stage
  /// neither has it nor sends real numbers; as `make_executor`.
  PipelineStage(NetworkPart part, std::string loss, std::shared_ptr<Communicator> ranks,
                std::shared_ptr<PipelineSchedule> schedule, const ExecutorOptions& options = {});
  ~PipelineStage();
  PipelineStage(const PipelineStage&) = delete;
  PipelineStage& operator=(const PipelineStage&) = delete;

  /// Runs all micro-batches forward and backward, and leaves the gradients of the mean of their
  /// losses in the parameters of this stage. A micro-batch has the whole network's inputs, on every
  /// rank, of the sizes that the cut was made for. Returns the mean loss at the stage that computes
  /// it. A collective.
  /// Throws: ValueError without micro-batches; exceptions of executors and calls.
  std::optional<double> run(std::span<const ValueMap> micro_batches);
  /// Like `run`, with the gradients of the sum of factor times loss.
  void train(std::span<const MicroBatch> micro_batches, const ReadOutputs& read,
             const GradientFinal& final = {});
  /// Runs forward only. A collective.
  void infer(std::span<const MicroBatch> micro_batches, const ReadOutputs& read);
  /// Total time that this rank has waited for messages of other stages.
  [[nodiscard]] double waited_seconds() const { return waited_seconds_; }

  [[nodiscard]] Network& network() { return executor_->network(); }
  [[nodiscard]] GraphExecutor& executor() { return *executor_; }

 private:
  class Messages;
  class GradientSums;
  [[nodiscard]] const NetworkPart& cut_of(const MicroBatch& micro_batch) const {
    return micro_batch.cut ? *micro_batch.cut : part_;
  }
  [[nodiscard]] ValueMap inputs_of(const MicroBatch& micro_batch, Messages& messages) const;
  void send_outputs(const MicroBatch& micro_batch, const ValueMap& outputs, Messages& messages);
  void backward(BatchInFlight& batch, const MicroBatch& micro_batch, Messages& messages);

  NetworkPart part_;
  std::string loss_;
  bool has_loss_ = false;
  std::shared_ptr<Communicator> ranks_;
  std::shared_ptr<PipelineSchedule> schedule_;
  std::unique_ptr<GraphExecutor> executor_;
  std::shared_ptr<GradientSums> sums_;
  std::vector<std::string> ends_;  // outputs at which backward begins
  double waited_seconds_ = 0;
};

}  // namespace d5
