// SPDX-License-Identifier: Apache-2.0
// Refusals by schemes with separate parameters on each rank: typed, on every rank, before any
// message.
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "tests/level3_distributed/decentralized/quadratic.hpp"

using namespace d5;
using namespace d5::testing;
using Catch::Contains;

namespace {

std::shared_ptr<DistributedOptimizer> over(std::shared_ptr<ThreeStepOptimizer> rule,
                                           const std::string& name = "consistent_neighbors") {
  return distributed_optimizers().at(name).make(std::move(rule), world(), {});
}

}  // namespace

TEST_CASE("numbers out of range are refused by their names") {
  CHECK_THROWS_WITH(scheme("model_averaging", {{"every", 0}}), Contains("every"));
  CHECK_THROWS_WITH(scheme("post_local", {{"every", 0}}), Contains("every"));
  CHECK_THROWS_WITH(scheme("post_local", {{"until", -1}}), Contains("until"));
  CHECK_THROWS_WITH(scheme("slow_momentum", {{"every", 0}}), Contains("every"));
  CHECK_THROWS_WITH(scheme("slow_momentum", {{"alpha", 0}}), Contains("alpha"));
  CHECK_THROWS_WITH(scheme("slow_momentum", {{"beta", 1}}), Contains("beta"));
  CHECK_THROWS_WITH(scheme("elastic_averaging", {{"rho", -0.1}}), Contains("rho"));
  CHECK_THROWS_AS(scheme("elastic_averaging", {{"rho", -0.1}}), ValueError);
  CHECK_THROWS_WITH(scheme("elastic_averaging", {{"beta", 1.1}}), Contains("beta"));
}

TEST_CASE("a center that would overshoot is refused in the first step, on every rank") {
  const auto elastic = scheme("elastic_averaging", {{"rho", 6}}, 0.2);
  CHECK_THROWS_WITH(elastic->step(kDifferent.batch()), Contains("lower rho"));
}

TEST_CASE("a topology that is unknown, or cannot have so many ranks, is refused") {
  CHECK_THROWS_AS(scheme("consistent_neighbors", {{"topology", "rings"}}), NotFound);
  if (rank_count != 3) return;
  CHECK_THROWS_WITH(scheme("consistent_neighbors", {{"topology", "hypercube"}}),
                    Contains("power of 2"));
}

TEST_CASE("d2 tells of a topology on -1/3, and that lazy helps") {
  if (rank_count != 4) return;
  CHECK_THROWS_AS(scheme("d2"), ValueError);
  CHECK_THROWS_WITH(scheme("d2"), Contains("lazy=true"));
  CHECK_NOTHROW(scheme("d2", {{"lazy", true}}));
}

TEST_CASE("rules that remember places of their own are refused by name") {
  for (const char* name : {"schedule_free_sgd", "schedule_free_adamw"}) {
    CHECK_THROWS_AS(over(local_optimizer(name, 0.1)), Unsupported);
    CHECK_THROWS_WITH(over(local_optimizer(name, 0.1)), Contains("'z/x'"));
  }
  const auto lbfgs = [] {
    return std::dynamic_pointer_cast<ThreeStepOptimizer>(
        optimizers().at("lbfgs").make(make_executor(quadratic(0)), "loss"));
  };
  CHECK_THROWS_WITH(over(lbfgs(), "model_averaging"), Contains("quasi-Newton"));
  const auto accelegrad = [] {
    return std::dynamic_pointer_cast<ThreeStepOptimizer>(
        optimizers().at("accelegrad").make(make_executor(quadratic(0)), "loss"));
  };
  CHECK_THROWS_WITH(over(accelegrad()), Contains("'z/x'"));
  const auto lookahead = [] {
    auto rule = local_optimizer("sgd", 0.1);
    rule->add(step_modifiers().at("lookahead").make());
    return rule;
  };
  CHECK_THROWS_WITH(over(lookahead()), Contains("lookahead"));
}

TEST_CASE("d2 is plain descent's alone") {
  CHECK_THROWS_AS(scheme("d2", {{"lazy", true}}, 0.1, "momentum"), Unsupported);
  CHECK_THROWS_WITH(scheme("d2", {{"lazy", true}}, 0.1, "momentum"), Contains("velocity"));
  CHECK_THROWS_WITH(scheme("d2", {{"lazy", true}}, 0.1, "adam"), Contains("choose optimizer sgd"));
}

TEST_CASE("parameters of 16 bits are refused, whose masters nobody would mix") {
  for (const DType dtype : {DType::float16, DType::bfloat16}) {
    Network network("short");
    network.add_input("y", dtype, {1});
    network.add_parameter("x", Tensor::zeros(dtype, {1}));
    network.add_node("Mul", {"x", "y"}, {"loss"});
    network.add_output("loss");
    const auto rule = std::dynamic_pointer_cast<ThreeStepOptimizer>(
        optimizers().at("sgd").make(make_executor(network), "loss", {{"learning_rate", 0.1}}));
    CHECK_THROWS_AS(over(rule), TypeError);
    CHECK_THROWS_WITH(over(rule), Contains("masters"));
  }
}

TEST_CASE("edges along which some rank reaches nobody are refused") {
  if (rank_count == 1) return;
  CHECK_THROWS_AS(scheme("push_sum", {{"edges", "/dev/null"}}), ValueError);
  CHECK_THROWS_WITH(scheme("push_sum", {{"edges", "/dev/null"}}), Contains("strongly connected"));
}
