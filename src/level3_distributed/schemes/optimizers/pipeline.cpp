// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "d5/core/error.hpp"
#include "d5/level2_training/step_modifier.hpp"
#include "d5/level3_distributed/distributed_optimizer.hpp"
#include "level3_distributed/graph/pipeline_executor.hpp"
#include "level3_distributed/graph/stage_balance.hpp"
#include "level3_distributed/schemes/model_parallel/rank_grid.hpp"
#include "level3_distributed/schemes/model_parallel/replica_gradients.hpp"

namespace d5 {
namespace {

struct PipelineOptions {
  std::int64_t stages = 0, micro_batches = 4;
  EntryChoice schedule{"1f1b"};
  EntryChoice all_reduce{"auto"};
  detail::StageBalance balance;

  void declare(OptionList& options) {
    options.add("stages", stages, "ranks that hold a model together; 0: all", {.least = 0});
    options.add("micro_batches", micro_batches, "that a batch is cut into", {.least = 1});
    options.add("schedule", schedule, "when stages run which micro-batch",
                pipeline_schedules().kind());
    options.add("all_reduce", all_reduce, "algorithm that sums the gradients of replicas",
                all_reduces().kind());
    balance.declare(options);
  }
};

/// Each rank trains a stage of the network: of its parameters it has the gradients, and updates
/// them. Ranks beyond one a stage are further pipelines, with shares of each batch, whose gradients
/// are averaged stage by stage.
///
/// A step is that of one rank whose optimizer has the modifier `accumulate` with as many pieces as
/// there are micro-batches: batch normalization sees micro-batches.
class Pipeline final : public DistributedOptimizer {
 public:
  using Options = PipelineOptions;
  Pipeline(std::shared_ptr<ThreeStepOptimizer> optimizer, std::shared_ptr<Communicator> ranks,
           const Options& options)
      : DistributedOptimizer(std::move(optimizer), ranks),
        options_(options),
        grid_(grid_of(options, ranks->size())),
        stage_(grid_.part_of(ranks->rank())),
        stages_(grid_.model(*ranks)) {
    refuse_evolution();
    Network& network = local().executor().network();
    for (Parameter& parameter : network.parameters()) ranks->broadcast(parameter.value, 0);
    starts_ =
        detail::agreed_starts(network, grid_.parts(), options.balance, local().loss(), *ranks);
    run_by_stages();
    average_over_replicas(ranks);
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
  const ValueMap& step(const Batch& batch) override { return local().step(batch); }

  ValueMap state() const override {
    ValueMap state = DistributedOptimizer::state();
    state[kStarts] = Tensor::vector(std::vector<std::int64_t>(starts_.begin(), starts_.end()));
    return state;
  }
  void restore(const ValueMap& state) override {
    ValueMap others = state;
    others.erase(kStarts);
    DistributedOptimizer::restore(others);
  }

  void run(Trainer& trainer, const Interrupt& interrupt) override {
    tested_.clear();
    DistributedOptimizer::run(trainer, interrupt);
    // What tests see of every stage, for the rank that saves the network; then what was trained.
    local().begin_test();
    executor_->gather_values();
    for (const Parameter& parameter : executor_->network().parameters()) {
      tested_.push_back(parameter.value.copy());
    }
    local().end_test();
    executor_->gather_values();
  }

  /// After training on one rank alone: it has all of what tests see.
  void begin_test() override {
    tested_.empty() ? DistributedOptimizer::begin_test() : exchange_tested();
  }
  void end_test() override {
    tested_.empty() ? DistributedOptimizer::end_test() : exchange_tested();
  }

  std::map<std::string, std::string> conditions() const override {
    const int k = grid_.parts();
    const std::int64_t m = options_.micro_batches;
    return {{"stage_starts", fmt::format("{}", fmt::join(starts_, ","))},
            {"bubble", fmt::format("{}", double(k - 1) / double(m + k - 1))}};
  }

 private:
  static detail::RankGrid grid_of(const Options& options, int ranks) {
    return {"stages", options.stages, ranks};
  }

  void refuse_evolution() {
    for (const auto& modifier : local().modifiers()) {
      if (modifier->name() != "evolution") continue;
      throw Unsupported(
          "scheme pipeline: evolution moves all parameters along one noise, and a stage has its "
          "own alone; choose another scheme");
    }
  }

  void run_by_stages() {
    const std::string loss = local().loss();
    local().add_gradient_layer(
        ThreeStepOptimizer::GradientLayer::own,
        [this, loss](const std::shared_ptr<GradientSource>& inner) {
          if (!executor_) {
            executor_ = std::make_shared<detail::PipelineExecutor>(
                std::shared_ptr<GraphExecutor>(inner, &inner->executor()),
                detail::PipelineExecutor::Cut{.loss = loss,
                                              .stages = stages_,
                                              .starts = starts_,
                                              .micro_batches = options_.micro_batches,
                                              .schedule = pipeline_schedules()
                                                              .at(options_.schedule.name)
                                                              .make(options_.schedule.settings)});
          }
          return std::make_shared<LocalGradients>(executor_, loss);
        });
  }

  void average_over_replicas(const std::shared_ptr<Communicator>& ranks) {
    const auto& stages = executor_->stage_of_parameters();
    std::vector<ParameterRange> own;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      if (stages[i] != stage_) continue;
      if (own.empty() || own.back().end != i) own.push_back({i, i});
      own.back().end = i + 1;
    }
    if (own.empty()) own.push_back({0, 0});
    if (grid_.parts() > 1) local().update_own(own, {});
    local().set_agreement(std::make_shared<detail::ModelAgreement>(
        ranks, grid_.parts(), std::vector<double>(stages.size(), 1.0 / grid_.replicas())));
    auto replicas = grid_.same_part(*ranks);
    std::shared_ptr<AllReduce> all_reduce =
        all_reduces().at(options_.all_reduce.name).make(options_.all_reduce.settings);
    all_reduce->prepare(*replicas);
    local().add_gradient_layer(ThreeStepOptimizer::GradientLayer::exchanged,
                               [replicas, all_reduce, own](std::shared_ptr<GradientSource> inner) {
                                 return std::make_shared<detail::ReplicaGradients>(
                                     std::move(inner), replicas, all_reduce, own);
                               });
  }

  void exchange_tested() {
    auto& parameters = executor_->network().parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const Tensor other = parameters[i].value.copy();
      parameters[i].value.copy_from(tested_[i]);
      tested_[i] = other;
    }
  }

  static inline const std::string kStarts = "stage_starts";
  Options options_;
  detail::RankGrid grid_;
  int stage_;
  std::shared_ptr<Communicator> stages_;
  std::vector<std::size_t> starts_;
  std::shared_ptr<detail::PipelineExecutor> executor_;
  std::vector<Tensor> tested_;  // after training: parameters that tests see, of all stages
};

}  // namespace

namespace distributed_optimizer {

void register_pipeline(Registry<DistributedOptimizerEntry>& registry) {
  registry.add("pipeline", DistributedOptimizerEntry::of<Pipeline>(
                               "each rank trains a stage of the network, by micro-batches"));
}

}  // namespace distributed_optimizer
}  // namespace d5
