// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "d5/level3_distributed/graph/communication_group.hpp"
#include "d5/level3_distributed/graph/communication_operators.hpp"
#include "d5/level3_distributed/graph/partition.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "level3_distributed/graph/running_statistics.hpp"
#include "level3_distributed/graph/tensor_pairs.hpp"
#include "level3_distributed/graph/tensor_slices.hpp"
#include "level3_distributed/schemes/model_parallel/rank_grid.hpp"
#include "level3_distributed/schemes/model_parallel/replica_gradients.hpp"

namespace d5 {
namespace {

constexpr const char* kGroup = "tensor";

struct TensorParallelOptions {
  std::int64_t parts = 0, bucket_bytes = std::int64_t{4} << 20;
  EntryChoice all_reduce{"auto"};

  void declare(OptionList& options) {
    options.add("parts", parts, "number of ranks that share a model; 0: all", {.least = 0});
    options.add("all_reduce", all_reduce, "algorithm that sums the gradients of replicas",
                all_reduces().kind());
    options.add("bucket_bytes", bucket_bytes, "minimum bytes of a bucket between replicas",
                {.least = 1, .unit = "byte"});
  }
};

/// Tensor parallelism: each rank trains a part of each tensor that the partition `tensor_parallel`
/// cuts, and a copy of all others, which stay bitwise equal on the ranks of a model. Additional
/// ranks form further models with shares of each batch; their gradients are averaged part by part.
class TensorParallel final : public DistributedOptimizer {
 public:
  using Options = TensorParallelOptions;
  TensorParallel(std::shared_ptr<ThreeStepOptimizer> optimizer, std::shared_ptr<Communicator> ranks,
                 const Options& options)
      : DistributedOptimizer(std::move(optimizer), ranks),
        grid_(grid_of(options, ranks->size())),
        model_(grid_.model(*ranks)) {
    if (grid_.parts() > 1) {
      for (const auto& pair : detail::tensor_pairs(executor().network())) {
        for (const auto& cut : pair.cuts) axes_[cut.name] = cut.axis;
      }
      expect_elementwise();
    }
    std::vector<double> counts;
    for (const Parameter& parameter : executor().network().parameters()) {
      const int same = axes_.contains(parameter.name) ? 1 : grid_.parts();
      counts.push_back(1.0 / (same * grid_.replicas()));
    }
    local().set_agreement(
        std::make_shared<detail::ModelAgreement>(ranks, grid_.parts(), std::move(counts)));
    detail::add_replica_gradients(local(), grid_.same_part(*ranks), options.all_reduce,
                                  options.bucket_bytes);
  }

  static RankRole role(const Options& options, int rank, int ranks) {
    return grid_of(options, ranks).role(rank);
  }

  static std::shared_ptr<GraphExecutor> part_executor(const Options& options,
                                                      const WholeNetwork& whole,
                                                      const std::shared_ptr<Communicator>& ranks) {
    const detail::RankGrid grid = grid_of(options, ranks->size());
    if (grid.parts() == 1) return make_executor(whole.network, whole.execution);
    add_communication_operators();
    name_communication_group(kGroup, grid.model(*ranks));
    const auto parts = partitions()
                           .at("tensor_parallel")
                           .make({{"group", kGroup}})
                           ->cut(whole.network, grid.parts());
    return make_executor(parts.at(std::size_t(grid.part_of(ranks->rank()))).network,
                         whole.execution);
  }

  bool is_consistent() const override { return grid_.parts() == 1; }

  void join(Network& whole) override {
    if (grid_.parts() == 1) return;
    begin_test();
    Network& mine = executor().network();
    for (Parameter& parameter : whole.parameters()) {
      const Tensor& value = mine.fetch(parameter.name);
      const auto cut = axes_.find(parameter.name);
      if (cut == axes_.end()) {
        parameter.value.copy_from(value);
        continue;
      }
      Tensor parts = Tensor::empty(value.dtype(), {parameter.value.elements()});
      model_->all_gather(value, parts);
      detail::join_parts(parts, cut->second, grid_.parts(), parameter.value);
    }
    for (const auto& name : detail::running_statistics(mine)) whole.feed(name, mine.fetch(name));
    end_test();
    whole.values_changed();
  }

 private:
  static detail::RankGrid grid_of(const Options& options, int ranks) {
    return {"parts", options.parts, ranks};
  }

  void expect_elementwise() {
    if (!local().limits_elements()) {
      throw Unsupported(
          "scheme tensor_parallel: this optimizer's rule reads whole tensors, but a rank has only "
          "parts; choose an element-wise one, such as sgd, momentum or adam");
    }
    for (const auto& modifier : local().modifiers()) {
      if (modifier->name() != "clip_tensor_norm" && modifier->name() != "evolution") continue;
      throw Unsupported(fmt::format(
          "scheme tensor_parallel: {} reads whole tensors, but a rank has only parts; leave it out",
          modifier->name()));
    }
  }

  detail::RankGrid grid_;
  std::shared_ptr<Communicator> model_;
  std::map<std::string, std::size_t, std::less<>> axes_;  // axes of cut parameters
};

}  // namespace

namespace distributed_optimizer {

void register_tensor_parallel(Registry<DistributedOptimizerEntry>& registry) {
  registry.add("tensor_parallel",
               DistributedOptimizerEntry::of<TensorParallel>(
                   "tensor parallelism: each rank trains parts of the tensors of linear layers"));
}

}  // namespace distributed_optimizer
}  // namespace d5
