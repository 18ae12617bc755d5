// SPDX-License-Identifier: Apache-2.0
// Against the headers of 0.1.0, each by its own name: a sampler, an optimizer, a transform and an
// event of a user's own, and a network that is measured, judged and trained with them.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>

#include "d5/core/entry.hpp"
#include "d5/core/framework.hpp"
#include "d5/core/measurement.hpp"
#include "d5/core/results.hpp"
#include "d5/core/tensor.hpp"
#include "d5/level0_ops/bench.hpp"
#include "d5/level0_ops/operator_validation.hpp"
#include "d5/level1_network/graph_executor.hpp"
#include "d5/level1_network/model_source.hpp"
#include "d5/level1_network/models.hpp"
#include "d5/level1_network/network.hpp"
#include "d5/level1_network/network_bench.hpp"
#include "d5/level1_network/network_validation.hpp"
#include "d5/level1_network/transform.hpp"
#include "d5/level2_training/dataset.hpp"
#include "d5/level2_training/element_optimizer.hpp"
#include "d5/level2_training/index_sampler.hpp"
#include "d5/level2_training/optimizer.hpp"
#include "d5/level2_training/recipe.hpp"
#include "d5/level2_training/sampler.hpp"
#include "d5/level2_training/trainer.hpp"
#include "d5/level2_training/training_event.hpp"
#include "d5/level3_distributed/communicator.hpp"

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
  static constexpr std::array<const char*, 0> kSlots{};
  SignSgd(const Options& options, std::int64_t) : rate(T(options.learning_rate)) {}
  void operator()(T g, T& w) const {
    if (g != 0) w -= std::copysign(rate, g);
  }
  T rate;
};

class ThereAndBack final : public d5::IndexSampler {
 public:
  using IndexSampler::IndexSampler;

 private:
  void arrange(std::int64_t epoch, d5::EpochOrder& order) override {
    if (epoch % 2 == 1) std::ranges::reverse(order.samples);
  }
};

class NothingToDo final : public d5::Transform {
 public:
  d5::TransformReport apply(d5::Network&) const override { return {}; }
};

}  // namespace

int main() {
  using namespace d5;
  optimizers().add("signsgd", ElementOptimizer<SignSgd>::entry("sign of the gradient"));
  samplers().add("there-and-back", SamplerEntry::of<ThereAndBack>("every other epoch backwards"));
  transforms().add("nothing", TransformEntry::of<NothingToDo>("changes nothing"));

  const auto times = bench("org.example.Triple 2x3",
                           {.frameworks = {"before"}, .passes = BenchOptions::Passes::forward});
  Network network = models().at("lenet").make({{"with_loss", true}, {"seed", 1}});
  (void)apply_transforms(network, {{"nothing"}});
  auto executor = make_executor(network, {.frameworks = {"reference"}});
  auto optimizer = optimizers().at("signsgd").make(std::move(executor), "loss");
  const DatasetPair digits = open_dataset("mnist", {{"subset", "sample"}});
  auto data = samplers().at("there-and-back").make(digits.train, {{"batch_size", 32}});
  Trainer trainer(*optimizer, *data, nullptr, {.most_batches = 5});
  trainer.run();
  std::printf("%zu records, %d ranks\n", times.size(), world()->size());
  return exit_status(times) == 0 && world()->size() == 1 ? 0 : 1;
}
