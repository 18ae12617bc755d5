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
