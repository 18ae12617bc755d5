// SPDX-License-Identifier: Apache-2.0
// A custom sampler: forwards through the data set, and backwards in the next epoch. Registration
// makes it available to recipes, and it is checked against its law.
#include <algorithm>
#include <iostream>
#include <memory>

#include "d5/d5.hpp"

namespace {

class ThereAndBack final : public d5::IndexSampler {
 public:
  using IndexSampler::IndexSampler;

 private:
  void arrange(std::int64_t epoch, d5::EpochOrder& order) override {
    if (epoch % 2 == 1) std::ranges::reverse(order.samples);
  }
};

}  // namespace

int main() {
  using namespace d5;
  samplers().add("there-and-back", SamplerEntry::of<ThereAndBack>("every other epoch backwards"));

  const auto digits = open_dataset("mnist", {{"subset", "sample"}, {"train_samples", 100}}).train;
  const auto results = test_sampler(samplers().at("there-and-back"), digits, {{"batch_size", 32}});
  for (const Measurement& result : results) {
    std::cout << result.metric << ": " << name_of(result.status) << '\n';
  }

  const auto sampler = samplers().at("there-and-back").make(digits, {{"batch_size", 32}});
  sampler->read_ahead(2);
  sampler->reset(1);
  const std::int64_t first = sampler->next()->samples[0];
  std::cout << "epoch 1 begins with sample " << first << '\n';
  const bool passed = std::ranges::none_of(
      results, [](const Measurement& result) { return result.status == Status::failed; });
  return passed && first == 99 ? 0 : 1;
}
