// SPDX-License-Identifier: Apache-2.0
// Agreement in schemes that exchange no gradients.
#include <array>
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/level2_training/optimization/step_modifier.hpp"
#include "d5/level3_distributed/communicator/communicator_agreement.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "tests/level2_training/points.hpp"

using namespace d5;

namespace {

/// Each rank steps along its own gradients; then all have the mean of their parameters.
class AveragedParameters final : public DistributedOptimizer {
 public:
  using DistributedOptimizer::DistributedOptimizer;
  const ValueMap& step(const Batch& batch) override {
    const ValueMap& outputs = local().step(batch);
    for (Parameter& parameter : executor().network().parameters()) {
      communicator().all_reduce(parameter.value);
      communicator().scale_local(parameter.value, 1.0 / communicator().size());
    }
    return outputs;
  }
};

std::shared_ptr<ThreeStepOptimizer> points(const Settings& settings) {
  return std::dynamic_pointer_cast<ThreeStepOptimizer>(
      open_optimizer("sgd", make_executor(test::points_network()), "loss", settings));
}

/// Each rank is left with its share of the parameters' gradients, which are the same on all.
class Shares final : public GradientDecorator {
 public:
  using GradientDecorator::GradientDecorator;
  const ValueMap& run(const Batch& batch, const GradientRun& how) override {
    return inner().run(batch, how);
  }
  ParameterRange finish(std::size_t part) override {
    const ParameterRange all = GradientDecorator::finish(part);
    const auto rank = std::size_t(world()->rank());
    const bool is_last = world()->rank() + 1 == world()->size();
    const ParameterRange mine{rank, is_last ? all.end : rank + 1};
    auto& parameters = executor().network().parameters();
    for (std::size_t i = 0; i < all.end; ++i) {  // the other ranks' parts are zero here
      if (i < mine.begin || i >= mine.end) {
        for (float& g : parameters[i].gradient.span<float>()) g = NAN;
      }
    }
    return mine;
  }
  bool in_shares() override { return world()->size() > 1; }
};

/// Fails unless all ranks give the same bits.
void check_same_number(Communicator& group, double mine) {
  Tensor all = Tensor::empty(DType::float64, {group.size()});
  group.all_gather(Tensor::of<double>({1}, {mine}), all);
  for (const double theirs : all.span<double>()) CHECK(theirs == mine);
}

/// Each rank's own points; rank 0's are so far out that it learns something else.
std::shared_ptr<Sampler> own_points(double largest = 1) {
  const int rank = world()->rank();
  auto data = test::points(40, std::uint64_t(rank) + 1);
  std::vector<std::pair<std::string, Tensor>> fields;
  Tensor x = Tensor::empty(DType::float32, {40, 2}), label = Tensor::empty(DType::int64, {40});
  const auto all = samplers().at("ordered").make(data, {{"batch_size", 40}});
  const Batch& batch = *all->next();
  x.copy_from(batch.values.at("x").tensor());
  label.copy_from(batch.values.at("label").tensor());
  if (rank == 0) {
    for (float& value : x.span<float>()) value *= float(largest);
  }
  return samplers().at("ordered").make(
      std::make_shared<TensorDataset>(
          "own points", std::vector<std::pair<std::string, Tensor>>{{"x", x}, {"label", label}}),
      {{"batch_size", 4}});
}

}  // namespace

TEST_CASE("sums over ranks are the same bits on each, and those of the order of ranks") {
  for (int size = 1; size <= world()->size(); ++size) {
    const auto group = world()->split(world()->rank() < size ? 0 : -1);
    if (!group) continue;
    CommunicatorAgreement agreement(group);
    CHECK(agreement.ranks() == size);
    const int rank = group->rank();
    // 1 + 1e16 - 1e16 is 0, in another order 1.
    const std::array terms{1.0, 1e16, -1e16, 0.1};
    double expected = 0;
    for (int r = 0; r < size; ++r) expected += terms.at(std::size_t(r));
    std::array values{terms.at(std::size_t(rank)), double(rank)};
    agreement.sum(values);
    CHECK(values[0] == expected);
    CHECK(values[1] == size * (size - 1) / 2);
    // Rank r has r + 1 samples of value r.
    double weighted = 0, weight = 0;
    for (int r = 0; r < size; ++r) weighted += r * (r + 1), weight += r + 1;
    CHECK(agreement.mean(rank, rank + 1) == weighted / weight);
    CHECK(agreement.any(rank == size - 1));
    CHECK_FALSE(agreement.any(false));
  }
}

TEST_CASE("without an exchange of gradients a plateau changes every rank's rate in one step") {
  for (const char* loss : {"training", "test"}) {
    CAPTURE(loss);
    const auto local = points({{"learning_rate", 0.5},
                               {"schedules.learning_rate.name", "plateau"},
                               {"schedules.learning_rate.loss", loss},
                               {"schedules.learning_rate.factor", 0.5},
                               {"schedules.learning_rate.patience", 0}});
    AveragedParameters scheme(local, world());
    CHECK(local->agreement().ranks() == world()->size());
    const auto sampler = own_points();
    int changes = 0;
    double rate = 0.5;
    while (const Batch* batch = sampler->next()) {
      const double mine = scheme.step(*batch).at("loss").tensor().item<float>();
      scheme.tested(mine, batch->size);
      const double now = scheme.hyper_parameters().at("learning_rate");
      check_same_number(*world(), now);
      changes += now != rate;
      rate = now;
    }
    CHECK(changes > 1);
    CHECK(rate < 0.5);
  }
}

TEST_CASE("without an exchange of gradients one rank's overflow refuses the step on all") {
  // Gradients of rank 0 are some 1e4 times those of the others: times 1e37 they overflow.
  const auto local = points({{"learning_rate", 1e-6},
                             {"modifiers.0.name", "loss_scale"},
                             {"modifiers.0.initial", 1e37},
                             {"modifiers.0.most", 1e37}});
  AveragedParameters scheme(local, world());
  const auto sampler = own_points(1e4);
  while (const Batch* batch = sampler->next()) {
    scheme.step(*batch);
    check_same_number(*world(), local->modifiers().front()->loss_factor());
    check_same_number(*world(), double(local->refused_steps()));
  }
  CHECK(local->refused_steps() > 0);
}

TEST_CASE("clip_norm limits the norm of all gradients where each rank holds a share of them") {
  const Settings clipped{{"modifiers.0.name", "clip_norm"}, {"modifiers.0.most", 0.01}};
  const auto whole = points(clipped), shared = points(clipped);
  shared->add_gradient_layer(
      ThreeStepOptimizer::GradientLayer::exchanged,
      [](std::shared_ptr<GradientSource> inner) { return std::make_shared<Shares>(inner); });
  const AveragedParameters scheme(shared, world());
  const auto sampler = samplers().at("ordered").make(test::points(8), {{"batch_size", 8}});
  const Batch& batch = *sampler->next();
  const std::vector<float> before = test::parameters(*whole);
  whole->step(batch);
  shared->step(batch);
  CHECK(test::parameters(*whole) != before);
  REQUIRE(shared->final_gradients().size() == 1);
  const auto [begin, end] = shared->final_gradients().front();
  const auto& expected = whole->executor().network().parameters();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Parameter& parameter = shared->executor().network().parameters()[i];
    const bool mine = i >= begin && i < end;
    for (std::int64_t e = 0; e < parameter.value.elements(); ++e) {
      const float now = parameter.value.data<float>()[e];
      // Values below 2 that one factor, known to 2^-53, has moved; the others do not matter.
      if (mine) CHECK(std::abs(now - expected[i].value.data<float>()[e]) <= 2.4e-7f);
      if (!mine) CHECK(std::isfinite(now));
    }
  }
}

TEST_CASE("a scheme gives the ranks that train an agreement of their own") {
  const auto local = points({});
  const AveragedParameters scheme(local, world());
  const bool trains = world()->rank() % 2 == 0;
  const auto group = world()->split(trains ? 0 : 1);
  local->set_agreement(std::make_shared<CommunicatorAgreement>(group));
  CHECK(local->agreement().sum(1.0) == group->size());
  CHECK(local->agreement().any(trains) == trains);
}
