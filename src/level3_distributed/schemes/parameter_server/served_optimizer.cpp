// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/schemes/parameter_server/served_optimizer.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/communicator/communicator_agreement.hpp"

namespace d5::detail {
namespace {

std::shared_ptr<Communicator> workers_of(const std::shared_ptr<Communicator>& ranks,
                                         const ServerRanks& roles) {
  if (roles.workers() == ranks->size()) return ranks;
  return ranks->split(roles.works(ranks->rank()) ? 0 : -1);
}

}  // namespace

ServedOptimizer::ServedOptimizer(std::shared_ptr<ThreeStepOptimizer> optimizer,
                                 const std::shared_ptr<Communicator>& ranks,
                                 const ServerRanks& roles, Rule rule)
    : DistributedOptimizer(std::move(optimizer), ranks, workers_of(ranks, roles)),
      roles_(roles),
      rule_(rule),
      rank_(ranks->rank()),
      line_(ranks),
      shards_(cut_into_parameter_shards(executor().network(), roles.shards())),
      workers_agreement_(std::make_shared<RankAgreement>()) {
  local().set_agreement(std::make_shared<RankAgreement>());
  if (roles_.works(rank_)) {
    workers_agreement_ = std::make_shared<CommunicatorAgreement>(workers().shared_from_this());
  }
  for (ParameterShard& shard : shards_) {
    Tensor here = shard.values.on_host();
    communicator().broadcast(here, 0);
    if (!(shard.values.device() == Device{})) shard.values.copy_from(here);
  }
  executor().network().values_changed();
}

void ServedOptimizer::update_own_shard() {
  try {
    local().update_own({is_server() ? own_shard().parameters : ParameterRange{}},
                       {.start = [](std::size_t) {}, .finish = [] {}});
  } catch (const Unsupported& error) {
    throw Unsupported(fmt::format(
        "this optimizer needs all parameters, and repeated gradients, in one place; choose "
        "consistent_centralized with one server, or consistent_decentralized ({})",
        error.what()));
  }
}

void ServedOptimizer::run(Trainer& trainer, const Interrupt& interrupt) {
  try {
    if (!roles_.works(rank_)) return serve();
    give_restored();
    trainer.run(interrupt);
    leave();
  } catch (const std::exception& error) {
    has_left_ = true;
    pass_on(error);
    throw;
  }
}

void ServedOptimizer::serve() {
  int left = 0;
  while (left < roles_.workers()) {
    const ServerMessage message = line_.hear();
    if (message.word == ServerWord::leave) {
      ++left;
      has_left(message.from);
      line_.send_numbers(staleness_, message.from);
    } else {
      answer(message);
    }
    line_.settle();
  }
}

void ServedOptimizer::answer(const ServerMessage& message) {
  switch (message.word) {
    case ServerWord::pull:
      answer_values(message.from, Values::trained);
      return was_read(message.from);
    case ServerWord::test:
      return answer_values(message.from, Values::tested);
    case ServerWord::state:
      return line_.send_map(server_state(), message.from);
    case ServerWord::restore:
      line_.receive(own_shard().values, message.from);
      executor().network().values_changed();
      return restore_server(line_.receive_map(message.from));
    case ServerWord::tested:
      local().tested(message.numbers[0], message.numbers[1]);
      return line_.say(message.from, ServerWord::tested);
    default:
      return heard(message);
  }
}

void ServedOptimizer::leave() {
  if (has_left_) return;
  workers().barrier();
  if (!is_consistent()) fetch(Values::trained);
  if (rule_ == Rule::at_servers) {
    kept_.keep(executor().network());
    fetch(Values::tested);
    for (const ParameterShard& shard : shards_) last_tested_.push_back(shard.values.copy());
    kept_.give_back(executor().network());
  }
  has_left_ = true;
  if (roles_.kind() == ServerRanks::Kind::works) return;
  for (int shard = 0; shard < roles_.shards(); ++shard) {
    line_.say(roles_.server_of(shard), ServerWord::leave);
    auto staleness = line_.receive_numbers(roles_.server_of(shard));
    if (shard == 0) staleness_ = std::move(staleness);
  }
  line_.settle();
}

void ServedOptimizer::pass_on(const std::exception& error) {
  const bool is_own = !line_.heard_failure();
  if (!is_server() && !is_own) return;
  for (int other = 0; other < roles_.ranks(); ++other) {
    if (other == rank_ || (!is_server() && !roles_.serves(other))) continue;
    line_.tell_failure(other, error);
  }
}

Tensor ServedOptimizer::own_values(Values which) {
  const bool lends = which == Values::tested && rule_ == Rule::at_servers;
  if (lends) local().begin_test();
  Tensor copy = own_shard().values.copy(Device{});
  if (lends) local().end_test();
  return copy;
}

void ServedOptimizer::answer_values(int worker, Values which,
                                    std::initializer_list<double> numbers) {
  line_.say(worker, ServerWord::values, numbers);
  line_.send(own_values(which), worker);
}

ServerMessage ServedOptimizer::receive_values(int shard) {
  const int server = roles_.server_of(shard);
  const ServerMessage message = line_.hear(server);
  if (message.word != ServerWord::values) {
    throw CommunicationError(
        fmt::format("rank {}: rank {} has another word for it than values", rank_, server));
  }
  line_.receive(shards_[std::size_t(shard)].values, server);
  return message;
}

void ServedOptimizer::fetch(Values which) {
  for (int shard = 0; shard < roles_.shards(); ++shard) {
    line_.say(roles_.server_of(shard),
              which == Values::trained ? ServerWord::pull : ServerWord::test);
  }
  receive_all_values();
}

void ServedOptimizer::receive_all_values() {
  for (int shard = 0; shard < roles_.shards(); ++shard) (void)receive_values(shard);
  line_.settle();
  executor().network().values_changed();
}

void ServedOptimizer::put(const std::vector<Tensor>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) shards_[i].values.copy_from(values[i]);
  executor().network().values_changed();
}

void ServedOptimizer::begin_test() {
  kept_.keep(executor().network());
  if (has_left_) return put(last_tested_);
  // A second barrier: no worker continues before all have the values.
  workers().barrier();
  fetch(Values::tested);
  workers().barrier();
}

void ServedOptimizer::end_test() { kept_.give_back(executor().network()); }

void ServedOptimizer::tested(double loss, double weight) {
  if (local().modifiers().empty()) return;
  const double all = agreement().sum(weight);
  if (all == 0) return;
  const double mean = agreement().mean(loss, weight);
  if (rule_ == Rule::at_workers || (is_server() && !has_left_)) {
    return local().tested(mean, all);
  }
  if (rank_ != 0 || roles_.kind() == ServerRanks::Kind::works || has_left_) return;
  for (int shard = 0; shard < roles_.shards(); ++shard) {
    line_.say(roles_.server_of(shard), ServerWord::tested, {mean, all});
  }
  // Servers may have to agree first: no other requests are sent until they have.
  for (int shard = 0; shard < roles_.shards(); ++shard) {
    (void)line_.hear(roles_.server_of(shard));
  }
  line_.settle();
}

void ServedOptimizer::read_gradients(GradientReader reader) {
  if (rule_ == Rule::at_workers || !reader) {
    return DistributedOptimizer::read_gradients(std::move(reader));
  }
  throw Unsupported(
      "the servers of this scheme have the gradients that update the parameters; leave "
      "gradient_norm out, or choose consistent_decentralized");
}

void ServedOptimizer::note_staleness(std::int64_t steps) {
  if (std::int64_t(staleness_.size()) <= steps) staleness_.resize(std::size_t(steps) + 1);
  ++staleness_[std::size_t(steps)];
}

Conditions ServedOptimizer::conditions() const {
  if (staleness_.empty()) return {};
  std::string histogram;
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < staleness_.size(); ++i) {
    if (staleness_[i] == 0) continue;
    histogram += fmt::format("{}{}:{}", histogram.empty() ? "" : " ", i, staleness_[i]);
    count += double(staleness_[i]);
    sum += double(i) * double(staleness_[i]);
  }
  return {{"staleness.histogram", aside(histogram)}, {"staleness.mean", aside(sum / count)}};
}

}  // namespace d5::detail
