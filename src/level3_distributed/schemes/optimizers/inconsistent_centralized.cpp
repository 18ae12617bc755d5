// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "level3_distributed/schemes/parameter_server/served_optimizer.hpp"

namespace d5 {
namespace {

using detail::ServerMessage;
using detail::ServerRanks;
using detail::ServerWord;

struct InconsistentCentralizedOptions {
  enum class StalenessRate { constant, inverse };
  std::int64_t servers = 1;
  StalenessRate staleness_rate = StalenessRate::constant;
  std::string arrivals;

  void declare(OptionList& options) {
    options.add("servers", servers, "number of ranks that serve, each with whole tensors",
                {.least = 1});
    options.add("staleness_rate", staleness_rate,
                "learning rate by staleness; inverse: divided by the gradient's staleness",
                {"constant", "inverse"});
    options.add("arrivals", arrivals,
                "output file with a line 'worker step' for each gradient, in the order in which "
                "the first server applied them; empty: none");
  }
};

/// An asynchronous parameter server: each gradient is applied when it arrives, as one step of the
/// server's optimizer, and its worker gets the resulting parameters. A gradient's staleness is the
/// number of server steps since its worker received the parameters.
///
/// Modifiers such as clip_norm act at the server, on each arriving gradient. Several servers apply
/// their parts of gradients in independent orders, so modifiers that need whole gradients are not
/// possible. With one worker it is sequential training, to the bit.
///
/// Source: Dean et al., "Large Scale Distributed Deep Networks" (NIPS 2012), Downpour SGD with a
/// fetch and a push in every step; staleness_rate: Zhang et al., "Staleness-aware Async-SGD for
/// Distributed Deep Learning" (IJCAI 2016), equation 6.
class InconsistentCentralized final : public detail::ServedOptimizer {
 public:
  using Options = InconsistentCentralizedOptions;
  InconsistentCentralized(std::shared_ptr<ThreeStepOptimizer> optimizer,
                          const std::shared_ptr<Communicator>& ranks, const Options& options)
      : ServedOptimizer(std::move(optimizer), ranks, of(options, ranks->size()), Rule::at_servers),
        options_(options),
        read_at_(std::size_t(ranks->size()), 0) {
    update_own_shard();
    expect_possible();
  }

  static RankRole role(const Options& options, int rank, int ranks) {
    return of(options, ranks).role(rank);
  }
  bool is_consistent() const override { return false; }

  const ValueMap& step(const Batch& batch) override {
    local().begin_step(batch);  // advances schedules and random numbers; the server updates
    const ValueMap& outputs = local().gradients().run(batch);
    if (executor().ended_early()) return outputs;
    local().gradients().finish_all();
    executor().synchronise();
    if (!local().gradients().counted()) return outputs;
    for (int shard = 0; shard < roles().shards(); ++shard) {
      const int server = roles().server_of(shard);
      line().say(server, ServerWord::gradient,
                 {double(batch.epoch), double(batch.index), double(batch.size),
                  double(batch.global_size), double(pushed_)});
      line().send(shards()[std::size_t(shard)].gradients, server);
    }
    ++pushed_;
    receive_all_values();
    return outputs;
  }

 private:
  static ServerRanks of(const Options& options, int ranks) {
    return {"inconsistent_centralized", ranks, options.servers, ServerRanks::Kind::serves};
  }

  void expect_possible() {
    if (options_.staleness_rate == Options::StalenessRate::inverse &&
        !hyper_parameters().has("learning_rate")) {
      throw Unsupported(
          "inconsistent_centralized: staleness_rate divides the learning rate, and this optimizer "
          "has none; choose staleness_rate: constant");
    }
    if (roles().shards() == 1) return;
    const auto& modifiers = local().modifiers();
    const auto wants_all =
        std::ranges::find_if(modifiers, [](const auto& one) { return one->wants_all_gradients(); });
    if (wants_all == modifiers.end() && !local().wants_all_gradients()) return;
    throw Unsupported(
        fmt::format("inconsistent_centralized: {} needs the whole gradient, but each of several "
                    "servers has only a part, at different times; choose servers: 1",
                    wants_all == modifiers.end() ? "this optimizer" : (*wants_all)->name()));
  }

  void heard(const ServerMessage& message) override {
    if (message.word != ServerWord::gradient) {
      throw CommunicationError("a worker sent a request that this scheme does not have");
    }
    line().receive(own_shard().gradients, message.from);
    const std::int64_t staleness = version_ - read_at_[std::size_t(message.from)];
    note_staleness(staleness);
    arrivals_ += fmt::format("{} {}\n", message.from, std::int64_t(message.numbers[4]));
    apply(message, staleness);
    answer_values(message.from, Values::trained);
    was_read(message.from);
  }

  void apply(const ServerMessage& message, std::int64_t staleness) {
    Batch batch;
    batch.epoch = std::int64_t(message.numbers[0]);
    batch.index = std::int64_t(message.numbers[1]);
    batch.size = std::int64_t(message.numbers[2]);
    batch.global_size = std::int64_t(message.numbers[3]);
    local().begin_step(batch);
    const bool slows = options_.staleness_rate == Options::StalenessRate::inverse && staleness > 1;
    const double rate = slows ? hyper_parameters().at("learning_rate") : 0;
    if (slows) hyper_parameters().set("learning_rate", rate / double(staleness));
    if (local().begin_updates()) {
      const ParameterRange own = own_shard().parameters;
      for (std::size_t i = own.begin; i < own.end; ++i) local().update(i);
      local().end_step();
    }
    if (slows) hyper_parameters().set("learning_rate", rate);
    ++version_;
  }

  void was_read(int worker) override { read_at_[std::size_t(worker)] = version_; }

  void has_left(int) override {
    if (++left_ < roles().workers() || options_.arrivals.empty()) return;
    if (own_shard().parameters.begin != 0) return;
    write_file(options_.arrivals, arrivals_);
  }

  Options options_;
  std::int64_t pushed_ = 0;  // gradients of this worker
  // On a server.
  std::int64_t version_ = 0;  // steps
  std::vector<std::int64_t> read_at_;
  std::string arrivals_;
  int left_ = 0;
};

}  // namespace

namespace distributed_optimizer {

void register_inconsistent_centralized(Registry<DistributedOptimizerEntry>& registry) {
  registry.add("inconsistent_centralized",
               DistributedOptimizerEntry::of<InconsistentCentralized>(
                   "asynchronous parameter server (Deep500's asgd, Dean et al., 2012)"));
}

}  // namespace distributed_optimizer
}  // namespace d5
