// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "d5/level2_training/optimization/loss_weight.hpp"
#include "d5/level3_distributed/graph/pipeline_stage.hpp"
#include "level2_training/optimization/joined_outputs.hpp"
#include "level3_distributed/graph/stage_view.hpp"

namespace d5::detail {

/// An executor of the whole network over the stages of a pipeline. Each run goes through all
/// stages, in micro-batches, and every stage gets all outputs of the batch.
///
/// `network()` has the inputs and outputs of the whole network, but only the parameters and running
/// statistics of this rank's stage (`stage_view`). A gradient is announced when it is the sum over
/// all micro-batches.
class PipelineExecutor final : public GraphExecutor {
 public:
  struct Cut {
    std::string loss;
    std::shared_ptr<Communicator> stages;  ///< rank s is stage s
    std::vector<std::size_t> starts;       ///< as for `cut_into_stages`
    std::int64_t micro_batches = 1;
    std::shared_ptr<PipelineSchedule> schedule;
  };
  /// A collective of the stages. Keeps only the structure of `whole`.
  /// Throws: Unsupported for a device; as `cut_into_stages`, `PipelineStage`.
  PipelineExecutor(const Network& whole, const ExecutorOptions& options, Cut cut);

  const ValueMap& inference(const ValueMap& inputs) override;
  const ValueMap& inference_and_backprop(const ValueMap& inputs, std::string_view loss) override;
  void set_loss_factor(double factor) override { loss_factor_ = factor; }
  const Tensor& gradient(std::string_view name) const override {
    return Network(view_).parameter(name).gradient;
  }
  void set_mode(NetworkMode mode) override { stage_->executor().set_mode(mode); }
  NetworkMode mode() const override { return stage_->executor().mode(); }
  ValueMap state() const override { return stage_->executor().state(); }
  void restore(const ValueMap& state) override { stage_->executor().restore(state); }
  Network& network() override { return view_; }
  EventList& events() override { return events_; }
  std::string framework() const override { return stage_->executor().framework(); }

  [[nodiscard]] const std::vector<std::size_t>& starts() const { return cut_.starts; }
  /// The weight of samples in the loss, of which a stage has only some nodes.
  [[nodiscard]] const std::shared_ptr<LossWeight>& loss_weight() const { return loss_weight_; }
  /// Writes the parameters and running statistics of all stages into a network like the whole one,
  /// on all of them. A collective.
  void gather_values(Network& whole);
  /// Total time that this rank has waited for other stages.
  [[nodiscard]] double waited_seconds() const { return waited_seconds_ + stage_->waited_seconds(); }

 private:
  class Relay;
  /// Plan for batches of one size.
  struct Sizes {
    NetworkPart cut;                     // its network is empty
    std::vector<TensorDesc> outputs_of;  // descriptions of `outputs_`
  };
  void find_places(const Network& whole);
  [[nodiscard]] bool is_mine(int stage) const { return stage == cut_.stages->rank(); }
  [[nodiscard]] const Sizes& sizes_for(std::int64_t samples);
  [[nodiscard]] std::vector<MicroBatch> micro_batches_of(const ValueMap& inputs);
  void begin(const ValueMap& inputs);
  void hear_of_changes();
  void read(std::size_t micro_batch, const ValueMap& outputs);
  const ValueMap& share_outputs();

  Network structure_;  // whole network
  Cut cut_;
  std::shared_ptr<LossWeight> loss_weight_;
  StageOfOutputs outputs_;
  std::map<std::string, int> stage_of_values_;  // parameters and running statistics
  Network view_;
  std::unique_ptr<PipelineStage> stage_;
  EventList events_;
  std::shared_ptr<Relay> relay_;
  std::map<std::int64_t, Sizes> sizes_;
  double loss_factor_ = 1, waited_seconds_ = 0;
  std::uint64_t revision_ = 0,
                value_changes_ = 0;  // the view's, at the last notification of the stage
  // State of the current run.
  std::int64_t samples_ = 0;
  std::vector<MicroBatch> micro_batches_;
  std::vector<std::int64_t> first_;  // first sample of each micro-batch, and the end
  JoinedOutputs joined_;
  ValueMap shared_;
};

}  // namespace d5::detail
