// SPDX-License-Identifier: Apache-2.0
// A custom optimizer: signSGD (Bernstein et al., ICML 2018). Registration makes it available to
// recipes. The formula alone gives it parameter groups, step modifiers and distributed training.
#include <array>
#include <cmath>
#include <iostream>

#include "d5/d5.hpp"

namespace {

struct SignSgdOptions {
  double learning_rate = 1e-3;
  void declare(d5::OptionList& options) {
    options.add("learning_rate", learning_rate, "step against the gradient's sign", {.least = 0});
  }
};

template <class T>
struct SignSgd {
  using Options = SignSgdOptions;
  static constexpr std::array<const char*, 0> kSlots{};  // it remembers nothing
  SignSgd(const Options& options, std::int64_t) : rate(T(options.learning_rate)) {}
  void operator()(T g, T& w) const {
    if (g != 0) w -= std::copysign(rate, g);
  }
  T rate;
};

}  // namespace

int main() {
  using namespace d5;
  optimizers().add(
      "signsgd", ElementOptimizer<SignSgd>::entry("sign of the gradient (Bernstein et al., 2018)"));

  const DatasetPair mnist = open_dataset("mnist");
  auto train = samplers().at("shuffle").make(mnist.train, {{"batch_size", 64}, {"seed", 1}});
  auto optimizer = optimizers().at("signsgd").make(
      make_executor(models().at("lenet").make({{"with_loss", true}})), "loss");

  Trainer trainer(*optimizer, *train, nullptr, {.most_batches = 60});
  const auto loss = [&] {
    train->reset(0);
    const ValueMap& batch = train->next()->values;
    return optimizer->executor().inference(batch).at("loss").tensor().item<float>();
  };
  const float before = loss();
  train->reset(0);
  trainer.run();
  const float after = loss();
  std::cout << "loss on one batch: " << before << " before, " << after << " after 60 steps\n";
  return after < before ? 0 : 1;
}
