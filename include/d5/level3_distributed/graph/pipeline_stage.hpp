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

/// What a pipeline runs at once.
struct MicroBatch {
  ValueMap values;    ///< the whole network's inputs, on every rank
  double factor = 1;  ///< how often its loss counts
  /// The stage as it is cut for this many samples; null: as many as the stage was made for.
  const NetworkPart* cut = nullptr;
};

/// This rank's stage of a network that the ranks of a group hold together, rank r the part r.
///
///     auto parts = partitions().at("pipeline").make({{"batch", 8}})->cut(network, ranks->size());
///     PipelineStage stage(parts.at(ranks->rank()), "loss", ranks,
///                         pipeline_schedules().at("1f1b").make());
///     stage.run(micro_batches);  // and update stage.network()
///
/// Its tasks and its waits for neighbours are on the timeline, level "pipeline".
class PipelineStage {
 public:
  /// Called with the outputs of this stage of each micro-batch when it has run forward.
  using ReadOutputs = std::function<void(std::size_t micro_batch, const ValueMap& outputs)>;
  /// Called once a parameter and run, as soon as its gradient is the sum of all micro-batches:
  /// while the last of them still goes back. By its place in `network().parameters()`.
  using GradientFinal = std::function<void(std::size_t parameter)>;

  /// A collective. Throws: NotFound where no stage has the output `loss`; Unsupported where one
  /// neither has it nor sends real numbers, on every rank; as `make_executor`.
  PipelineStage(NetworkPart part, std::string loss, std::shared_ptr<Communicator> ranks,
                std::shared_ptr<PipelineSchedule> schedule, const ExecutorOptions& options = {});
  ~PipelineStage();
  PipelineStage(const PipelineStage&) = delete;
  PipelineStage& operator=(const PipelineStage&) = delete;

  /// Runs all of them forward and backward, and leaves the gradients of the mean of their losses in
  /// the parameters of this stage. A micro-batch has the whole network's inputs, on every rank, of
  /// the sizes that the cut was made for. The mean loss, at the stage that computes it. A
  /// collective.
  /// Throws: ValueError without micro-batches; what executors and calls throw.
  std::optional<double> run(std::span<const ValueMap> micro_batches);
  /// As `run`, with the gradients of the sum of factor times loss.
  void train(std::span<const MicroBatch> micro_batches, const ReadOutputs& read,
             const GradientFinal& final = {});
  /// Forward alone. A collective.
  void infer(std::span<const MicroBatch> micro_batches, const ReadOutputs& read);
  /// How long this rank has waited for what other stages sent, since it was made.
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
  std::vector<std::string> ends_;  // outputs that backward begins at
  double waited_seconds_ = 0;
};

}  // namespace d5
