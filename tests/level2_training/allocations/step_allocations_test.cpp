// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "conformance/heap_watch.hpp"
#include "d5/level2_training/data/batch_step.hpp"
#include "d5/level2_training/data/transformed_dataset.hpp"
#include "tests/level2_training/encoded_images.hpp"

using namespace d5;

TEST_CASE("a chain of steps allocates nothing once it is warm") {
  std::vector<std::string> contents;
  for (const auto& [name, content] : testing::photographs(40)) contents.push_back(content);
  for (int i = 0; i < 3; ++i) contents.push_back(encode_png(testing::gradient(200 + i, 180)));
  const auto base = testing::encoded_dataset(contents);
  const std::vector<EntryChoice> steps{{"decode"},
                                       {"random_resized_crop", {{"size", 64}}},
                                       {"flip"},
                                       {"colour_jitter", {{"brightness", 0.4}, {"hue", 0.1}}},
                                       {"cutout"},
                                       {"pad"},
                                       {"crop", {{"size", 64}}},
                                       {"random_erasing"},
                                       {"normalise"}};
  const auto data = std::make_shared<TransformedDataset>(base, steps);
  const auto sampler =
      with_batch_steps(samplers().at("ordered").make(data, {{"batch_size", base->size()}}),
                       {{"mixup", {{"classes", base->size()}}}}, 1);
  for (const std::int64_t epoch : {0, 1}) {  // the second has what it needs from the first
    sampler->reset(0);
    const conformance::HeapWatch watch;
    REQUIRE(sampler->next());
    if (epoch == 0) {
      CHECK(watch.count() > 0);
      continue;
    }
    INFO(watch.first());
    CHECK(watch.count() == 0);
  }
}
