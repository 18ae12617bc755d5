// SPDX-License-Identifier: Apache-2.0
#include "apps/distributed_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "d5/core/error.hpp"
#include "d5/core/threads.hpp"
#include "d5/level3_distributed/distributed_optimizer.hpp"
#include "d5/level3_distributed/distributed_sampler.hpp"

namespace d5::app {
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

void reduce(Measurement& result, Reduction reduction, double factor, Communicator& ranks) {
  Tensor samples = Tensor::vector(result.samples);
  ranks.all_reduce(samples, reduction);
  const auto reduced = samples.span<double>();
  for (std::size_t i = 0; i < reduced.size(); ++i) result.samples[i] = reduced[i] * factor;
}

Measurement traffic_record(const Measurement& like, const Traffic& traffic, int rank) {
  Measurement record = like;
  record.metric = "communication_volume";
  record.unit = "byte";
  record.direction = Direction::lower_is_better;
  record.status = Status::passed;
  record.reason.clear();
  record.conditions.erase("accepted");
  const auto total = traffic.total();
  record.samples = {static_cast<double>(total.bytes_sent + total.bytes_received)};
  record.conditions["rank"] = fmt::format("{}", rank);
  for (const auto& [call, line] : traffic.by_call) {
    record.conditions[call + ".calls"] = fmt::format("{}", line.calls);
    record.conditions[call + ".bytes_sent"] = fmt::format("{}", line.bytes_sent);
    record.conditions[call + ".bytes_received"] = fmt::format("{}", line.bytes_received);
  }
  return record;
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

void gather_results(std::vector<Measurement>& results, const Traffic& before, Communicator& ranks) {
  if (ranks.size() == 1) return;
  const auto traffic = gather_traffic(ranks, ranks.traffic().since(before));
  for (auto& result : results) {
    result.level = "distributed";
    result.conditions["ranks"] = fmt::format("{}", ranks.size());
    if (result.samples.empty()) continue;
    if (result.unit == "s") reduce(result, Reduction::maximum, 1, ranks);
    if (result.metric == "loss" || result.metric == "training_accuracy") {
      reduce(result, Reduction::sum, 1.0 / ranks.size(), ranks);
    }
  }
  if (results.empty()) return;
  const Measurement like = results.front();
  for (int rank = 0; rank < ranks.size(); ++rank) {
    results.push_back(traffic_record(like, traffic[static_cast<std::size_t>(rank)], rank));
  }
}

}  // namespace d5::app
