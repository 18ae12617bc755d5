// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "d5/level3_distributed/pipeline_stage.hpp"
#include "level2_training/optimization/joined_outputs.hpp"

namespace d5::detail {

/// The stages of a pipeline as one executor of the whole network: each run is one of all stages, in
/// micro-batches, and every stage gets all outputs of the batch.
///
/// `network()` is the whole network. This rank reads and writes the parameters and running
/// statistics of its stage there; those of the others are as old as who trains leaves them.
class PipelineExecutor final : public GraphExecutor {
 public:
  struct Cut {
    std::string loss;
    std::shared_ptr<Communicator> stages;  ///< rank s is stage s
    std::vector<std::size_t> starts;       ///< as `cut_into_stages`
    std::int64_t micro_batches = 1;
    std::shared_ptr<PipelineSchedule> schedule;
  };
  /// A collective of the stages. Throws: as `options_of`, `cut_into_stages`, `PipelineStage`.
  PipelineExecutor(std::shared_ptr<GraphExecutor> whole, Cut cut);

  const ValueMap& inference(const ValueMap& inputs) override;
  const ValueMap& inference_and_backprop(const ValueMap& inputs, std::string_view loss) override;
  void set_loss_factor(double factor) override { loss_factor_ = factor; }
  const Tensor& gradient(std::string_view name) const override {
    return whole_->network().parameter(name).gradient;
  }
  void set_mode(NetworkMode mode) override { stage_->executor().set_mode(mode); }
  NetworkMode mode() const override { return stage_->executor().mode(); }
  ValueMap state() const override { return stage_->executor().state(); }
  void restore(const ValueMap& state) override { stage_->executor().restore(state); }
  Network& network() override { return whole_->network(); }
  EventList& events() override { return stage_->executor().events(); }
  std::string framework() const override { return whole_->framework(); }

  /// Of `network()`'s parameters, which stage has each.
  [[nodiscard]] const std::vector<int>& stage_of_parameters() const { return stage_of_parameters_; }
  /// Brings the parameters and running statistics of all stages to all of them. A collective.
  void gather_values();
  /// How long this rank has waited for other stages, since it was made.
  [[nodiscard]] double waited_seconds() const { return waited_seconds_ + stage_->waited_seconds(); }

 private:
  struct Output {
    std::string name;
    int stage;
  };
  /// Of batches of one size.
  struct Sizes {
    NetworkPart cut;                     // without its network
    std::vector<TensorDesc> outputs_of;  // of `outputs_`
  };
  [[nodiscard]] std::vector<NetworkPart> parts_for(std::int64_t samples) const;
  [[nodiscard]] const Sizes& sizes_for(std::int64_t samples);
  [[nodiscard]] std::vector<MicroBatch> micro_batches_of(const ValueMap& inputs);
  void begin(const ValueMap& inputs);
  void take_values();
  void give_values();
  void read(std::size_t micro_batch, const ValueMap& outputs);
  const ValueMap& share_outputs();

  std::shared_ptr<GraphExecutor> whole_;
  Cut cut_;
  std::unique_ptr<PipelineStage> stage_;
  std::vector<int> stage_of_parameters_;
  std::map<std::string, int> stage_of_statistics_;
  std::vector<Output> outputs_;
  std::map<std::int64_t, Sizes> sizes_;
  double loss_factor_ = 1, waited_seconds_ = 0;
  // Of the run under way.
  std::int64_t samples_ = 0;
  std::vector<MicroBatch> micro_batches_;
  std::vector<std::int64_t> first_;  // sample of each, and the end
  JoinedOutputs joined_;
  ValueMap shared_;
};

}  // namespace d5::detail
