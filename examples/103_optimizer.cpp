// SPDX-License-Identifier: Apache-2.0
// An optimizer of one's own: signSGD (Bernstein et al., ICML 2018). Registered, it can be named in
// a recipe; made distributable by nothing more than its update rule.
#include <cmath>
#include <iostream>

#include "d5/d5.hpp"

namespace {

class SignSgd final : public d5::UpdateRuleOptimizer {
 public:
  SignSgd(std::unique_ptr<d5::GraphExecutor> executor, std::string loss, float learning_rate)
      : UpdateRuleOptimizer(std::move(executor), std::move(loss)), learning_rate_(learning_rate) {}
  void update_rule(const d5::Tensor& gradient, d5::Parameter& parameter, std::size_t) override {
    const auto g = gradient.span<float>();
    const auto w = parameter.value.span<float>();
    for (std::size_t i = 0; i < w.size(); ++i) {
      if (g[i] != 0) w[i] -= std::copysign(learning_rate_, g[i]);
    }
  }

 private:
  float learning_rate_;
};

}  // namespace

int main() {
  using namespace d5;
  optimizers().add("signsgd", {.summary = "sign of the gradient (Bernstein et al., 2018)",
                               .make = [](auto executor, auto loss, const Settings& settings) {
                                 return std::make_unique<SignSgd>(
                                     std::move(executor), std::move(loss),
                                     float(settings.number("learning_rate", 1e-3)));
                               }});

  const DatasetPair mnist = datasets().at("mnist").open(Settings("dataset mnist"));
  auto train = samplers().at("shuffle").make(mnist.train, {.batch_size = 64, .seed = 1});
  auto optimizer = optimizers().at("signsgd").make(
      make_executor(models().at("lenet").make({.with_loss = true})), "loss", Settings("signsgd"));

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
