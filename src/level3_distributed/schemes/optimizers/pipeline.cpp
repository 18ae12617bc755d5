// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "level3_distributed/graph/pipeline_executor.hpp"
#include "level3_distributed/graph/stage_balance.hpp"
#include "level3_distributed/schemes/model_parallel/rank_grid.hpp"
#include "level3_distributed/schemes/model_parallel/replica_gradients.hpp"

namespace d5 {
namespace {

struct PipelineOptions {
  std::int64_t stages = 0, micro_batches = 4, bucket_bytes = std::int64_t{4} << 20;
  EntryChoice schedule{"1f1b"};
  EntryChoice all_reduce{"auto"};
  detail::StageBalance balance;

  void declare(OptionList& options) {
    options.add("stages", stages, "number of ranks that share a model; 0: all", {.least = 0});
    options.add("micro_batches", micro_batches, "number of micro-batches per batch", {.least = 1});
    options.add("schedule", schedule, "pipeline schedule", pipeline_schedules().kind());
    options.add("all_reduce", all_reduce, "algorithm that sums the gradients of replicas",
                all_reduces().kind());
    options.add("bucket_bytes", bucket_bytes, "minimum bytes of a bucket between replicas",
                {.least = 1, .unit = "byte"});
    balance.declare(options);
  }
};

/// Pipeline parallelism: each rank trains one stage of the network and holds only its parameters.
/// Additional ranks form further pipelines with shares of each batch; their gradients are averaged
/// stage by stage, during backpropagation of the last micro-batch.
///
/// A step equals one on a single rank with the modifier `accumulate` and as many pieces as
/// micro-batches: batch normalization sees micro-batches.
class Pipeline final : public DistributedOptimizer {
 public:
  using Options = PipelineOptions;
  Pipeline(std::shared_ptr<ThreeStepOptimizer> optimizer, std::shared_ptr<Communicator> ranks,
           const Options& options)
      : DistributedOptimizer(std::move(optimizer), ranks),
        grid_(grid_of(options, ranks->size())),
        micro_batches_(options.micro_batches),
        stages_(stages_of(local().executor())) {
    refuse_evolution();
    local().set_loss_weight(stages_.loss_weight());
    const std::size_t count = stages_.network().parameters().size();
    if (grid_.parts() > 1) local().update_own({{0, count}}, {});
    local().set_agreement(std::make_shared<detail::ModelAgreement>(
        ranks, grid_.parts(), std::vector<double>(count, 1.0 / grid_.replicas())));
    detail::add_replica_gradients(local(), grid_.same_part(*ranks), options.all_reduce,
                                  options.bucket_bytes);
  }

  static std::shared_ptr<GraphExecutor> part_executor(const Options& options,
                                                      const WholeNetwork& whole,
                                                      const std::shared_ptr<Communicator>& ranks) {
    const detail::RankGrid grid = grid_of(options, ranks->size());
    const Network& network = whole.network;
    for (const auto& [name, value] : network.graph().initializers) {
      Tensor parameter = value;
      if (network.is_parameter(name)) ranks->broadcast(parameter, 0);
    }
    auto starts = detail::agreed_starts(network, grid.parts(), options.balance, whole.loss, *ranks);
    return std::make_shared<detail::PipelineExecutor>(
        network, whole.execution,
        detail::PipelineExecutor::Cut{
            .loss = whole.loss,
            .stages = grid.model(*ranks),
            .starts = std::move(starts),
            .micro_batches = options.micro_batches,
            .schedule =
                pipeline_schedules().at(options.schedule.name).make(options.schedule.settings)});
  }

  static Settings resumed(const Settings& settings, const ValueMap& state) {
    Settings result = settings;
    const auto starts = state.find(kStarts);
    if (starts == state.end()) return result;
    const auto nodes = starts->second.tensor().span<std::int64_t>();
    result.set("starts", fmt::format("{}", fmt::join(nodes, ",")));
    return result;
  }

  static RankRole role(const Options& options, int rank, int ranks) {
    RankRole role = grid_of(options, ranks).role(rank);
    role.pieces = int(options.micro_batches);
    return role;
  }

  bool is_consistent() const override { return grid_.parts() == 1; }

  ValueMap state() const override {
    ValueMap state = DistributedOptimizer::state();
    const auto& starts = stages_.starts();
    state[kStarts] = Tensor::vector(std::vector<std::int64_t>(starts.begin(), starts.end()));
    return state;
  }
  void restore(const ValueMap& state) override {
    ValueMap others = state;
    others.erase(kStarts);
    DistributedOptimizer::restore(others);
  }

  void join(Network& whole) override {
    const TestParameters tested(*this);
    stages_.gather_values(whole);
  }

  Conditions conditions() const override {
    const int k = grid_.parts();
    return {{"stage_starts", finding(fmt::format("{}", fmt::join(stages_.starts(), ",")))},
            {"bubble", finding(double(k - 1) / double(micro_batches_ + k - 1))}};
  }

 private:
  static detail::RankGrid grid_of(const Options& options, int ranks) {
    return {"stages", options.stages, ranks};
  }

  static detail::PipelineExecutor& stages_of(GraphExecutor& executor) {
    if (auto* stages = dynamic_cast<detail::PipelineExecutor*>(&executor)) return *stages;
    throw Unsupported(
        "scheme pipeline: the optimizer's executor is for the whole network, but a rank trains one "
        "stage; make the optimizer with distributed_optimizers().at(\"pipeline\").executor(...)");
  }

  void refuse_evolution() {
    for (const auto& modifier : local().modifiers()) {
      if (modifier->name() != "evolution") continue;
      throw Unsupported(
          "scheme pipeline: evolution perturbs all parameters together, but a stage has only its "
          "own; choose another scheme");
    }
  }

  static inline const std::string kStarts = "stage_starts";
  detail::RankGrid grid_;
  std::int64_t micro_batches_;
  detail::PipelineExecutor& stages_;
};

}  // namespace

namespace distributed_optimizer {

void register_pipeline(Registry<DistributedOptimizerEntry>& registry) {
  registry.add(
      "pipeline",
      DistributedOptimizerEntry::of<Pipeline>(
          "pipeline parallelism: each rank trains a stage of the network, by micro-batches"));
}

}  // namespace distributed_optimizer
}  // namespace d5
