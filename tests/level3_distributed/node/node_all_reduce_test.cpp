// SPDX-License-Identifier: Apache-2.0
// Tests of all-reduces through node memory beyond those for every all-reduce.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "d5/core/tensor/random.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/collectives/collective_validation.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "tests/level3_distributed/node/this_rank.hpp"

using namespace d5;
using testing::n, testing::rank;

namespace {

void expect_right(const EntryChoice& choice) {
  for (const auto& record : check_collective(CallKind::all_reduce, choice, *world())) {
    INFO(record.metric << ": " << record.reason);
    CHECK(record.status == (n == 1 ? Status::skipped : Status::passed));
  }
}

std::vector<float> normal(int of, std::int64_t elements) {
  RandomStream random(7, static_cast<std::uint32_t>(of));
  std::vector<float> values(static_cast<std::size_t>(elements));
  for (auto& value : values) value = random.normal();
  return values;
}

}  // namespace

TEST_CASE("node memory sums however small its rooms are, and however few") {
  for (const int stages : {1, 2, 5}) {
    const auto all_reduce =
        all_reduces().at("node_memory").make({{"chunk_bytes", 64}, {"stages", stages}});
    Tensor data = Tensor::zeros(DType::int32, {301});  // 19 buffers, the last not full
    for (std::int32_t i = 0; i < 301; ++i) data.data<std::int32_t>()[i] = i + rank;
    all_reduce->start(*world(), data)->wait();
    for (std::int32_t i = 0; i < 301; ++i) {
      CHECK(data.data<std::int32_t>()[i] == n * i + n * (n - 1) / 2);
    }
  }
  expect_right({"node_memory", {{"chunk_bytes", 20000}, {"stages", 1}}});
}

TEST_CASE("a hierarchical all-reduce is right, whatever the nodes and their leaders' algorithm") {
  for (const int ranks_per_node : {0, 1, 2, 3}) {
    for (const char* leaders : {"mpi", "ring", "node_memory"}) {
      INFO(ranks_per_node << " ranks a node, " << leaders);
      expect_right({"hierarchical", {{"ranks_per_node", ranks_per_node}, {"leaders", leaders}}});
    }
  }
}

TEST_CASE("node memory adds in the order of ranks, wherever an element lies") {
  const std::int64_t elements = 30011;
  std::vector<float> expected = normal(0, elements);
  for (int r = 1; r < n; ++r) {
    const auto values = normal(r, elements);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += values[i];
  }
  const auto all_reduce = all_reduces().at("node_memory").make({{"chunk_bytes", 4096}});
  Tensor data = Tensor::vector(normal(rank, elements));
  Tensor shifted = data.copy().slice(5, elements);
  all_reduce->start(*world(), data)->wait();
  all_reduce->start(*world(), shifted)->wait();
  CHECK(std::ranges::equal(data.span<float>(), expected));
  CHECK(std::ranges::equal(shifted.span<float>(), std::span(expected).subspan(5)));
}

TEST_CASE("node memory adds small floats in float32, and finds extremes of integers") {
  const auto all_reduce = all_reduces().at("node_memory").make({});
  Tensor half = Tensor::vector<Float16>({Float16(1.0f), Float16(rank == 0 ? 0.5f : 0.25f)});
  Tensor brain = Tensor::vector<BFloat16>({BFloat16(float(rank))});
  Tensor least = Tensor::vector<std::int8_t>({static_cast<std::int8_t>(-rank), 3});
  all_reduce->start(*world(), half)->wait();
  all_reduce->start(*world(), brain, Reduction::maximum)->wait();
  all_reduce->start(*world(), least, Reduction::minimum)->wait();
  CHECK(float(half.data<Float16>()[0]) == float(n));
  CHECK(float(half.data<Float16>()[1]) == 0.5f + 0.25f * float(n - 1));
  CHECK(float(*brain.data<BFloat16>()) == float(n - 1));
  CHECK(least.data<std::int8_t>()[0] == 1 - n);
  CHECK(least.data<std::int8_t>()[1] == 3);
}

TEST_CASE("algorithms that are under way beside each other all come to their end") {
  std::vector<std::shared_ptr<AllReduce>> algorithms;
  for (const char* name : {"node_memory", "ring", "hierarchical"}) {
    algorithms.push_back(all_reduces().at(name).make({}));
  }
  algorithms.push_back(all_reduces().at("hierarchical").make({{"ranks_per_node", 2}}));
  std::vector<Tensor> data;
  std::vector<std::unique_ptr<Request>> requests;
  for (int i = 0; i < 12; ++i) {
    data.push_back(Tensor::zeros(DType::int32, {20000 * (i % 5)}));
    std::ranges::fill(data.back().span<std::int32_t>(), i);
  }
  for (std::size_t i = 0; i < data.size(); ++i) {
    requests.push_back(algorithms[i % algorithms.size()]->start(*world(), data[i]));
  }
  if (rank % 2 == 1) std::ranges::reverse(requests);
  for (auto& request : requests) request->wait();
  for (int i = 0; i < 12; ++i) {
    const auto values = data[static_cast<std::size_t>(i)].span<std::int32_t>();
    CHECK(std::ranges::all_of(values, [&](std::int32_t v) { return v == i * n; }));
  }
}

TEST_CASE("bytes through node memory are counted") {
  const Traffic before = world()->traffic();
  const auto all_reduce = all_reduces().at("node_memory").make({});
  Tensor data = Tensor::zeros(DType::float32, {1200});  // 1, 2, 3 and 4 ranks divide it
  all_reduce->start(*world(), data)->wait();
  const Traffic since = world()->traffic().since(before);
  if (n == 1) {
    CHECK(since.by_call.count("node_memory") == 0);
  } else {
    // Parts for the others and its own sum to each; their parts, and their sums.
    const std::int64_t moved = 2 * (n - 1) * 4800 / n;
    CHECK(since.by_call.at("node_memory") == Traffic::Line{1, moved, moved});
  }
}
