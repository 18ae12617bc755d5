// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training_validation.hpp"
#include "d5/level2_training/index_sampler.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "points.hpp"

using namespace d5;

namespace {

/// Gives sample 0 in the place of sample 1, and another order each time it is made.
class BadSampler final : public IndexSampler {
 public:
  using IndexSampler::IndexSampler;

 private:
  void arrange(std::int64_t, EpochOrder& epoch) override {
    static std::int64_t made = 0;
    auto& order = epoch.samples;
    order[1] = 0;
    std::rotate(order.begin(), order.begin() + ++made % 3, order.end());
  }
};

/// SGD with a learning rate that is a thousandth too large.
class HastySgd final : public UpdateRuleOptimizer {
 public:
  using UpdateRuleOptimizer::UpdateRuleOptimizer;
  void update_rule(const Tensor& gradient, Parameter& parameter, std::size_t) override {
    for (std::int64_t i = 0; i < gradient.elements(); ++i) {
      parameter.value.data<float>()[i] -= 0.01001f * gradient.data<float>()[i];
    }
  }
  ValueMap rule_state() const override { return {}; }
  void restore_rule(const ValueMap&) override {}
};

const Measurement& named(const std::vector<Measurement>& results, const std::string& metric) {
  return *std::ranges::find(results, metric, &Measurement::metric);
}

}  // namespace

TEST_CASE("d5's samplers pass, with latency and bias measured") {
  for (const auto& [name, entry] : samplers().entries()) {
    CAPTURE(name);
    for (const std::string tail : {"keep", "drop"}) {
      const Settings settings{{"batch_size", 4}, {"tail", tail}, {"seed", 2}};
      const auto results = test_sampler(entry, test::points(31), settings);
      REQUIRE(results.size() == 4);
      for (const auto& result : results) CHECK(result.status == Status::passed);
      CHECK(std::int64_t(named(results, "dataset_latency").samples.size()) ==
            2 * entry.make(test::points(31), settings)->batches());
      CHECK(named(results, "dataset_bias").samples.size() == 3);
    }
  }
}

TEST_CASE("a sampler that repeats samples or forgets its order fails") {
  const auto results =
      test_sampler(SamplerEntry::of<BadSampler>("bad"), test::points(30), {{"batch_size", 4}});
  CHECK(named(results, "sampler_coverage").status == Status::failed);
  CHECK(named(results, "sampler_repeatability").status == Status::failed);
}

TEST_CASE("an optimizer agrees with itself, and begins with the reference's parameters") {
  const auto subject = test::points_optimizer("adam"), reference = test::points_optimizer("adam");
  reference->executor().network().parameter("w1").value.data<float>()[0] = 0.25f;
  const auto data = samplers().at("shuffle").make(test::points(40), {{"batch_size", 8}});
  const auto result = test_optimizer(*subject, *reference, *data, 12);
  CHECK(result.status == Status::passed);
  CHECK(result.samples == std::vector<double>(12, 0.0));
}

TEST_CASE("an optimizer that differs is told with the step") {
  HastySgd subject(make_executor(test::points_network()), "loss");
  const auto reference = test::points_optimizer("sgd");
  const auto data = samplers().at("shuffle").make(test::points(40), {{"batch_size", 8}});
  const auto result = test_optimizer(subject, *reference, *data, 5);
  CHECK(result.status == Status::failed);
  CHECK_THAT(result.reason, Catch::Contains("step 1"));
}
