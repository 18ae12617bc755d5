// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collectives/collective.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

using namespace d5;

namespace {

template <class T>
void expect_sum_of_ranks(const std::string& name, AllReduce& one) {
  INFO(name << " of " << name_of(dtype_of<T>));
  // Small whole numbers: every type holds their sums exactly.
  Tensor data = Tensor::zeros(dtype_of<T>, {33});
  for (int i = 0; i < 33; ++i) data.data<T>()[i] = T(float(world()->rank() + i % 5));
  one.start(*world(), data)->wait();
  const int n = world()->size();
  for (int i = 0; i < 33; ++i) {
    CHECK(float(data.data<T>()[i]) == float(n * (n - 1) / 2 + n * (i % 5)));
  }
}

}  // namespace

TEST_CASE("every all-reduce sums every float type") {
  for (const auto& [name, entry] : all_reduces().entries()) {
    const auto one = entry.make({});
    expect_sum_of_ranks<float>(name, *one);
    expect_sum_of_ranks<double>(name, *one);
    expect_sum_of_ranks<Float16>(name, *one);
    expect_sum_of_ranks<BFloat16>(name, *one);
  }
}

TEST_CASE("d5's all-reduces agree on which zero is the largest, and on where a NaN goes") {
  for (const std::string name : {"ring", "segmented_ring", "recursive_doubling", "rabenseifner",
                                 "binomial_tree", "double_tree"}) {
    INFO(name);
    const int rank = world()->rank();
    std::vector<float> values{rank % 2 ? 0.0f : -0.0f, rank % 2 ? -0.0f : 0.0f,
                              rank == 1 ? NAN : float(rank), rank == 0 ? NAN : float(rank)};
    Tensor data = Tensor::vector(values);
    all_reduces().at(name).make({})->start(*world(), data, Reduction::maximum)->wait();
    Tensor first = data.copy();
    world()->broadcast(first, 0);
    CHECK(std::memcmp(first.raw(), data.raw(), data.bytes()) == 0);
  }
}

TEST_CASE("different algorithms of different kinds are under way at once, awaited in any order") {
  const int n = world()->size(), rank = world()->rank();
  std::vector<Tensor> sums;
  std::vector<std::shared_ptr<Collective>> algorithms;
  std::vector<std::unique_ptr<Request>> requests;
  const auto names = {"ring",         "segmented_ring", "recursive_doubling",
                      "rabenseifner", "binomial_tree",  "double_tree",
                      "mpi"};
  for (const std::string name : names) {
    sums.push_back(Tensor::vector(std::vector<float>(5000, float(rank + 1))));
  }
  Tensor told = Tensor::vector(std::vector<float>(5000, float(rank)));
  Tensor mine = Tensor::vector(std::vector<float>(100, float(rank)));
  Tensor all = Tensor::zeros(DType::float32, {100 * n});
  std::size_t i = 0;
  for (const std::string name : names) {
    const auto one = all_reduces().at(name).make({});
    algorithms.push_back(one);
    requests.push_back(one->start(*world(), sums[i++]));
  }
  const auto chain = broadcasts().at("chain").make({{"segment_bytes", 1000}});
  requests.push_back(chain->start(*world(), told, n - 1));
  const auto bruck = all_gathers().at("bruck").make({});
  requests.push_back(bruck->start(*world(), mine, all));

  if (rank % 2) std::ranges::reverse(requests);
  for (auto& request : requests) request->wait();
  for (const Tensor& sum : sums) {
    CHECK(std::ranges::count(sum.span<float>(), float(n * (n + 1) / 2)) == 5000);
  }
  CHECK(std::ranges::count(told.span<float>(), float(n - 1)) == 5000);
  for (int r = 0; r < n; ++r) CHECK(all.data<float>()[100 * r + 99] == float(r));
}

TEST_CASE("parts that differ in size are scattered and gathered") {
  const int n = world()->size(), rank = world()->rank();
  RankCounts counts;
  for (int r = 0; r < n; ++r) counts.push_back((r * 3 + 2) % 4);  // one has none where n > 2
  std::int64_t elements = 0, before = 0;
  for (int r = 0; r < n; ++r) {
    if (r < rank) before += counts[std::size_t(r)];
    elements += counts[std::size_t(r)];
  }
  const std::int64_t own = counts[std::size_t(rank)];
  Tensor all = Tensor::zeros(DType::int64, {elements});
  for (std::int64_t i = 0; i < elements; ++i) all.data<std::int64_t>()[i] = i * (rank + 1);
  for (const auto& [name, entry] : reduce_scatters().entries()) {
    INFO(name);
    Tensor mine = Tensor::zeros(DType::int64, {own});
    entry.make({})->start(*world(), all, mine, Reduction::sum, counts)->wait();
    for (std::int64_t i = 0; i < own; ++i) {
      CHECK(mine.data<std::int64_t>()[i] == (before + i) * n * (n + 1) / 2);
    }
    CHECK(all.data<std::int64_t>()[elements - 1] == (elements - 1) * (rank + 1));  // as it was
  }
  for (const auto& [name, entry] : all_gathers().entries()) {
    INFO(name);
    Tensor mine = Tensor::zeros(DType::int64, {own}), got = Tensor::zeros(DType::int64, {elements});
    for (std::int64_t i = 0; i < own; ++i) mine.data<std::int64_t>()[i] = before + i;
    entry.make({})->start(*world(), mine, got, counts)->wait();
    for (std::int64_t i = 0; i < elements; ++i) CHECK(got.data<std::int64_t>()[i] == i);
  }
}

TEST_CASE("a tensor that does not fit is refused before anything is sent") {
  Tensor mine = Tensor::zeros(DType::float32, {3});
  Tensor all = Tensor::zeros(DType::float32, {3 * world()->size() + 1});
  Tensor whole = Tensor::zeros(DType::int32, {3 * world()->size()});
  const auto scatter = reduce_scatters().at("ring").make({});
  const auto gather = all_gathers().at("bruck").make({});
  CHECK_THROWS_AS(scatter->start(*world(), all, mine), ShapeError);
  CHECK_THROWS_AS(gather->start(*world(), mine, all), ShapeError);
  CHECK_THROWS_AS(gather->start(*world(), mine, whole), TypeError);
  CHECK_THROWS_AS(broadcasts().at("chain").make({})->start(*world(), mine, world()->size()),
                  ValueError);
  CHECK_THROWS_AS(all_reduces().at("segmented_ring").make({{"segment_bytes", 0}}), ValueError);
  CHECK_THROWS_WITH(broadcasts().at("binomal"), Catch::Contains("binomial"));
}
