// SPDX-License-Identifier: Apache-2.0
// Agreement on the place where all ranks stop.
#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "d5/level2_training/training/training_session.hpp"
#include "d5/level3_distributed/communicator/progress_thread.hpp"
#include "d5/level3_distributed/decorators/call_timeout.hpp"
#include "d5/level3_distributed/schemes/distributed_training.hpp"
#include "tests/level3_distributed/recipe_for_ranks.hpp"
#include "tests/level3_distributed/this_rank.hpp"

using namespace d5;
using testing::last_rank, testing::rank_count, testing::this_rank;

namespace {

/// A new group for each test, because a stop is final.
std::shared_ptr<Communicator> watched_ranks() {
  return std::make_shared<CallTimeout>(world()->split(0, this_rank),
                                       CallTimeoutOptions{.timeout = std::chrono::seconds(60)});
}

/// Every rank's number.
std::vector<std::int64_t> of_all(std::int64_t mine) {
  Tensor all = Tensor::empty(DType::int64, {rank_count});
  world()->all_gather(Tensor::vector<std::int64_t>({mine}), all);
  const auto numbers = all.span<std::int64_t>();
  return {numbers.begin(), numbers.end()};
}

/// More steps than any machine makes while ranks agree on the stop.
constexpr std::int64_t kSteps = 10'000'000;

/// At which of its steps this rank ended, where rank `wishing` wishes it from step `from` on.
template <class Step>
std::int64_t last_step(Communicator& ranks, int wishing, std::int64_t from, const Step& step) {
  for (std::int64_t i = 0; i < kSteps; ++i) {
    step(i);
    if (ranks.end_together(this_rank == wishing && i >= from)) return i;
  }
  return kSteps;
}

}  // namespace

TEST_CASE("ranks that wait for each other in each step end after the same one") {
  const auto ranks = watched_ranks();
  const int wishing = GENERATE(0, 1) % rank_count;
  const auto mine = last_step(*ranks, wishing, 20, [&](std::int64_t) { ranks->barrier(); });
  const auto all = of_all(mine);
  CHECK(all == std::vector<std::int64_t>(std::size_t(rank_count), mine));
  CHECK(mine >= 20);
  CHECK(mine < 20 + 3);  // nobody can be further than a step ahead
}

TEST_CASE("ranks that wait for nobody end after the same step, too") {
  const auto ranks = watched_ranks();
  const auto mine = last_step(*ranks, last_rank, 1000, [](std::int64_t) {});
  CHECK(of_all(mine) == std::vector<std::int64_t>(std::size_t(rank_count), mine));
  CHECK(mine >= 1000);
  CHECK(mine < kSteps);
}

TEST_CASE("a rank that waits in a group, or in a group's group, answers from there") {
  const auto ranks = watched_ranks();
  const auto group = ranks->split(this_rank % 2);
  const auto alone = group->split(group->rank());
  const auto mine = last_step(*alone, 0, 5, [&](std::int64_t i) {
    if (i % 3 == 2) group->barrier();
    if (i % 7 == 6) ranks->barrier();
  });
  CHECK(of_all(mine) == std::vector<std::int64_t>(std::size_t(rank_count), mine));
}

TEST_CASE("a rank that never asks lets the others end while it serves them") {
  if (rank_count < 2) return;
  const auto ranks = watched_ranks();
  Tensor word = Tensor::scalar<std::int32_t>(0);
  if (this_rank == last_rank) {
    for (int left = 0; left < rank_count - 1; left += word.item<std::int32_t>()) {
      ranks->receive(word, kAnyRank);
    }
  } else {
    const auto step = last_step(*ranks, 0, 3, [&](std::int64_t) { ranks->send(word, last_rank); });
    CHECK(step < kSteps);
    ranks->send(Tensor::scalar<std::int32_t>(1), last_rank);
  }
  world()->barrier();
}

TEST_CASE("no rank ends without a wish, and no rank waits for another") {
  const auto ranks = watched_ranks();
  if (this_rank == 0) {  // the others have not come
    for (int i = 0; i < 1000; ++i) REQUIRE_FALSE(ranks->end_together(false));
  }
  world()->barrier();
  CHECK_FALSE(world()->end_together(false));
}

TEST_CASE("an interrupt of one rank ends all after the same batch, under each scheme") {
  const std::string scheme = GENERATE(
      "consistent_decentralized", "consistent_decentralized:all_reduce=ring",
      "consistent_decentralized:exchange=sharded", "consistent_centralized", "hogwild",
      "asynchronous_neighbors", "model_averaging", "stale_synchronous", "inconsistent_centralized");
  const bool thread = GENERATE(false, true);
  if (rank_count == 1) return;
  INFO(scheme << (thread ? ", a thread moves calls on" : ""));
  std::shared_ptr<Communicator> ranks = watched_ranks();
  if (thread) ranks = std::make_shared<ProgressThread>(ranks);
  Recipe recipe = testing::recipe_for_ranks({}, "  distributed: {name: placeholder}\n");
  recipe.set("distributed.name=" + scheme);
  recipe.set("training.epochs=1000000");
  /// Counts the batches of this rank, and wishes the end at the seventh of rank 0.
  class Counts final : public TrainingEvent {
   public:
    void after_batch(Trainer&, const Batch&, const ValueMap&) override { ++batches; }
    std::int64_t batches = 0;
  };
  const auto counts = std::make_shared<Counts>();
  SessionOptions session;
  session.observers = {counts};
  const Interrupt interrupt{.wished = [&] { return this_rank == 0 && counts->batches >= 7; }};
  const auto results = train(recipe, std::move(session), ranks, interrupt);
  for (const Measurement& result : results) {
    CHECK((result.status == Status::mistrusted || result.status == Status::skipped));
  }
  std::vector<std::int64_t> trained;  // a server has no batch
  for (const std::int64_t batches : of_all(counts->batches)) {
    if (batches > 0) trained.push_back(batches);
  }
  CHECK(trained == std::vector<std::int64_t>(trained.size(), trained.front()));
  CHECK(trained.front() >= 7);
}
