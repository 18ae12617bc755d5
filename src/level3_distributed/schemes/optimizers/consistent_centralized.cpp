// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "d5/level3_distributed/communicator/communicator_agreement.hpp"
#include "level3_distributed/schemes/parameter_server/collected_gradients.hpp"
#include "level3_distributed/schemes/parameter_server/served_optimizer.hpp"

namespace d5 {
namespace {

using detail::ServerMessage;
using detail::ServerRanks;
using detail::ServerWord;

struct ConsistentCentralizedOptions {
  ServerRanks::Kind server = ServerRanks::Kind::works;
  std::int64_t shards = 1;

  void declare(OptionList& options) {
    options.add("server", server, "works: servers also train; serves: they only serve",
                {"works", "serves"});
    options.add("shards", shards, "number of servers, each with whole tensors", {.least = 1});
  }
};

/// A synchronous parameter server: it averages the workers' gradients over the global batch,
/// updates, and sends the parameters back. The parameters are those of `consistent_decentralized`,
/// within rounding, and the same on all ranks to the bit.
///
/// The server controls the step: workers compute what its update rule requests, so any rule works,
/// even one with a line search. With several servers each updates its shard; rules that need all
/// parameters together are refused.
///
/// Source: Li et al., "Scaling Distributed Machine Learning with the Parameter Server" (OSDI 2014);
/// PSSGD of Ben-Nun et al., "A Modular Benchmarking Infrastructure for High-Performance and
/// Reproducible Deep Learning" (IPDPS 2019), section V-E.
class ConsistentCentralized final : public detail::ServedOptimizer {
 public:
  using Options = ConsistentCentralizedOptions;
  ConsistentCentralized(std::shared_ptr<ThreeStepOptimizer> optimizer,
                        const std::shared_ptr<Communicator>& ranks, const Options& options)
      : ServedOptimizer(std::move(optimizer), ranks, of(options, ranks->size()), Rule::at_servers) {
    refuse_evolution();
    detail::CollectedGradients::Parts parts{
        line(), roles(), shards(), *ranks, agreement(), nullptr, local().prepares_params()};
    if (roles().shards() > 1) {
      parts.servers = ranks->split(is_server() ? 0 : -1);
      if (is_server()) {
        local().set_agreement(std::make_shared<CommunicatorAgreement>(parts.servers));
      }
      update_own_shard();
    }
    local().add_gradient_layer(ThreeStepOptimizer::GradientLayer::exchanged,
                               [this, parts](std::shared_ptr<GradientSource> inner) {
                                 return collected_ = std::make_shared<detail::CollectedGradients>(
                                            std::move(inner), parts);
                               });
  }

  static RankRole role(const Options& options, int rank, int ranks) {
    return of(options, ranks).role(rank);
  }

  const ValueMap& step(const Batch& batch) override {
    if (is_server()) return step_of_server(batch);
    for (int shard = 0; shard < roles().shards() && asks(); ++shard) {
      line().say(roles().server_of(shard), ServerWord::step,
                 {double(batch.epoch), double(batch.index), double(batch.size),
                  double(batch.global_size)});
    }
    return collected_->answer(batch);
  }

 private:
  void refuse_evolution() {
    for (const auto& modifier : local().modifiers()) {
      if (modifier->name() != "evolution") continue;
      throw Unsupported(
          "scheme consistent_centralized: evolution makes steps from losses only, and a server has "
          "no batch; choose consistent_decentralized");
    }
  }

  static ServerRanks of(const Options& options, int ranks) {
    return {"consistent_centralized", ranks, options.shards, options.server};
  }
  /// Whether this worker begins the steps of servers that do not train.
  [[nodiscard]] bool asks() const {
    return roles().kind() == ServerRanks::Kind::serves && rank() == 0;
  }

  const ValueMap& step_of_server(const Batch& batch) {
    const ValueMap& outputs = local().step(batch);
    collected_->end_step();
    return outputs;
  }

  void heard(const ServerMessage& message) override {
    if (message.word != ServerWord::step) {
      throw CommunicationError("a worker sent a request that this scheme does not have");
    }
    Batch batch;
    batch.epoch = std::int64_t(message.numbers[0]);
    batch.index = std::int64_t(message.numbers[1]);
    batch.size = std::int64_t(message.numbers[2]);
    batch.global_size = std::int64_t(message.numbers[3]);
    (void)step_of_server(batch);
  }

  /// Servers that train are between steps and take part like all ranks.
  void fetch(Values which) override {
    if (roles().kind() == ServerRanks::Kind::serves) return ServedOptimizer::fetch(which);
    if (is_server()) {
      const Tensor own = own_values(which);
      for (int other = 0; other < roles().ranks(); ++other) {
        if (other == rank()) continue;
        line().say(other, ServerWord::values);
        line().send(own, other);
      }
      own_shard().values.copy_from(own);
    }
    for (int shard = 0; shard < roles().shards(); ++shard) {
      if (roles().server_of(shard) != rank()) (void)receive_values(shard);
    }
    line().settle();
    executor().network().values_changed();
  }

  std::shared_ptr<detail::CollectedGradients> collected_;
};

}  // namespace

namespace distributed_optimizer {

void register_consistent_centralized(Registry<DistributedOptimizerEntry>& registry) {
  registry.add("consistent_centralized",
               DistributedOptimizerEntry::of<ConsistentCentralized>(
                   "synchronous parameter server (Deep500's pssgd, Li et al., 2014)"));
}

}  // namespace distributed_optimizer
}  // namespace d5
