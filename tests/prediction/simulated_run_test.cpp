// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/simulation/simulated_run.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <stdexcept>
#include <vector>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/phantom_tensor.hpp"
#include "d5/core/trace/trace.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "tests/prediction/simple_cluster.hpp"

namespace d5 {
namespace {

using Ranks = std::shared_ptr<Communicator>;

TEST_CASE("a message takes latency + bytes / bandwidth, and brings its elements") {
  SimulationOptions options;
  options.model = {GENERATE("closed", "ports")};
  const auto report = run_simulated(
      2, simple_cluster(2),
      [](SimulatedRank& rank, const Ranks& ranks) {
        Tensor data = Tensor::vector<float>({1, 2, 3, 4});
        if (rank.rank() == 0) {
          rank.spend(1);
          ranks->send(data, 1);
          CHECK(rank.now() == Approx(1 + 16 / 1e9));
        } else {
          Tensor got = Tensor::zeros(DType::float32, {4});
          ranks->receive(got, 0);
          CHECK(got.data<float>()[3] == 4);
          CHECK(rank.now() == Approx(1 + 16 / 1e9 + 50e-6));
        }
      },
      options);
  CHECK(report.seconds == Approx(1 + 16 / 1e9 + 50e-6));
  CHECK(report.messages == 1);
}

TEST_CASE("CPU overhead of a message is charged at each end") {
  ClusterDescription cluster = simple_cluster(2);
  cluster.overhead = {2e-6, "test"};
  (void)run_simulated(2, cluster, [](SimulatedRank& rank, const Ranks& ranks) {
    Tensor data = Tensor::zeros(DType::uint8, {0});
    if (rank.rank() == 0) {
      ranks->send(data, 1);
    } else {
      ranks->receive(data, 0);
      CHECK(rank.now() == Approx(2e-6 + 50e-6 + 2e-6));
    }
  });
}

TEST_CASE("CPU overhead of a message's bytes passes beside the network") {
  ClusterDescription cluster = simple_cluster(2);  // 1 GB/s: a megabyte in a millisecond
  cluster.end_bandwidth = {4e9, "test"};
  const bool comes_late = GENERATE(false, true);
  (void)run_simulated(2, cluster, [&](SimulatedRank& rank, const Ranks& ranks) {
    const Tensor data = phantom_tensor({DType::uint8, {1'000'000}});
    if (rank.rank() == 0) {
      const auto sent = ranks->start_send(data, 1);
      CHECK(rank.now() == Approx(0.25e-3));
      sent->wait();
      CHECK(rank.now() == Approx(1e-3));
    } else {
      Tensor into = data;
      const auto received = ranks->start_receive(into, 0);
      if (comes_late) rank.spend(2e-3);
      received->wait();
      // A waiting rank takes the bytes as they arrive.
      CHECK(rank.now() == Approx(comes_late ? 2e-3 + 0.25e-3 : 1e-3 + kSimpleLatency));
    }
  });
}

TEST_CASE("a long message begins when its receive is posted, a short one when it is sent") {
  const auto [bytes, arrives] =
      GENERATE(table<std::int64_t, double>({{1000, 1.0},  // it is there already
                                            {1'000'000, 1 + 1e-3 + 50e-6}}));
  (void)run_simulated(2, simple_cluster(2), [&](SimulatedRank& rank, const Ranks& ranks) {
    Tensor data = Tensor::zeros(DType::uint8, {bytes});
    if (rank.rank() == 0) return ranks->send(data, 1);
    rank.spend(1);
    ranks->receive(data, 0);
    CHECK(rank.now() == Approx(arrives).epsilon(1e-9));
  });
}

TEST_CASE("messages of two ranks arrive in the order in which they were sent") {
  (void)run_simulated(2, simple_cluster(2), [](SimulatedRank& rank, const Ranks& ranks) {
    Tensor first = Tensor::vector<float>({1}), second = Tensor::vector<float>({2});
    if (rank.rank() == 0) {
      ranks->send(first, 1);
      return ranks->send(second, 1);
    }
    Tensor a = Tensor::zeros(DType::float32, {1}), b = a.copy();
    Received from;
    ranks->receive(a, kAnyRank, 0, &from);
    ranks->receive(b, 0);
    CHECK(from.from == 0);
    CHECK(from.elements == 1);
    CHECK(a.item<float>() == 1);
    CHECK(b.item<float>() == 2);
  });
}

TEST_CASE("a started call goes on while its rank computes") {
  (void)run_simulated(2, simple_cluster(2), [](SimulatedRank& rank, const Ranks& ranks) {
    Tensor data = Tensor::zeros(DType::uint8, {1'000'000});
    const int other = 1 - rank.rank();
    auto call =
        rank.rank() == 0 ? ranks->start_send(data, other) : ranks->start_receive(data, other);
    CHECK_FALSE(call->done());
    rank.spend(1);
    CHECK(call->done());
    CHECK(rank.now() == 1);
  });
}

TEST_CASE("a deadlock names ranks, times and calls") {
  const auto both_receive = [](SimulatedRank& rank, const Ranks& ranks) {
    rank.spend(0.5 + rank.rank());
    Tensor data = Tensor::zeros(DType::float32, {3});
    ranks->receive(data, 1 - rank.rank(), 7);
  };
  CHECK_THROWS_AS(run_simulated(2, simple_cluster(2), both_receive), CommunicationError);
  CHECK_THROWS_WITH(run_simulated(2, simple_cluster(2), both_receive),
                    Catch::Contains("2 of 2 wait") &&
                        Catch::Contains("rank 0 since 0.5 s in receive of 12 bytes from rank 1, "
                                        "tag 7") &&
                        Catch::Contains("rank 1 since 1.5 s"));
}

TEST_CASE("a collective that a rank leaves out is a deadlock, reported by its name") {
  CHECK_THROWS_WITH(run_simulated(3, simple_cluster(3),
                                  [](SimulatedRank& rank, const Ranks& ranks) {
                                    Tensor data = Tensor::zeros(DType::float32, {3});
                                    if (rank.rank() != 1) ranks->all_reduce(data);
                                  }),
                    Catch::Contains("all_reduce of 3 x float32"));
}

TEST_CASE("an exception of a rank ends the simulation, and all others unwind") {
  struct Counted {
    int& count;
    ~Counted() { ++count; }
  };
  int unwound = 0;
  CHECK_THROWS_WITH(run_simulated(3, simple_cluster(3),
                                  [&](SimulatedRank& rank, const Ranks& ranks) {
                                    const Counted counted{unwound};
                                    Tensor data = Tensor::zeros(DType::float32, {3});
                                    if (rank.rank() == 2) throw std::runtime_error("out of luck");
                                    auto call = ranks->start_all_reduce(data);
                                    ranks->barrier();
                                  }),
                    "out of luck");
  CHECK(unwound == 3);
}

TEST_CASE("a rank may wait while it handles an exception, or one unwinds") {
  struct SendsLast {
    Communicator& ranks;
    Tensor data;
    ~SendsLast() { ranks.send(data, 1 - ranks.rank(), 1); }
  };
  (void)run_simulated(2, simple_cluster(2), [](SimulatedRank& rank, const Ranks& ranks) {
    const std::string own = "of rank " + std::to_string(rank.rank());
    Tensor data = Tensor::zeros(DType::float32, {1});
    try {
      const SendsLast last{*ranks, data};
      throw std::runtime_error(own);
    } catch (const std::exception& error) {
      ranks->barrier();
      ranks->receive(data, 1 - rank.rank(), 1);
      CHECK(error.what() == own);
      try {
        throw;
      } catch (const std::exception& again) {
        CHECK(again.what() == own);
      }
    }
  });
}

TEST_CASE("groups talk apart, and count in the communicator that they are of") {
  (void)run_simulated(5, simple_cluster(5), [](SimulatedRank& rank, const Ranks& ranks) {
    const auto group = ranks->split(rank.rank() % 2, -rank.rank());
    CHECK(group->size() == (rank.rank() % 2 == 0 ? 3 : 2));
    Tensor sum = Tensor::scalar<float>(float(rank.rank()));
    group->all_reduce(sum);
    CHECK(sum.item<float>() == (rank.rank() % 2 == 0 ? 6 : 4));
    CHECK(group->rank() == (4 - rank.rank()) / 2);
    CHECK(ranks->traffic().by_call.at("all_reduce").bytes_sent ==
          Traffic::of_all_reduce(4, group->size()));
    CHECK(ranks->split(-1) == nullptr);
  });
}

TEST_CASE("every collective of the transport gives what it promises") {
  const int n = GENERATE(1, 2, 3, 4, 7, 8);
  const std::int64_t each = GENERATE(1, 3, 5000, 200'000);
  (void)run_simulated(n, simple_cluster(n), [&](SimulatedRank&, const Ranks& ranks) {
    const int me = ranks->rank();
    const auto filled = [&](std::int64_t elements, float value) {
      return Tensor::vector(std::vector<float>(static_cast<std::size_t>(elements), value));
    };
    const auto at = [](const Tensor& tensor, std::int64_t i) { return tensor.data<float>()[i]; };
    const float sum = float(n * (n - 1)) / 2;

    Tensor data = filled(each, float(me));
    ranks->all_reduce(data);
    CHECK(at(data, each - 1) == sum);
    data = filled(each, float(me));
    ranks->all_reduce(data, Reduction::maximum);
    CHECK(at(data, 0) == float(n - 1));
    data = filled(each, float(me));
    ranks->broadcast(data, n - 1);
    CHECK(at(data, each - 1) == float(n - 1));

    Tensor mine = filled(each, float(me)), all = filled(n * each, -1);
    ranks->all_gather(mine, all);
    for (int r = 0; r < n; ++r) CHECK(at(all, r * each) == float(r));
    ranks->reduce_scatter(all, mine);
    CHECK(at(mine, each - 1) == float(me * n));
    mine = filled(each, float(me));
    all = filled(n * each, -1);
    ranks->gather(mine, all, 0);
    if (me == 0) CHECK(at(all, n * each - 1) == float(n - 1));
    ranks->scatter(all, mine, 0);
    CHECK(at(mine, 0) == float(me));
    Tensor to = filled(n * each, float(me)), from = filled(n * each, -1);
    ranks->all_to_all(to, from);
    for (int r = 0; r < n; ++r) CHECK(at(from, r * each) == float(r));
    ranks->barrier();
  });
}

TEST_CASE("started collectives may be waited for in different orders") {
  (void)run_simulated(4, simple_cluster(4), [](SimulatedRank& rank, const Ranks& ranks) {
    Tensor a = Tensor::scalar<float>(1), b = Tensor::zeros(DType::float32, {100'000});
    auto first = ranks->start_all_reduce(a);
    auto second = ranks->start_all_reduce(b);
    auto ring = all_reduces().at("ring").make();
    Tensor c = Tensor::scalar<float>(2);
    auto third = ring->start(*ranks, c);
    if (rank.rank() % 2 == 0) {
      third->wait();
      second->wait();
      first->wait();
    } else {
      first->wait();
      second->wait();
      third->wait();
    }
    CHECK(a.item<float>() == 4);
    CHECK(c.item<float>() == 8);
  });
}

TEST_CASE("a simulation above its budget of time stops with what it has") {
  SimulationOptions options;
  options.most_wall_seconds = 1e-9;
  const auto report = run_simulated(
      2, simple_cluster(2),
      [](SimulatedRank& rank, const Ranks& ranks) {
        for (;;) {
          rank.spend(1);
          ranks->barrier();
        }
      },
      options);
  CHECK_THAT(report.stopped, Catch::Contains("was reached"));
  CHECK(report.rank_seconds.size() == 2);
}

TEST_CASE("spans of ranks lie on lanes of their own, in virtual time") {
  Trace::start();
  (void)run_simulated(2, simple_cluster(2), [](SimulatedRank& rank, const Ranks& ranks) {
    const Span outer("test", "outer");
    rank.spend(1 + rank.rank());
    ranks->barrier();
    const Span inner("test", "inner");
    rank.spend(0.5);
  });
  Trace::stop();
  const Timeline timeline = Trace::timeline();
  std::map<int, const TraceRecord*> outer, inner;  // by lane
  for (const auto& record : timeline.records) {
    if (record.name == "outer") outer[record.lane] = &record;
    if (record.name == "inner") inner[record.lane] = &record;
  }
  REQUIRE(outer.size() == 2);
  REQUIRE(inner.size() == 2);
  for (const auto& [lane, record] : inner) {
    CHECK(record->parent == outer.at(lane)->id);
    CHECK(record->end_ns - record->begin_ns == 500'000'000);
  }
  // The later rank finds the other's message; the other one waits for its message, 50 us longer.
  std::set<std::int64_t> lengths;
  for (const auto& [lane, record] : outer) lengths.insert(record->end_ns - record->begin_ns);
  CHECK(lengths == std::set<std::int64_t>{2'500'000'000, 2'500'050'000});
}

TEST_CASE("metrics' clock is the rank's own") {
  (void)run_simulated(1, simple_cluster(1), [](SimulatedRank& rank, const Ranks&) {
    const double begin = now_seconds();
    rank.spend(3);
    CHECK(now_seconds() - begin == 3);
  });
}

TEST_CASE("bad numbers of ranks are refused") {
  const auto nothing = [](SimulatedRank&, const Ranks&) {};
  CHECK_THROWS_AS(run_simulated(0, simple_cluster(2), nothing), ValueError);
  CHECK_THROWS_AS(run_simulated(-1, simple_cluster(2), nothing), ValueError);
  CHECK_THROWS_WITH(run_simulated(3, simple_cluster(2), nothing),
                    Catch::Contains("has room for 2 ranks") && Catch::Contains("raise 'hosts'"));
  CHECK_THROWS_AS(run_simulated(1, simple_cluster(1),
                                [](SimulatedRank& rank, const Ranks&) { rank.spend(-1); }),
                  ValueError);
}

TEST_CASE("a communicator outlives its simulation, and says so") {
  Ranks kept;
  (void)run_simulated(1, simple_cluster(1),
                      [&](SimulatedRank&, const Ranks& ranks) { kept = ranks; });
  CHECK_THROWS_WITH(kept->barrier(), Catch::Contains("has ended"));
}

}  // namespace
}  // namespace d5
