// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <chrono>
#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/communicator/progress_thread.hpp"
#include "d5/level3_distributed/decorators/call_timeout.hpp"
#include "d5/level3_distributed/schemes/distributed_training.hpp"
#include "tests/level3_distributed/this_rank.hpp"

using namespace d5;
using testing::last_rank, testing::rank_count, testing::this_rank;

namespace {

constexpr const char* kLoneRecipe = R"(name: tiny
fixed:
  dataset: {name: mnist, subset: sample, train_samples: 36, test_samples: 24}
  model: {name: lenet}
mutable:
  sampler: {batch_size: 12}
  optimizer: {name: sgd, learning_rate: 0.05}
  training: {epochs: 2, seed: 1, test_batch_size: 6}
)";

/// A scheme without an initial measurement.
constexpr const char* kRing = "consistent_decentralized:all_reduce=ring";

enum class FaultyHook { begin, before_training, after_batch, after_test_batch, summarise };

void fail_alone() {
  if (this_rank == last_rank) throw ValueError("of this rank alone");
}

/// A metric and an event.
class Fails final : public Metric, public TrainingEvent {
 public:
  explicit Fails(FaultyHook moment) : moment_(moment) {}
  std::string name() const override { return "fails"; }
  std::string unit() const override { return "1"; }
  Quantity quantity() const override { return Quantity::count; }
  void begin(int) override { at(FaultyHook::begin); }
  void summarise(Measurement&) const override { at(FaultyHook::summarise); }
  void before_training(Trainer&) override { at(FaultyHook::before_training); }
  void after_batch(Trainer&, const Batch&, const ValueMap&) override {
    at(FaultyHook::after_batch);
  }
  void after_test_batch(Trainer&, const Batch&, const ValueMap&) override {
    at(FaultyHook::after_test_batch);
  }

 private:
  void at(FaultyHook moment) const {
    if (moment == moment_) fail_alone();
  }
  FaultyHook moment_;
};

SessionOptions failing_at(FaultyHook moment) {
  SessionOptions session;
  session.metrics.emplace_back([moment] { return std::make_shared<Fails>(moment); });
  return session;
}

/// Ranks in a separate group, on which unmatched calls are left.
std::shared_ptr<Communicator> watched_ranks() {
  return std::make_shared<CallTimeout>(world()->split(0, this_rank));
}

/// The error of training on this rank, within a time limit.
std::string session_error(SessionOptions session, const std::string& scheme,
                          const std::shared_ptr<Communicator>& ranks) {
  Recipe recipe = Recipe::parse(kLoneRecipe, "tiny.yaml");
  recipe.set("distributed.name=" + scheme);
  world()->barrier();
  const auto begin = std::chrono::steady_clock::now();
  std::string words = "nothing";
  try {
    (void)train(recipe, std::move(session), ranks);
  } catch (const Error& error) {
    words = error.what();
  }
  // Ranks that have waited for half a second learn of the failure; the rest is for a busy machine.
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(30));
  world()->barrier();
  return words;
}

void expect_named(const std::string& error, const std::string& own) {
  if (this_rank == last_rank) {
    CHECK_THAT(error, Catch::Contains(own));
  } else {
    CHECK_THAT(error, Catch::Contains("rank " + std::to_string(last_rank) +
                                      " failed and will not come; its own message says why"));
  }
}

}  // namespace

TEST_CASE("a metric or an event that throws on one rank ends training on all, with its name") {
  if (rank_count == 1) return;
  const auto moment =
      GENERATE(FaultyHook::begin, FaultyHook::before_training, FaultyHook::after_test_batch);
  CAPTURE(int(moment));
  expect_named(session_error(failing_at(moment), kRing, watched_ranks()), "of this rank alone");
}

TEST_CASE("a lone failure ends training of every kind, also where ranks talk in groups") {
  if (rank_count == 1) return;
  const std::string scheme =
      GENERATE(as<std::string>(), "consistent_decentralized:all_reduce=node_memory",
               "consistent_decentralized:all_reduce=hierarchical",
               "consistent_decentralized:exchange=sharded", "consistent_neighbors");
  CAPTURE(scheme);
  expect_named(session_error(failing_at(FaultyHook::after_batch), scheme, watched_ranks()),
               "of this rank alone");
}

TEST_CASE("a thread that moves calls on tells a failure too") {
  if (rank_count == 1) return;
  const auto ranks = std::make_shared<ProgressThread>(watched_ranks());
  expect_named(session_error(failing_at(FaultyHook::after_batch), kRing, ranks),
               "of this rank alone");
}

TEST_CASE("a data set that one rank cannot open ends training on all") {
  if (rank_count == 1) return;
  SessionOptions session;
  if (this_rank == last_rank) session.data = "/nowhere";  // which the carried sample refuses
  expect_named(session_error(std::move(session), kRing, watched_ranks()), "subset=sample");
}

TEST_CASE("a checkpoint that one rank cannot write ends training on all") {
  if (rank_count == 1) return;
  SessionOptions session;
  if (this_rank == last_rank) session.checkpoint = "/dev/null/nowhere/run.ckpt";
  expect_named(session_error(std::move(session), kRing, watched_ranks()),
               "/dev/null/nowhere/run.ckpt");
}

TEST_CASE("what one metric cannot tell at one rank is said in its record, and nobody waits") {
  if (rank_count == 1) return;
  CHECK(session_error(failing_at(FaultyHook::summarise), kRing, watched_ranks()) == "nothing");
}

TEST_CASE("ranks that all failed alike train again on the same communicator") {
  if (rank_count == 1) return;
  const auto ranks = watched_ranks();
  CHECK_THAT(session_error({.frameworks = {"nowhere"}}, kRing, ranks), Catch::Contains("nowhere"));
  CHECK(session_error({}, kRing, ranks) == "nothing");
}
