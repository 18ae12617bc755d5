// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/decorators/wire_model.hpp"
#include "d5/level3_distributed/node/node_memory.hpp"
#include "level3_distributed/collectives/parts/measured_choice.hpp"
#include "tests/cache_folder.hpp"

using namespace d5;

TEST_CASE("auto sums by what was the fastest, and what was measured is kept for the next") {
  if (world()->size() == 1) return;
  const testing::OwnCacheFolder own;  // only rank 0's is used
  const auto first = all_reduces().at("auto").make(), second = all_reduces().at("auto").make();
  for (const std::int64_t size : {0, 1, 3000, 500'000}) {
    Tensor data = Tensor::zeros(DType::float32, {size});
    std::ranges::fill(data.span<float>(), 2);
    first->start(*world(), data)->wait();
    CHECK(std::ranges::all_of(data.span<float>(),
                              [](float x) { return x == 2.0f * float(world()->size()); }));
  }
  CHECK_FALSE(first->chosen().empty());
  // The same times to the last digit: nothing was measured again.
  const auto kept = detail::fastest_all_reduces(*world());
  const auto again = detail::fastest_all_reduces(*world());
  REQUIRE(kept.size() == again.size());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    CHECK(kept[i].name == again[i].name);
    CHECK(kept[i].seconds == again[i].seconds);
  }
  Tensor one = Tensor::zeros(DType::float32, {1});
  second->start(*world(), one)->wait();
  CHECK(second->chosen() == first->chosen());
}

TEST_CASE("ranks with modelled wires stand for machines, and meet in no memory") {
  if (world()->size() == 1) return;
  const auto wire = std::make_shared<WireModel>(world(), wire_of("1us,10GB/s"));
  CHECK(wire->medium().find("wire modelled") != std::string::npos);
  CHECK(node_group(*wire)->size() == 1);
  Tensor data = Tensor::zeros(DType::float32, {10});
  CHECK_THROWS_AS(all_reduces().at("node_memory").make()->start(*wire, data), Unsupported);
}

TEST_CASE("a choice reaches half way to the next size by ratio, and is described in words") {
  const std::vector<detail::FastestAllReduce> table{
      {4, "a", 1}, {256, "a", 1}, {4096, "b", 1}, {65'536, "c", 1}};
  CHECK(detail::reach_of(table, 0) == 32);
  CHECK(detail::reach_of(table, 1) == 1024);
  CHECK(detail::reach_of(table, 2) == 16'384);
  CHECK(detail::reach_of(table, 3) == SIZE_MAX);
  CHECK(detail::to_string(table) == "a to 1KiB, b to 16KiB, then c");
}
