// SPDX-License-Identifier: Apache-2.0
// SimGrid exports MPI's functions; under Open MPI, each library must find its own.
#include <catch2/catch.hpp>

#include "d5/core/tensor/phantom_tensor.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/communicator/transport.hpp"
#include "d5/prediction/simulation/simulated_run.hpp"
#include "tests/prediction/simple_cluster.hpp"

namespace d5 {
namespace {

std::int64_t sum_of_ranks() {
  Tensor mine = Tensor::of<std::int64_t>({1}, {world()->rank()});
  world()->all_reduce(mine, Reduction::sum);
  return mine.data<std::int64_t>()[0];
}

TEST_CASE("every real rank simulates by SimGrid, and MPI works before and after") {
  const std::int64_t n = world()->size(), expected = n * (n - 1) / 2;
  CHECK(sum_of_ranks() == expected);
  SimulationOptions options;
  options.model = {"simgrid"};
  const auto report = run_simulated(
      8, simple_cluster(8),
      [](SimulatedRank&, const std::shared_ptr<Communicator>& ranks) {
        Tensor data = phantom_tensor({DType::float32, {1'000'000}});
        all_reduces().at("ring").make()->start(*ranks, data)->wait();
      },
      options);
  CHECK(report.seconds == Approx(14.0 / 8 * 4e6 / kSimpleBandwidth + 14 * kSimpleLatency));
  CHECK(sum_of_ranks() == expected);
}

}  // namespace
}  // namespace d5
