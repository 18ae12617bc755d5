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

std::shared_ptr<Optimizer> wrap(const std::shared_ptr<Optimizer>& optimizer,
                                const EntryChoice& scheme,
                                const std::shared_ptr<Communicator>& ranks) {
  auto three_step = std::dynamic_pointer_cast<ThreeStepOptimizer>(optimizer);
  if (!three_step) {
    throw Unsupported(
        "this optimizer cannot be distributed: it is no ThreeStepOptimizer (a framework's own is "
        "not); choose one of 'd5 list optimizers'");
  }
  return distributed_optimizers()
      .at(scheme.name)
      .make(std::move(three_step), ranks, scheme.settings);
}

Settings of_one_rank(const Settings& sampling, const DistributedOptions& options, int ranks) {
  const std::int64_t batch_size = read_shared_options<SamplerOptions>(sampling).batch_size;
  if (options.scaling == "weak") return sampling;
  if (batch_size % ranks != 0) {
    throw ValueError(
        fmt::format("a batch of {} cannot be shared by {} ranks; change the batch size, "
                    "or use --scaling weak",
                    batch_size, ranks));
  }
  Settings mine = sampling;
  mine.set("batch_size", batch_size / ranks);
  return mine;
}

/// Whether training came to an end that the other ranks do not share, such as a NaN loss here.
bool ended_alone(const std::vector<Measurement>& results) {
  return std::ranges::all_of(results,
                             [](const Measurement& m) { return m.status == Status::failed; });
}

}  // namespace

DistributedOptions distributed_options(const Recipe& recipe, const DistributedChanges& changes) {
  DistributedOptions options{recipe.choice("distributed", "consistent_decentralized")};
  Settings& settings = options.scheme.settings;
  options.scaling = settings.take("scaling", options.scaling);
  if (!changes.scaling.empty()) options.scaling = changes.scaling;
  if (options.scaling != "strong" && options.scaling != "weak") {
    throw ValueError(fmt::format("{}: scaling is '{}', expected strong or weak",
                                 printable(recipe.file()), printable(options.scaling)));
  }
  if (!changes.scheme.empty()) options.scheme.name = changes.scheme;
  if (!changes.all_reduce.empty()) settings.set("all_reduce", changes.all_reduce);
  if (!changes.bucket_bytes.empty()) settings.set("bucket_bytes", changes.bucket_bytes);
  return options;
}

void distribute(SessionOptions& session, const DistributedOptions& options,
                const std::shared_ptr<Communicator>& ranks) {
  if (ranks->size() == 1) return;
  if (ranks->rank() != 0) {
    session.checkpoint.clear();
    session.say = {};
  }
  session.variant = fmt::format("{} ranks, {} scaling", ranks->size(), options.scaling);
  session.make_train_sampler = [=](const SamplerEntry& entry, std::shared_ptr<const Dataset> data,
                                   const Settings& sampling) {
    return std::make_shared<DistributedSampler>(std::move(data), entry,
                                                of_one_rank(sampling, options, ranks->size()),
                                                ranks->rank(), ranks->size());
  };
  session.wrap_optimizer = [=](const std::shared_ptr<Optimizer>& optimizer) {
    return wrap(optimizer, options.scheme, ranks);
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
                               const std::shared_ptr<Communicator>& ranks,
                               const Interrupt& interrupt) {
  if (ranks->size() == 1) return TrainingSession(recipe, std::move(session)).run(interrupt);
  std::erase_if(session.metrics,
                [](const auto& metric) { return metric.name() == "communication_volume"; });
  session.metrics.emplace_back([ranks] { return std::make_shared<CommunicationVolume>(ranks); });
  distribute(session, options, ranks);
  TrainingSession training(recipe, std::move(session));
  auto results = training.run();
  if (ended_alone(results)) throw NumericError(results.front().reason);
  for (auto& result : results) {
    result.level = "distributed";
    result.conditions["ranks"] = fmt::format("{}", ranks->size());
  }
  return gather_records(std::move(results), *ranks);
}

}  // namespace d5
