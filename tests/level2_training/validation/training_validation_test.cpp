// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/validation/training_validation.hpp"
#include "d5/level2_training/data/index_sampler.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/core/svg_texts.hpp"
#include "tests/level2_training/points.hpp"

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

/// The same rule with a rounding more: the product's.
class RoundingSgd final : public UpdateRuleOptimizer {
 public:
  RoundingSgd(std::shared_ptr<GraphExecutor> executor, double rate)
      : UpdateRuleOptimizer(std::move(executor), "loss"), rate_(rate) {}
  void update_rule(const Tensor& gradient, Parameter& parameter, std::size_t) override {
    for (std::int64_t i = 0; i < gradient.elements(); ++i) {
      float& value = parameter.value.data<float>()[i];
      value = float(double(value) - double(float(rate_ * double(gradient.data<float>()[i]))));
    }
  }
  ValueMap rule_state() const override { return {}; }
  void restore_rule(const ValueMap&) override {}

 private:
  double rate_;
};

/// Adam with beta1 for the second moment, as Deep500's published code had it.
class WrongAdam final : public UpdateRuleOptimizer {
 public:
  using UpdateRuleOptimizer::UpdateRuleOptimizer;
  void new_input() override { ++step_; }
  void update_rule(const Tensor& gradient, Parameter& parameter, std::size_t index) override {
    moments_.resize(std::max(moments_.size(), index + 1));
    auto& moments = moments_[index];
    moments.resize(std::size_t(gradient.elements()));
    const double beta = 0.9, correction = 1 - std::pow(beta, step_);
    for (std::int64_t i = 0; i < gradient.elements(); ++i) {
      const double g = double(gradient.data<float>()[i]);
      auto& [m, v] = moments[std::size_t(i)];
      m = beta * m + (1 - beta) * g;
      v = beta * v + (1 - beta) * g * g;
      parameter.value.data<float>()[i] -=
          float(0.001 * (m / correction) / (std::sqrt(v / correction) + 1e-8));
    }
  }
  ValueMap rule_state() const override { return {}; }
  void restore_rule(const ValueMap&) override {}

 private:
  int step_ = 0;
  std::vector<std::vector<std::pair<double, double>>> moments_;
};

/// Points whose classes nothing tells: with a large rate no trajectory comes to rest.
std::shared_ptr<const Dataset> noise(std::int64_t count) {
  std::vector<float> x;
  std::vector<std::int64_t> labels;
  RandomStream random(5);
  for (std::int64_t i = 0; i < count; ++i) {
    x.push_back(random.normal());
    x.push_back(random.normal());
    labels.push_back(std::int64_t(random.below(3)));
  }
  return std::make_shared<TensorDataset>(
      "noise", std::vector<std::pair<std::string, Tensor>>{
                   {"x", Tensor::of<float>({count, 2}, std::span<const float>(x))},
                   {"label", Tensor::vector(labels)}});
}

const Measurement& named_record(const std::vector<Measurement>& results,
                                const std::string& metric) {
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
      CHECK(std::int64_t(named_record(results, "dataset_latency").samples.size()) ==
            2 * entry.make(test::points(31), settings)->batches());
      CHECK(named_record(results, "dataset_bias").samples.size() == 3);
    }
  }
}

TEST_CASE("a sampler that repeats samples or forgets its order fails") {
  const auto results =
      test_sampler(SamplerEntry::of<BadSampler>("bad"), test::points(30), {{"batch_size", 4}});
  CHECK(named_record(results, "sampler_coverage").status == Status::failed);
  CHECK(named_record(results, "sampler_repeatability").status == Status::failed);
}

TEST_CASE("an optimizer agrees with itself, and begins with the reference's parameters") {
  const auto subject = test::points_optimizer("adam"), reference = test::points_optimizer("adam");
  reference->executor().network().parameter("w1").value.data<float>()[0] = 0.25f;
  const auto data = samplers().at("shuffle").make(test::points(40), {{"batch_size", 8}});
  const auto result = test_optimizer(*subject, *reference, *data, 12);
  CHECK(result.status == Status::passed);
  CHECK(result.samples == std::vector<double>(12, 0.0));
}

TEST_CASE("an optimizer that differs is reported with the step") {
  HastySgd subject(make_executor(test::points_network()), "loss");
  const auto reference = test::points_optimizer("sgd");
  const auto data = samplers().at("shuffle").make(test::points(40), {{"batch_size", 8}});
  const auto result = test_optimizer(subject, *reference, *data, 5);
  CHECK(result.status == Status::failed);
  CHECK_THAT(result.reason, Catch::Contains("step 1"));
}

TEST_CASE(
    "in the open loop rounding remains, in the closed one chaos may show, which is no failure") {
  const double rate = 9.1;
  const auto rounding = [=] {
    return std::make_shared<RoundingSgd>(make_executor(test::points_network()), rate);
  };
  const auto plain = [=] { return test::points_optimizer("sgd", {{"learning_rate", rate}}); };
  const auto data = samplers().at("shuffle").make(noise(40), {{"batch_size", 8}});
  const auto judged = test_optimizer(rounding, plain, *data, 600);
  const Measurement& closed = named_record(judged.records, "trajectory_difference");
  const Measurement& open = named_record(judged.records, "rule_difference");
  CHECK(open.status == Status::passed);
  CHECK(estimate(open).value > 0);
  CHECK(estimate(closed).value > 1000 * estimate(open).value);
  CHECK(closed.status == Status::passed);
  CHECK_THAT(closed.conditions.at("chaos").text(), Catch::Contains("differ by"));
}

TEST_CASE("a rule that is wrong from its second step on is reported, in both loops") {
  const auto wrong = [] {
    return std::make_shared<WrongAdam>(make_executor(test::points_network()), "loss");
  };
  const auto right = [] { return test::points_optimizer("adam"); };
  const auto data = samplers().at("shuffle").make(test::points(40), {{"batch_size", 8}});
  const auto judged = test_optimizer(wrong, right, *data, 20);
  const Measurement& open = named_record(judged.records, "rule_difference");
  CHECK(open.status == Status::failed);
  CHECK_THAT(open.reason, Catch::Contains("step 2"));
  CHECK(named_record(judged.records, "trajectory_difference").status == Status::failed);
}

TEST_CASE("the difference of each parameter has its two norms at each step") {
  const auto hasty = [] {
    return std::make_shared<HastySgd>(make_executor(test::points_network()), "loss");
  };
  const auto plain = [] { return test::points_optimizer("sgd"); };
  const auto data = samplers().at("shuffle").make(test::points(40), {{"batch_size", 8}});
  const auto judged = test_optimizer(hasty, plain, *data, 3);
  CHECK(judged.records.size() == 2 + 2 * 2 * 4);
  REQUIRE(judged.closed.parameters.size() == 4);
  for (const auto& parameter : judged.closed.parameters) {
    REQUIRE(parameter.l2.size() == 3);
    REQUIRE(parameter.largest.size() == 3);
  }
  // b2 begins with 0.5 N(0, 1); one step of either moves it by rate * gradient: worked out here.
  const auto one = plain();
  Network& network = one->executor().network();
  std::vector<float> before, after;
  const auto values = [&] {
    const auto span = network.parameter("b2").value.span<float>();
    return std::vector<float>(span.begin(), span.end());
  };
  before = values();
  data->reset(0);
  one->step(*data->next());
  after = values();
  double difference = 0, norm = 0, largest = 0, size = 0;
  for (std::size_t i = 0; i < after.size(); ++i) {
    const double apart = std::abs(0.001 * double(after[i] - before[i]));
    difference += apart * apart;
    largest = std::max(largest, apart);
    norm += double(after[i]) * double(after[i]);
    size = std::max(size, std::abs(double(after[i])));
  }
  const auto& all = judged.open.parameters;
  const auto& b2 = *std::ranges::find(all, "b2", &Divergence::OfParameter::name);
  // The differences are some units in the last place of the values, whose rounding they have.
  CHECK(b2.l2[0] == Approx(std::sqrt(difference / norm)).margin(1.2e-7));
  CHECK(b2.largest[0] == Approx(largest / size).margin(1.2e-7));
}

TEST_CASE("the picture has a line a parameter in each loop, on a logarithmic axis") {
  const Divergence closed{.parameters = {{"w", {1e-7, 1e-3}, {}}, {"b", {1e-8, 1e-4}, {}}}};
  const Plot plot = divergence_plot("adam", closed, {.parameters = {{"w", {1e-8, 2e-8}, {}}}});
  CHECK(plot.series == std::vector<std::string>{"w", "b"});
  REQUIRE(plot.marks.size() == 3);
  CHECK(plot.y.scale == PlotAxis::Scale::logarithmic);
  CHECK(plot.marks[1].points[1].x == 2);
  CHECK(plot.marks[1].points[1].y == 1e-3);
  CHECK(testing::faults_of_texts(plot) == "");
}

TEST_CASE("an optimizer is its own again after an open loop") {
  const auto subject = test::points_optimizer("momentum");
  const auto reference = test::points_optimizer("momentum");
  const auto data = samplers().at("shuffle").make(test::points(40), {{"batch_size", 8}});
  (void)divergence(*subject, *reference, *data, 3, Loop::open);
  const auto apart = divergence(*subject, *reference, *data, 3, Loop::closed);
  CHECK(apart.largest() == std::vector<double>(3, 0.0));
}
