// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/simulation/timed_optimizer.hpp"

#include <catch2/catch.hpp>

#include <limits>
#include <memory>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "tests/prediction/simple_cluster.hpp"

namespace d5 {
namespace {

using Ranks = std::shared_ptr<Communicator>;

/// Two gradients, of 4 MB and of 1 MB.
TimedStep two_gradients(double second_backward) {
  return {.forward = 10e-3,
          .gradients = {{"b", 1'000'000, 5e-3, 1e-3}, {"a", 250'000, second_backward, 2e-3}},
          .rest = 0};
}

/// Seconds of a step without leftovers of the previous one; each gradient is a bucket.
double step_seconds(int n, const TimedStep& times, const Settings& more = {},
                    const SimulationOptions& options = {}) {
  double took = 0;
  (void)run_simulated(
      n, simple_cluster(n),
      [&](SimulatedRank& rank, const Ranks& ranks) {
        Settings settings = more;
        settings.set("all_reduce", "recursive_doubling");
        if (!settings.has("bucket_bytes")) settings.set("bucket_bytes", "1");
        const auto scheme = distributed_optimizers()
                                .at("consistent_decentralized")
                                .make(make_timed_optimizer(rank, times), ranks, settings);
        ranks->barrier();
        double begin = 0;
        for (int step = 0; step < 3; ++step) {
          begin = rank.now();
          (void)scheme->step(timed_batch());
        }
        if (rank.rank() == 0) took = rank.now() - begin;
      },
      options);
  return took;
}

TEST_CASE("a step of a rank alone takes the sum of its times") {
  const TimedStep times = two_gradients(7e-3);
  CHECK(times.seconds() == Approx(25e-3));
  CHECK(step_seconds(1, times) == Approx(25e-3).epsilon(kTimeRounding));
}

TEST_CASE("what is exchanged while backpropagation goes on is hidden by it") {
  // The first one's 4 ms are over before the second gradient is final; its update hides a part of
  // the second one's exchange, which the second update waits for.
  const double exchange = 1e6 / kSimpleBandwidth + kSimpleLatency;
  CHECK(step_seconds(2, two_gradients(7e-3)) ==
        Approx(10e-3 + 5e-3 + 7e-3 + exchange + 2e-3).epsilon(kTimeRounding));
}

TEST_CASE("what is longer than what hides it shows") {
  // The second one's bytes follow the first one's through the port; the first update is hidden.
  CHECK(step_seconds(2, two_gradients(1e-3)) ==
        Approx(10e-3 + 5e-3 + (4e6 + 1e6) / kSimpleBandwidth + kSimpleLatency + 2e-3)
            .epsilon(kTimeRounding));
}

TEST_CASE("one bucket of all gradients waits for the last of them") {
  CHECK(step_seconds(2, two_gradients(7e-3), {{"bucket_bytes", "100000000"}}) ==
        Approx(10e-3 + 5e-3 + 7e-3 + 5e6 / kSimpleBandwidth + kSimpleLatency + 3e-3).epsilon(1e-5));
  // 1e-5: the bucket has some bytes of padding between its gradients
}

TEST_CASE("with 4 ranks a second round waits until somebody looks, or a thread does") {
  // Recursive doubling of 4 MB is 2 rounds of 4.05 ms: the first is over 2.95 ms before the second
  // gradient is final. Only then the second is sent, if nobody has looked meanwhile.
  const TimedStep times = two_gradients(7e-3);
  SimulationOptions thread;
  thread.progress = SimulatedProgressRule::thread;
  const double polled = step_seconds(4, times), moved = step_seconds(4, times, {}, thread);
  const double first_round = 4e-3 + kSimpleLatency, small_rounds = 2 * (1e-3 + kSimpleLatency);
  // By itself: the first one ends 1.1 ms after the second gradient is final, when the second one's
  // first message waits for the port until 1.05 ms.
  CHECK(moved < polled - 1e-3);
  CHECK(polled >= 10e-3 + 5e-3 + 7e-3 + first_round);
  CHECK(moved >= 10e-3 + 5e-3 + 2 * first_round);
  CHECK(moved <= 10e-3 + 5e-3 + 2 * first_round + small_rounds + 3e-3);
}

TEST_CASE("asking in vain takes a look's time, and asking for what is there takes none") {
  ClusterDescription cluster = simple_cluster(2);
  cluster.look = {1e-6, "test"};
  (void)run_simulated(2, cluster, [&](SimulatedRank& rank, const Ranks& ranks) {
    Tensor data = Tensor::zeros(DType::float32, {1});
    if (rank.rank() == 1) return ranks->send(data, 0);
    const auto received = ranks->start_receive(data, 1);
    const double begin = rank.now();
    for (int look = 0; look < 3; ++look) CHECK_FALSE(received->done());
    CHECK(rank.now() - begin == Approx(3e-6));
    rank.spend(1);
    CHECK(received->done());
    CHECK(rank.now() - begin == Approx(1 + 3e-6));
  });
}

TEST_CASE("every exchange over the communicator alone trains phantoms") {
  for (const char* name : {"dense", "sharded"}) {
    CAPTURE(name);
    CHECK(step_seconds(4, two_gradients(1e-3), {{"exchange", name}}) > 16e-3);
  }
}

TEST_CASE("times that cannot be are refused") {
  const auto refused = [](const TimedStep& times) {
    (void)run_simulated(1, simple_cluster(1), [&](SimulatedRank& rank, const Ranks&) {
      CHECK_THROWS_AS(make_timed_optimizer(rank, times), ValueError);
    });
  };
  refused({});
  refused({.forward = -1, .gradients = {{"a", 1, 0, 0}}});
  refused({.gradients = {{"a", 1, std::numeric_limits<double>::quiet_NaN(), 0}}});
  refused({.gradients = {{"a", 0, 0, 0}}});
}

}  // namespace
}  // namespace d5
