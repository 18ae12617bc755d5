// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/distributed_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "d5/core/error.hpp"
#include "d5/core/threads.hpp"
#include "d5/level3_distributed/communication_volume.hpp"
#include "d5/level3_distributed/distributed_optimizer.hpp"
#include "d5/level3_distributed/distributed_sampler.hpp"
#include "d5/level3_distributed/gather_records.hpp"

namespace d5 {
namespace {

std::unique_ptr<Optimizer> wrap(std::unique_ptr<Optimizer> optimizer,
                                const DistributedOptions& options,
                                const std::shared_ptr<Communicator>& ranks) {
  auto* three_step = dynamic_cast<ThreeStepOptimizer*>(optimizer.get());
  if (!three_step) {
    throw Unsupported(
        "this optimizer cannot be distributed: it is no ThreeStepOptimizer (a framework's own is "
        "not); choose one of 'd5 list optimizers'");
  }
  (void)optimizer.release();
  const Settings settings("distributed optimizer " + options.scheme,
                          {{"all_reduce", options.all_reduce},
                           {"bucket_bytes", fmt::format("{}", options.bucket_bytes)}});
  return distributed_optimizers()
      .at(options.scheme)
      .make(std::unique_ptr<ThreeStepOptimizer>(three_step), ranks, settings);
}

SamplerOptions of_one_rank(SamplerOptions sampling, const DistributedOptions& options, int ranks) {
  if (options.scaling == "weak") return sampling;
  if (sampling.batch_size % ranks != 0) {
    throw ValueError(
        fmt::format("a batch of {} cannot be shared by {} ranks; change the batch size, "
                    "or use --scaling weak",
                    sampling.batch_size, ranks));
  }
  sampling.batch_size /= ranks;
  return sampling;
}

/// Whether training came to an end that the other ranks do not share, such as a NaN loss here.
bool ended_alone(const std::vector<Measurement>& results) {
  return std::ranges::all_of(results,
                             [](const Measurement& m) { return m.status == Status::failed; });
}

}  // namespace

void distribute(SessionOptions& session, const DistributedOptions& options,
                const std::shared_ptr<Communicator>& ranks) {
  if (ranks->size() == 1) return;
  if (ranks->rank() != 0) {
    session.checkpoint.clear();
    session.say = {};
  }
  session.variant = fmt::format("{} ranks, {} scaling", ranks->size(), options.scaling);
  session.make_train_sampler = [=](const SamplerEntry& entry, std::shared_ptr<const Dataset> data,
                                   const SamplerOptions& sampling) {
    return std::make_unique<DistributedSampler>(std::move(data), entry,
                                                of_one_rank(sampling, options, ranks->size()),
                                                ranks->rank(), ranks->size());
  };
  session.wrap_optimizer = [=](std::unique_ptr<Optimizer> optimizer) {
    return wrap(std::move(optimizer), options, ranks);
  };
}

void share_threads() {
  const char* local = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  const int ranks_here = local ? std::atoi(local) : 1;
  if (ranks_here < 2) return;
  // mpirun may have bound this rank to some cores already: those are its share.
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const bool bound = cores <= threads() / ranks_here;
  set_threads(std::max(1, bound ? cores : threads() / ranks_here));
}

std::vector<Measurement> train(const Recipe& recipe, SessionOptions session,
                               const DistributedOptions& options,
                               const std::shared_ptr<Communicator>& ranks) {
  if (ranks->size() == 1) return TrainingSession(recipe, std::move(session)).run();
  std::erase_if(session.metrics,
                [](const auto& metric) { return metric.name() == "communication_volume"; });
  session.metrics.emplace_back([ranks] { return std::make_shared<CommunicationVolume>(ranks); });
  distribute(session, options, ranks);
  TrainingSession training(recipe, std::move(session));
  auto results = training.run();
  if (ended_alone(results)) return results;
  for (auto& result : results) {
    result.level = "distributed";
    result.conditions["ranks"] = fmt::format("{}", ranks->size());
  }
  return gather_records(std::move(results), *ranks);
}

}  // namespace d5
