// SPDX-License-Identifier: Apache-2.0
// A step that weighs, clips and updates in one sweep, compared with separate passes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "d5/level2_training/training/training_metric.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "tests/level1_network/wrapped_executor.hpp"
#include "tests/level2_training/points.hpp"

using namespace d5;

namespace {

/// loss = mean of (x w + b)^2 over small whole numbers: sums of its gradients are exact.
Network whole_numbers() {
  Network network("whole");
  network.add_input("x", DType::float32, {"N", 2});
  network.add_parameter("w", Tensor::of<float>({2, 4}, {1, -2, 0, 3, -1, 2, 1, -3}));
  network.add_parameter("b", Tensor::of<float>({4}, {2, 0, -1, 1}));
  network.add_node("Gemm", {"x", "w", "b"}, {"y"});
  network.add_node("Mul", {"y", "y"}, {"square"});
  network.add_node("ReduceMean", {"square"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("loss");
  return network;
}

/// This rank's two samples of step `step`.
Batch samples_of(std::int64_t step) {
  Tensor x = Tensor::empty(DType::float32, {2, 2});
  for (std::int64_t i = 0; i < 4; ++i) {
    x.data<float>()[i] = float((i + step + world()->rank()) % 4 - 1);
  }
  Batch batch;
  batch.values["x"] = x;
  batch.size = 2;
  batch.global_size = 2 * world()->size();
  return batch;
}

std::shared_ptr<ThreeStepOptimizer> local_optimizer(std::shared_ptr<GraphExecutor> executor,
                                                    const std::string& modifier, double most,
                                                    const std::string& rule = "adam") {
  auto local = std::dynamic_pointer_cast<ThreeStepOptimizer>(
      optimizers().at(rule).make(std::move(executor), "loss"));
  if (!modifier.empty()) local->add(step_modifiers().at(modifier).make({{"most", most}}));
  return local;
}

std::shared_ptr<DistributedOptimizer> distributed_by(std::shared_ptr<ThreeStepOptimizer> local,
                                                     const std::string& exchange) {
  return distributed_optimizers()
      .at("consistent_decentralized")
      .make(std::move(local), world(),
            Settings{{"all_reduce", "ring"}, {"exchange", exchange}, {"bucket_bytes", 16}});
}

/// Weight, sum, clip and update one after the other, each over all gradients.
void step_in_passes(ThreeStepOptimizer& optimizer, const Batch& batch, const std::string& clip,
                    double most) {
  optimizer.begin_step(batch);
  (void)optimizer.run_gradients(batch);
  auto& parameters = optimizer.executor().network().parameters();
  double squares = 0;
  for (Parameter& parameter : parameters) {
    for (float& g : parameter.gradient.span<float>()) g *= 1.0f / float(world()->size());
    world()->all_reduce(parameter.gradient);
    for (const float g : parameter.gradient.span<float>()) squares += double(g) * double(g);
  }
  const double norm = std::sqrt(squares);
  for (Parameter& parameter : parameters) {
    for (float& g : parameter.gradient.span<float>()) {
      if (clip == "clip_norm" && norm > most) g *= float(most / norm);
      if (clip == "clip_value") g = std::clamp(g, -float(most), float(most));
    }
  }
  REQUIRE(optimizer.begin_updates());
  for (std::size_t i = 0; i < parameters.size(); ++i) optimizer.update(i);
  optimizer.end_step();
}

double difference_to(Network& a, Network& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.parameters().size(); ++i) {
    const auto x = a.parameters()[i].value.span<float>(), y = b.parameters()[i].value.span<float>();
    for (std::size_t k = 0; k < x.size(); ++k) {
      largest = std::max(largest, std::abs(double(x[k]) - double(y[k])));
    }
  }
  return largest;
}

/// Cannot multiply the loss.
class WithoutFactor final : public testing::WrappedExecutor {
 public:
  explicit WithoutFactor(std::unique_ptr<GraphExecutor> inner)
      : WrappedExecutor("plain", std::move(inner)) {}
  const ValueMap& inference(const ValueMap& inputs) override { return inner().inference(inputs); }
  const ValueMap& inference_and_backprop(const ValueMap& inputs, std::string_view loss) override {
    return inner().inference_and_backprop(inputs, loss);
  }
  void set_loss_factor(double factor) override { GraphExecutor::set_loss_factor(factor); }
};

std::vector<double> norms_of(Optimizer& optimizer) {
  const auto data = test::points_sampler(12, 4);
  data->take_part(world()->rank(), world()->size());
  Trainer trainer(optimizer, *data, nullptr);
  const auto norm = std::dynamic_pointer_cast<TrainingMetric>(metrics().at("gradient_norm").make());
  trainer.events().add(norm);
  try {
    trainer.run();
  } catch (const NumericError&) {  // parameters that do not change are an error
  }
  return norm->samples();
}

}  // namespace

TEST_CASE("one sweep has the bits of passes for weight, clip and update") {
  for (const std::string clip : {"", "clip_norm", "clip_value"}) {
    for (const std::string exchange : {"dense", "sharded"}) {
      CAPTURE(clip, exchange);
      const double most = 0.375;
      const auto fused =
          distributed_by(local_optimizer(make_executor(whole_numbers()), clip, most), exchange);
      const auto passes = local_optimizer(make_executor(whole_numbers()), "", 0);
      const bool rounds = world()->size() == 3;  // a share of 1/3
      for (std::int64_t step = 0; step < (rounds ? 1 : 3); ++step) {
        // Sums are exact in the first step alone; two ranks' are the same in any order.
        if (step > 0 && world()->size() > 2) break;
        fused->step(samples_of(step));
        step_in_passes(*passes, samples_of(step), clip, most);
      }
      const double found = difference_to(fused->executor().network(), passes->executor().network());
      // Shards' norms are added in another order: 2^-53 of it, and 2^-24 of a factor that this
      // rounds otherwise, of which Adam makes as much of a step of 0.001.
      if (rounds || (clip == "clip_norm" && exchange == "sharded")) {
        CHECK(found < 1e-6);
      } else {
        CHECK(found == 0);
      }
    }
  }
}

TEST_CASE("an executor without a factor on the loss has its gradients weighed after it") {
  const auto plain =
      distributed_by(local_optimizer(make_executor(whole_numbers()), "", 0, "sgd"), "dense");
  const auto weighed = distributed_by(
      local_optimizer(std::make_shared<WithoutFactor>(make_executor(whole_numbers())), "", 0,
                      "sgd"),
      "dense");
  plain->step(samples_of(0));
  weighed->step(samples_of(0));
  const double found = difference_to(plain->executor().network(), weighed->executor().network());
  // Powers of two are exact; 1/3 rounds, by 2^-24 of gradients below 16 at a rate of 0.01.
  CHECK(found <= (world()->size() == 3 ? 16 * 0.01 * 0x1p-22 : 0));
}

TEST_CASE("shards have the gradient norm of all") {
  const auto of = [](const std::string& exchange) {
    const auto optimizer = distributed_by(
        local_optimizer(make_executor(test::points_network()), "", 0, "sgd"), exchange);
    return norms_of(*optimizer);
  };
  const auto sharded = of("sharded"), dense = of("dense");
  REQUIRE(sharded.size() == dense.size());
  // Sums over ranks in another order, in float32.
  for (std::size_t i = 0; i < dense.size(); ++i) {
    CHECK(sharded[i] == Approx(dense[i]).epsilon(1e-6));
  }
}

TEST_CASE("for a norm of all gradients shards send a number, no gradients") {
  if (world()->size() == 1) return;
  const auto gathered = [](const std::string& rule, const std::string& modifier) {
    const auto optimizer = distributed_by(
        local_optimizer(make_executor(whole_numbers()), modifier, 1, rule), "sharded");
    optimizer->step(samples_of(0));  // asks once whether there are shares
    const Traffic before = world()->traffic();
    optimizer->step(samples_of(1));
    return world()->traffic().since(before).by_call;
  };
  const auto plain = gathered("momentum", "");
  for (const auto& calls : {gathered("momentum", "clip_norm"), gathered("accelegrad", "")}) {
    // Agreements gather a number of 8 bytes from each rank.
    CHECK(calls.at("all_gather").calls == plain.at("all_gather").calls + 1);
    CHECK(calls.at("all_gather").bytes_sent ==
          plain.at("all_gather").bytes_sent + 8 * (world()->size() - 1));
    CHECK(calls.size() == plain.size());
  }
}

TEST_CASE("ranks without a parameter of their own share in a step with shards") {
  Network network("one tensor");
  network.add_input("x", DType::float32, {"N", 2});
  network.add_parameter("w", Tensor::of<float>({2, 1}, {1, 2}));
  network.add_node("MatMul", {"x", "w"}, {"y"});
  network.add_node("Mul", {"y", "y"}, {"square"});
  network.add_node("ReduceMean", {"square"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("loss");
  const auto optimizer =
      distributed_by(local_optimizer(make_executor(std::move(network)), "", 0, "sgd"), "sharded");
  for (std::int64_t step = 0; step < 2; ++step) optimizer->step(samples_of(step));
  Tensor first = optimizer->executor().network().parameter("w").value.copy();
  world()->broadcast(first, 0);
  const auto mine = optimizer->executor().network().parameter("w").value.span<float>();
  CHECK(std::ranges::equal(first.span<float>(), mine));
  CHECK(mine[0] != 1);
}
