// SPDX-License-Identifier: Apache-2.0
// torch's data parallelism as a scheme of d5.
#include "data_parallel.hpp"

#include <torch/csrc/distributed/c10d/GroupRegistry.hpp>

#include <memory>
#include <string>
#include <utility>

#include "communicator_group.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "reduced_gradients.hpp"

namespace d5::torch {
namespace {

struct DataParallelOptions {
  ReducerOptions reducer;
  EntryChoice all_reduce{"auto"};
  std::string process_group;

  void declare(OptionList& options) {
    options.add("bucket_bytes", reducer.bucket_bytes, "maximum size of a bucket", {.least = 1});
    options.add("first_bucket_bytes", reducer.first_bucket_bytes,
                "maximum size of the first bucket", {.least = 1});
    options.add("hook", reducer.hook, "compression hook of buckets: none, or float16");
    options.add("all_reduce", all_reduce, "d5's all-reduce algorithm for the buckets",
                all_reduces().kind());
    options.add("process_group", process_group,
                "name of a torch.distributed group in this process that reduces instead of d5");
  }
};

/// Synchronous data parallelism like torch's DistributedDataParallel. All ranks start with rank 0's
/// parameters. Torch's Reducer averages gradients in its buckets, over d5's communicator, and all
/// ranks apply the same update. Each rank keeps its own running statistics, as under
/// `broadcast_buffers=False`.
class DataParallel final : public DistributedOptimizer {
 public:
  using Options = DataParallelOptions;
  DataParallel(std::shared_ptr<ThreeStepOptimizer> optimizer, std::shared_ptr<Communicator> ranks,
               const Options& options)
      : DistributedOptimizer(std::move(optimizer), std::move(ranks)),
        all_reduce_(all_reduces().at(options.all_reduce.name).make(options.all_reduce.settings)) {
    if (options.reducer.hook != "none" && options.reducer.hook != "float16") {
      throw ValueError("torch/ddp: hook is '" + printable(options.reducer.hook) +
                       "', expected none or float16");
    }
    all_reduce_->prepare(communicator());
    for (Parameter& parameter : executor().network().parameters()) {
      communicator().broadcast(parameter.value, 0);
    }
    c10::intrusive_ptr<CommunicatorGroup> own;
    c10::intrusive_ptr<c10d::ProcessGroup> group;
    if (options.process_group.empty()) {
      group = own = c10::make_intrusive<CommunicatorGroup>(shared_communicator(), all_reduce_);
    } else {
      group = group_of_torch(options.process_group);
      backend_ = group->getBackendName();
    }
    local().add_gradient_layer(ThreeStepOptimizer::GradientLayer::exchanged,
                               [=, ranks = shared_communicator(),
                                reducer = options.reducer](std::shared_ptr<GradientSource> inner) {
                                 return std::make_shared<ReducedGradients>(std::move(inner), ranks,
                                                                           group, own, reducer);
                               });
  }

  static bool resumes_on_other_ranks(const Options&) { return true; }

  Conditions conditions() const override {
    Conditions result{{"backend", identity(backend_)}};
    const std::string chosen = all_reduce_->chosen();
    if (!chosen.empty()) result["all_reduce.chosen"] = aside(chosen);
    return result;
  }

 private:
  c10::intrusive_ptr<c10d::ProcessGroup> group_of_torch(const std::string& name) {
    c10::intrusive_ptr<c10d::ProcessGroup> group;
    try {
      group = c10d::resolve_process_group(name);
    } catch (const c10::Error&) {
      throw NotFound("torch/ddp: torch.distributed has no group named '" + printable(name) +
                     "' in this process; from Python give the group_name of one");
    }
    if (group->getSize() == communicator().size() && group->getRank() == communicator().rank()) {
      return group;
    }
    throw ValueError("torch/ddp: in the group '" + printable(name) + "' this is rank " +
                     std::to_string(group->getRank()) + " of " + std::to_string(group->getSize()) +
                     ", expected rank " + std::to_string(communicator().rank()) + " of " +
                     std::to_string(communicator().size()));
  }

  std::shared_ptr<AllReduce> all_reduce_;
  std::string backend_ = "d5";
};

}  // namespace

void register_schemes(NativeSchemes& registry) {
  registry.add("ddp", DistributedOptimizerEntry::of<DataParallel>(
                          "PyTorch's DistributedDataParallel: its Reducer over d5's communicator"));
}

}  // namespace d5::torch
