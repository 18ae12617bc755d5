// SPDX-License-Identifier: Apache-2.0
// Choices of simulated ranks' own collectives, compared with Open MPI 4.1's source:
// ompi/mca/coll/tuned/coll_tuned_decision_fixed.c, ompi/mca/coll/libnbc. On powers of two and one
// beside them, up to 32 MiB and 100,000 ranks, the tables were compared with what the functions of
// the library of Open MPI 4.1.4 choose, 56,441 cases each: no difference.
#include "prediction/simulation/library_decisions.hpp"

#include <catch2/catch.hpp>

#include "d5/core/tensor/phantom_tensor.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/prediction/simulation/simulated_run.hpp"
#include "tests/prediction/simple_cluster.hpp"

namespace d5 {
namespace {

struct Decision {
  int ranks;
  std::int64_t bytes;
  const char* algorithm;
};

TEST_CASE("an all-reduce that blocks is chosen by ranks and bytes as Open MPI's table says") {
  const Decision rows[] = {
      {2, 7, "ring"},
      {3, 4095, "recursive_doubling"},
      {3, 65'536, "segmented_ring"},
      {2, 262'144, "rabenseifner"},
      {4, 8191, "recursive_doubling"},
      {7, 8192, "rabenseifner"},
      {16, 63, "segmented_ring"},
      {31, 4096, "rabenseifner"},
      {64, 262'143, "recursive_doubling"},
      {128, 131'071, "nonoverlapping"},
      {256, 4096, "rabenseifner"},
      {2047, 16'383, "recursive_doubling"},
      {2048, 4095, "segmented_ring"},
      {4096, 32'767, "recursive_doubling"},
      {100'000, 100'000'000, "rabenseifner"},
  };
  for (const auto& [ranks, bytes, algorithm] : rows) {
    CAPTURE(ranks, bytes);
    CHECK(detail::open_mpi_all_reduce(ranks, bytes) == algorithm);
  }
}

TEST_CASE("so are a broadcast, an all-gather and a reduce-scatter") {
  const Decision broadcasts[] = {{2, 31, "pipeline"},
                                 {3, 1'048'576, "binary_tree"},
                                 {4, 1'048'576, "chain"},
                                 {15, 32'768, "basic_linear"},
                                 {31, 1'048'576, "scatter_allgather"},
                                 {512, 20'000, "split_binary_tree"},
                                 {1500, 524'288, "scatter_allgather"}};
  for (const auto& [ranks, bytes, algorithm] : broadcasts) {
    CAPTURE(ranks, bytes);
    CHECK(detail::open_mpi_broadcast(ranks, bytes) == algorithm);
  }
  const Decision gathers[] = {{2, 1'000'000, "two_proc"}, {31, 1'000'000, "recursive_doubling"},
                              {32, 1024, "neighbor"},     {63, 65'536, "ring"},
                              {300, 100, "bruck"},        {1024, 4096, "neighbor"}};
  for (const auto& [ranks, bytes, algorithm] : gathers) {
    CAPTURE(ranks, bytes);
    CHECK(detail::open_mpi_all_gather(ranks, bytes) == algorithm);
  }
  const Decision scatters[] = {{3, 131'072, "basic_linear"},
                               {4, 8191, "recursive_halving"},
                               {8, 4'194'304, "butterfly"},
                               {40, 65'536, "basic_linear"}};
  for (const auto& [ranks, bytes, algorithm] : scatters) {
    CAPTURE(ranks, bytes);
    CHECK(detail::open_mpi_reduce_scatter(ranks, bytes) == algorithm);
  }
}

/// Time of a call on simulated ranks with 4 MB each.
double seconds_of(int n, const std::function<void(Communicator&, Tensor&)>& call) {
  return run_simulated(n, simple_cluster(n),
                       [&](SimulatedRank&, const std::shared_ptr<Communicator>& ranks) {
                         Tensor data = phantom_tensor({DType::float32, {1'000'000}});
                         call(*ranks, data);
                       })
      .seconds;
}

TEST_CASE("a started collective is Open MPI's libnbc's, a blocking one its table's") {
  const double all = 4e6 / kSimpleBandwidth, latency = kSimpleLatency;
  // Rabenseifner's: 4 rounds of halving and 4 of doubling.
  CHECK(seconds_of(16, [](Communicator& ranks, Tensor& data) { ranks.all_reduce(data); }) ==
        Approx(8 * latency + 2 * 15.0 / 16 * all).epsilon(1e-4));
  // In place: down a tree and up again.
  CHECK(seconds_of(16, [](Communicator& ranks, Tensor& data) {
          ranks.start_all_reduce(data)->wait();
        }) == Approx(8 * (latency + all)).epsilon(kTimeRounding));
  // From the root to each of 7, one after the other through its port; a tree where it is started.
  CHECK(seconds_of(8, [](Communicator& ranks, Tensor& data) { ranks.broadcast(data, 0); }) ==
        Approx(latency + 7 * all).epsilon(kTimeRounding));
  CHECK(seconds_of(8, [](Communicator& ranks, Tensor& data) {
          ranks.start_broadcast(data, 0)->wait();
        }) == Approx(3 * (latency + all)).epsilon(kTimeRounding));
  const auto scatter = [](bool starts) {
    return seconds_of(16, [starts](Communicator& ranks, Tensor& data) {
      Tensor mine = phantom_tensor({DType::float32, {1'000'000 / 16}});
      if (starts) {
        ranks.start_reduce_scatter(data, mine)->wait();
      } else {
        ranks.reduce_scatter(data, mine);
      }
    });
  };
  // Blocking: recursive halving. Started: over a tree, then 15 parts through the root's port.
  CHECK(scatter(false) == Approx(4 * latency + 15.0 / 16 * all).epsilon(kTimeRounding));
  CHECK(scatter(true) == Approx(5 * latency + 4 * all + 15.0 / 16 * all).epsilon(kTimeRounding));
}

TEST_CASE("a library's reduce-scatter and broadcasts of data hold what they should") {
  const int n = GENERATE(2, 3, 4, 5, 7);
  run_simulated(
      n, simple_cluster(n), [n](SimulatedRank& self, const std::shared_ptr<Communicator>& ranks) {
        Tensor all = Tensor::empty(DType::int64, {n}), mine = Tensor::zeros(DType::int64, {1});
        for (int i = 0; i < n; ++i) all.data<std::int64_t>()[i] = 10 * i + self.rank();
        ranks->start_reduce_scatter(all, mine)->wait();
        CHECK(mine.data<std::int64_t>()[0] == 10 * self.rank() * n + n * (n - 1) / 2);
        Tensor root = Tensor::of<std::int64_t>({1}, {self.rank()});
        ranks->start_broadcast(root, n - 1)->wait();
        CHECK(root.data<std::int64_t>()[0] == n - 1);
        Tensor seen = Tensor::zeros(DType::int64, {n});
        Tensor own = Tensor::of<std::int64_t>({1}, {self.rank() + 1});
        ranks->start_all_gather(own, seen)->wait();
        for (int i = 0; i < n; ++i) CHECK(seen.data<std::int64_t>()[i] == i + 1);
      });
}

}  // namespace
}  // namespace d5
