// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "conformance/heap_watch.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level1_network/source/models.hpp"

using namespace d5;

TEST_CASE("a step of decoding allocates nothing once it is warm") {
  const auto executor = make_executor(models().at("decoder").make({{"layers", 2},
                                                                   {"width", 32},
                                                                   {"heads", 4},
                                                                   {"kv_heads", 2},
                                                                   {"hidden", 48},
                                                                   {"vocabulary", 60},
                                                                   {"capacity", 12},
                                                                   {"slots", 2}}));
  ValueMap inputs{{"tokens", Tensor::of<std::int64_t>({2, 1}, {3, 4})},
                  {"starts", Tensor::vector<std::int64_t>({0, 0})},
                  {"places", Tensor::zeros(DType::int64, {2, 1, 1})}};
  for (std::int64_t step = 0; step < 5; ++step) {
    for (std::int64_t& start : inputs.at("starts").tensor().span<std::int64_t>()) start = step;
    const conformance::HeapWatch watch;
    (void)executor->inference(inputs);
    if (step == 0) {
      CHECK(watch.count() > 0);  // it compiles
      continue;
    }
    INFO(watch.first());
    CHECK(watch.count() == 0);
  }
}
