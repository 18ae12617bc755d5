// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/gradient_source.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/source/models.hpp"

using namespace d5;

namespace {

Batch batch_of(std::int64_t seed) {
  Batch batch;
  batch.size = 4;
  Tensor images = Tensor::empty(DType::float32, {4, 1, 28, 28});
  for (std::size_t i = 0; i < images.span<float>().size(); ++i) {
    images.span<float>()[i] = float((std::int64_t(i) * 37 + seed * 101) % 255) / 255;
  }
  batch.values["image"] = images;
  batch.values["label"] = Tensor::of<std::int64_t>({4}, {1, 5, 7, seed});
  return batch;
}

LocalGradients lenet(const std::string& framework = "reference") {
  return {std::shared_ptr<GraphExecutor>(
              make_executor(models().at("lenet").make({{"with_loss", true}, {"seed", 3}}),
                            {.frameworks = {framework}})),
          "loss"};
}

std::vector<float> gradients(GradientSource& source) {
  source.finish_all();
  std::vector<float> values;
  for (const Parameter& parameter : source.executor().network().parameters()) {
    const auto g = parameter.gradient.span<float>();
    values.insert(values.end(), g.begin(), g.end());
  }
  return values;
}

}  // namespace

TEST_CASE("a power of two on the loss multiplies each gradient by it, exactly") {
  LocalGradients source = lenet();
  (void)source.run(batch_of(0));
  const auto plain = gradients(source);
  const float loss = source.run(batch_of(0), {.factor = 1024}).at("loss").tensor().item<float>();
  const auto scaled = gradients(source);
  REQUIRE(plain.size() == scaled.size());
  for (std::size_t i = 0; i < plain.size(); ++i) REQUIRE(scaled[i] == 1024 * plain[i]);
  CHECK(loss == source.run(batch_of(0)).at("loss").tensor().item<float>());
  CHECK(gradients(source) == plain);  // and the next run has none
}

TEST_CASE("gradients are added to those that are there, where that is asked for") {
  LocalGradients source = lenet();
  (void)source.run(batch_of(0));
  const auto first = gradients(source);
  (void)source.run(batch_of(1));
  const auto second = gradients(source);
  (void)source.run(batch_of(0), {.write = GradientRun::Write::add});
  const auto sum = gradients(source);
  for (std::size_t i = 0; i < sum.size(); ++i) REQUIRE(sum[i] == first[i] + second[i]);
}

TEST_CASE("the loss alone is that of a run with gradients") {
  LocalGradients source = lenet();
  const float loss = source.run(batch_of(2)).at("loss").tensor().item<float>();
  CHECK(float(source.loss_of(batch_of(2))) == loss);
}

TEST_CASE("a loss that the network has not is refused with the names of its outputs") {
  CHECK_THROWS_WITH(
      LocalGradients(std::shared_ptr<GraphExecutor>(make_executor(models().at("lenet").make({}))),
                     "losses"),
      Catch::Contains("logits"));
}
