// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "d5/level1_network/graph_executor.hpp"
#include "d5/level3_distributed/communicator.hpp"
#include "d5/level3_distributed/partition.hpp"
#include "d5/level3_distributed/pipeline_schedule.hpp"

namespace d5 {

/// This rank's stage of a network that the ranks of a group hold together, rank r the part r.
///
///     auto parts = partitions().at("pipeline").make({{"batch", 8}})->cut(network, ranks->size());
///     PipelineStage stage(parts.at(ranks->rank()), "loss", ranks,
///                         pipeline_schedules().at("1f1b").make());
///     stage.run(micro_batches);  // and update stage.network()
class PipelineStage {
 public:
  /// A collective. Throws: NotFound where no stage has the output `loss`; Unsupported at a stage
  /// that neither has it nor sends real numbers; as `make_executor`.
  PipelineStage(NetworkPart part, std::string loss, std::shared_ptr<Communicator> ranks,
                std::shared_ptr<PipelineSchedule> schedule, const ExecutorOptions& options = {});

  /// Runs all of them forward and backward, and leaves the gradients of the mean of their losses in
  /// the parameters of this stage. A micro-batch has the whole network's inputs, on every rank, of
  /// the sizes that the cut was made for. The mean loss, at the stage that computes it. A
  /// collective.
  /// Throws: ValueError without micro-batches; what executors and calls throw.
  std::optional<double> run(std::span<const ValueMap> micro_batches);

  [[nodiscard]] Network& network() { return executor_->network(); }
  [[nodiscard]] GraphExecutor& executor() { return *executor_; }

 private:
  class Messages;
  [[nodiscard]] std::unique_ptr<BatchInFlight> forward(const ValueMap& values, Messages& messages);
  void backward(BatchInFlight& batch, std::size_t micro_batches, Messages& messages);

  NetworkPart part_;
  std::string loss_;
  bool has_loss_ = false;
  std::shared_ptr<Communicator> ranks_;
  std::shared_ptr<PipelineSchedule> schedule_;
  std::unique_ptr<GraphExecutor> executor_;
  std::vector<std::string> ends_;  // outputs that backward begins at
};

}  // namespace d5
