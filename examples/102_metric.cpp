// SPDX-License-Identifier: Apache-2.0
// A custom metric: the number of gradients announced by the executor, one sample per run.
#include <iostream>

#include "d5/d5.hpp"

namespace {

class GradientCount final : public d5::Metric, public d5::ExecutionEvent {
 public:
  std::string name() const override { return "gradient_count"; }
  std::string unit() const override { return "1"; }
  d5::Quantity quantity() const override { return d5::Quantity::count; }
  d5::Direction direction() const override { return d5::Direction::neither; }
  void begin(int repetitions) override {
    repetitions_ = repetitions;
    count_ = 0;
  }
  void gradient_ready(d5::Parameter&, std::size_t, d5::Stream&) override { ++count_; }
  void end() override { samples_.push_back(count_ / repetitions_); }
  void summarise(d5::Measurement& result) const override { result.samples = samples_; }

 private:
  double count_ = 0, repetitions_ = 1;
  std::vector<double> samples_;
};

}  // namespace

int main() {
  using namespace d5;
  auto executor = make_executor(models().at("lenet").make({{"with_loss", true}}));
  const ValueMap batch{{"image", Tensor::zeros(DType::float32, {1, 1, 28, 28})},
                       {"label", Tensor::vector<std::int64_t>({0})}};
  const Subject step{.record = {.subject = "lenet step"},
                     .run = [&] { executor->inference_and_backprop(batch, "loss"); },
                     .events = {&executor->events()}};
  const auto results = measure({step}, {[] { return std::make_shared<GradientCount>(); }});
  std::cout << to_table(results);
  const double expected = double(executor->network().parameters().size());
  return results.front().samples.front() == expected ? 0 : 1;
}
