// SPDX-License-Identifier: Apache-2.0
// Each real rank simulates all ranks, and compares the result of its own part.
#include <catch2/catch.hpp>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/prediction/simulation/simulated_run.hpp"
#include "tests/prediction/simple_cluster.hpp"

namespace d5 {
namespace {

using Ranks = std::shared_ptr<Communicator>;

/// Numbers of such different magnitudes that sums depend on the order of additions.
Tensor irregular(int rank, std::int64_t elements) {
  Tensor data = Tensor::empty(DType::float32, {elements});
  for (std::int64_t i = 0; i < elements; ++i) {
    const auto bits = static_cast<std::uint32_t>((i * 2654435761) ^ (rank * 40503 + 12345));
    data.data<float>()[i] = float(bits % 1000003) / float(1 + bits % 97) - 5000.0F;
  }
  return data;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.bytes() == b.bytes() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

struct Outcome {
  Tensor data;
  Traffic traffic;
};

/// The result of a call for this rank's data, and its traffic, on real or simulated ranks.
/// `prepare` returns the call; its own traffic, such as for setting up memory, is not counted.
template <class Prepare>
Outcome outcome(const Ranks& ranks, std::int64_t elements, const Prepare& prepare) {
  Outcome result{irregular(ranks->rank(), elements), {}};
  const auto call = prepare(*ranks);
  const Traffic before = ranks->traffic();
  call(result.data);
  result.traffic = ranks->traffic().since(before);
  return result;
}

template <class Prepare>
void compare_prepared(const std::string& name, std::int64_t elements, const Prepare& prepare) {
  CAPTURE(name, elements);
  const Outcome real = outcome(world(), elements, prepare);
  Outcome simulated;
  (void)run_simulated(world()->size(), memory_cluster(world()->size()),
                      [&](SimulatedRank& rank, const Ranks& ranks) {
                        Outcome mine = outcome(ranks, elements, prepare);
                        if (rank.rank() == world()->rank()) simulated = mine;
                      });
  CHECK(same_bits(real.data, simulated.data));
  CHECK(real.traffic.by_call == simulated.traffic.by_call);
}

template <class Call>
void compare(const std::string& name, std::int64_t elements, const Call& call) {
  compare_prepared(name, elements,
                   [&](Communicator& ranks) { return [&](Tensor& data) { call(ranks, data); }; });
}

TEST_CASE("every all-reduce gives the same bits and counts on simulated ranks") {
  const std::int64_t elements = GENERATE(1, 7, 1000, 40'001);
  for (const auto& name : all_reduces().names()) {
    // "mpi" is the library's own: the same bits say that its tree, of any size, is the one that is
    // simulated.
    if (name == "auto") continue;  // what it measures differs
    const Settings settings =
        name == "with_resources" ? Settings{{"of", "ring"}} : Settings{};  // threads by itself
    compare_prepared(name, elements, [&](Communicator& ranks) {
      const auto one = all_reduces().at(name).make(settings);
      one->prepare(ranks);
      return [one, &ranks](Tensor& data) { one->start(ranks, data)->wait(); };
    });
  }
}

TEST_CASE("every broadcast, all-gather and reduce-scatter gives the same bits and counts") {
  for (const auto& name : broadcasts().names()) {
    compare(name, 1001, [&](Communicator& ranks, Tensor& data) {
      broadcasts().at(name).make()->start(ranks, data, ranks.size() - 1)->wait();
    });
  }
  const std::int64_t elements = 12 * 50;  // 1 to 4 ranks share it equally
  for (const auto& name : all_gathers().names()) {
    compare(name, elements, [&](Communicator& ranks, Tensor& data) {
      const Tensor mine = data.slice(0, elements / ranks.size()).copy();
      all_gathers().at(name).make()->start(ranks, mine, data)->wait();
    });
  }
  for (const auto& name : reduce_scatters().names()) {
    compare(name, elements, [&](Communicator& ranks, Tensor& data) {
      Tensor mine = data.slice(0, elements / ranks.size()).copy();
      reduce_scatters().at(name).make()->start(ranks, data, mine)->wait();
      data = mine;
    });
  }
}

TEST_CASE("the transport's collectives count as the library's do") {
  compare("calls", 12, [](Communicator& ranks, Tensor& data) {
    Tensor part = data.slice(0, 12 / ranks.size()).copy(), all = data.copy();
    ranks.broadcast(data, 0);
    ranks.all_gather(part, all);
    ranks.gather(part, all, 0);
    ranks.scatter(all, part, 0);
    ranks.all_to_all(data, all);
    ranks.barrier();
    const auto group = ranks.split(ranks.rank() % 2);
    group->all_reduce(part, Reduction::maximum);
    data = part;
  });
}

}  // namespace
}  // namespace d5
