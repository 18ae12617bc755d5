// SPDX-License-Identifier: Apache-2.0
// Checkpoints of workers and servers.
#include <fmt/format.h>

#include "level2_training/optimization/shared/state_parts.hpp"
#include "level3_distributed/schemes/parameter_server/served_optimizer.hpp"

namespace d5::detail {
namespace {

constexpr const char *kHyper = "hyper/", *kWorker = "worker/";

std::string part_of_shard(int shard) { return fmt::format("server-{}/", shard); }

}  // namespace

ValueMap ServedOptimizer::state() const {
  if (restored_) return *restored_;
  if (roles_.kind() == ServerRanks::Kind::works) {
    return is_server() ? DistributedOptimizer::state() : ValueMap{};
  }
  // Fetching updates the parameters that are saved with the state to the servers' values.
  return const_cast<ServedOptimizer*>(this)->fetch_state();
}

ValueMap ServedOptimizer::fetch_state() {
  if (has_left_ || !roles_.works(rank_)) {
    return rule_ == Rule::at_workers ? DistributedOptimizer::state() : ValueMap{};
  }
  workers().barrier();
  if (!is_consistent()) fetch(Values::trained);
  ValueMap state;
  // The worker's schedules and random streams, if its steps are its own.
  if (!is_consistent()) add_part(state, kWorker, DistributedOptimizer::state());
  for (int shard = 0; shard < roles_.shards(); ++shard) {
    if (rule_ == Rule::at_workers || rank_ != 0) break;
    const int server = roles_.server_of(shard);
    line_.say(server, ServerWord::state);
    add_part(state, part_of_shard(shard), line_.receive_map(server));
  }
  line_.settle();
  workers().barrier();
  return rule_ == Rule::at_workers ? DistributedOptimizer::state() : state;
}

void ServedOptimizer::restore(const ValueMap& state) {
  const bool works = roles_.kind() == ServerRanks::Kind::works;
  if (rule_ == Rule::at_workers || (works && is_server())) {
    DistributedOptimizer::restore(state);
  } else if (!is_consistent()) {
    DistributedOptimizer::restore(part_of(state, kWorker));
  }
  if (!works) restored_ = state;
}

/// Sends the restored state to the servers, with the parameters, which a checkpoint restores after
/// the state.
void ServedOptimizer::give_restored() {
  if (!restored_) return;
  for (int shard = 0; shard < roles_.shards() && rank_ == 0; ++shard) {
    const int server = roles_.server_of(shard);
    line_.say(server, ServerWord::restore);
    line_.send(shards_[std::size_t(shard)].values, server);
    line_.send_map(part_of(*restored_, part_of_shard(shard)), server);
  }
  line_.settle();
  workers().barrier();
  restored_.reset();
}

ValueMap ServedOptimizer::server_state() {
  ValueMap state = DistributedOptimizer::state();
  const HyperParameters& numbers = hyper_parameters();
  for (const std::string& name : numbers.names()) {
    if (numbers.at(name) != numbers.initial(name)) {
      state[kHyper + name] = Tensor::scalar(numbers.at(name));
    }
  }
  return state;
}

void ServedOptimizer::restore_server(const ValueMap& state) {
  if (rule_ == Rule::at_workers) return;
  ValueMap rule = state;
  std::erase_if(rule, [](const auto& entry) { return entry.first.starts_with(kHyper); });
  DistributedOptimizer::restore(rule);
  for (const auto& [name, value] : part_of(state, kHyper)) {
    hyper_parameters().set(name, value.tensor().item<double>());
  }
}

}  // namespace d5::detail
