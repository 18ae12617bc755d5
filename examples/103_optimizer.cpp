// SPDX-License-Identifier: Apache-2.0
// An optimizer of one's own: signSGD (Bernstein et al., ICML 2018). Registered, it can be named in
// a recipe; made distributable by nothing more than its update rule.
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

class SignSgd final : public d5::UpdateRuleOptimizer {
 public:
  using Options = SignSgdOptions;
  SignSgd(std::shared_ptr<d5::GraphExecutor> executor, std::string loss, const Options& options)
      : UpdateRuleOptimizer(std::move(executor), std::move(loss)),
        learning_rate_(float(options.learning_rate)) {}
  void update_rule(const d5::Tensor& gradient, d5::Parameter& parameter, std::size_t) override {
    const auto g = gradient.span<float>();
    const auto w = parameter.value.span<float>();
    for (std::size_t i = 0; i < w.size(); ++i) {
      if (g[i] != 0) w[i] -= std::copysign(learning_rate_, g[i]);
    }
  }
  // It remembers nothing that a checkpoint would have to keep.
  d5::ValueMap state() const override { return {}; }
  void restore(const d5::ValueMap&) override {}

 private:
  float learning_rate_;
};

}  // namespace

int main() {
  using namespace d5;
  optimizers().add("signsgd",
                   OptimizerEntry::of<SignSgd>("sign of the gradient (Bernstein et al., 2018)"));

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
