// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "d5/level2_training/optimization/step_modifier.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/level3_distributed/samples/distributed_sampler.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "tests/level2_training/points.hpp"

using namespace d5;

namespace {

std::shared_ptr<Optimizer> alone(const std::string& name, const Settings& settings) {
  return open_optimizer(name, make_executor(test::points_network()), "loss", settings);
}

std::shared_ptr<Optimizer> shared(const std::string& name, const Settings& settings) {
  return distributed_optimizers()
      .at("consistent_decentralized")
      .make(std::dynamic_pointer_cast<ThreeStepOptimizer>(alone(name, settings)), world());
}

/// After an epoch on all ranks and on one: the largest difference, the same on every rank.
double difference(const std::string& name, const Settings& settings) {
  const int n = world()->size();
  const auto data = test::points(36);
  const auto parts = shared(name, settings), whole = alone(name, settings);
  const auto mine = distributed_sampler(data, samplers().at("shuffle"),
                                        {{"batch_size", 12 / n}, {"seed", 3}}, world()->rank(), n);
  const auto all = samplers().at("shuffle").make(data, {{"batch_size", 12}, {"seed", 3}});
  while (const Batch* batch = all->next()) {
    whole->step(*batch);
    const Batch* part = mine->next();
    REQUIRE(part);
    parts->step(*part);
  }
  parts->tested(0.5, 44);
  const auto a = test::parameters(*parts), b = test::parameters(*whole);
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(double(a[i]) - double(b[i])));
  }
  Tensor sizes = Tensor::empty(DType::float64, {n});
  world()->all_gather(Tensor::of<double>({1}, {largest}), sizes);
  for (const double size : sizes.span<double>()) CHECK(size == largest);
  return largest;
}

}  // namespace

TEST_CASE("what stands around an optimizer does on n ranks what it does on one") {
  // Sums over samples in another order: roundings of 2^-24, which three steps enlarge.
  for (const char* modifiers :
       {"accumulate", "sam", "accumulate,sam", "clip_norm", "loss_scale,clip_norm", "lookahead"}) {
    CAPTURE(modifiers);
    CHECK(difference("momentum", {{"modifiers", modifiers}}) < 5e-6);
  }
  CHECK(difference("sgd", {{"modifiers.0.name", "evolution"}, {"modifiers.0.deviation", 0.5}}) <
        5e-6);
}

TEST_CASE("a plateau of the training loss sees the loss of all ranks") {
  CHECK(difference("sgd", {{"schedules.learning_rate.name", "plateau"},
                           {"schedules.learning_rate.loss", "training"},
                           {"schedules.learning_rate.patience", 0},
                           {"schedules.learning_rate.threshold", 0.9}}) < 5e-6);
}

TEST_CASE("L-BFGS takes the same way on every rank") {
  // Line searches divide by differences of losses, which are known to float32 alone.
  CHECK(difference("lbfgs", {{"iterations", 2}}) < 1e-3);
}
