// SPDX-License-Identifier: Apache-2.0
// Outputs and fields that metrics name are found, or refused, before anything is trained.
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/tensor_dataset.hpp"
#include "d5/level2_training/training/accuracy.hpp"
#include "d5/level2_training/training/dataset_metrics.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "d5/level2_training/training/training_session.hpp"
#include "tests/level2_training/points.hpp"
#include "tests/level2_training/tiny_recipe.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using Catch::Contains;

namespace {

/// Digits by one layer whose output has a name of its own.
std::string digits_file(const testing::TemporaryFolder& folder, const std::string& output,
                        bool second = false) {
  Network network("digits");
  network.add_input("image", DType::float32, {"N", 1, 28, 28});
  Tensor w = Tensor::empty(DType::float32, {784, 10});
  RandomStream random(3);
  for (float& value : w.span<float>()) value = 0.05f * random.normal();
  network.add_parameter("w", w);
  network.add_node("Flatten", {"image"}, {"flat"});
  network.add_node("MatMul", {"flat", "w"}, {output});
  network.add_output(output);
  if (second) {
    network.add_node("Softmax", {output}, {"shares"});
    network.add_output("shares");
  }
  const std::string file = folder / "digits.onnx";
  network.save(file);
  return file;
}

Recipe recipe_of_metrics(const std::string& model, const std::string& rest = "") {
  return Recipe::parse(R"(name: own
fixed:
  dataset: {name: mnist, subset: sample, train_samples: 64, test_samples: 50}
  model: {)" + model + R"(}
mutable:
  sampler: {batch_size: 16}
  optimizer: {name: momentum, learning_rate: 0.05}
  training: {epochs: 2, seed: 1}
)" + rest,
                       "own.yaml");
}

}  // namespace

TEST_CASE("a metric that is asked for reads the network's only output, whatever its name") {
  const testing::TemporaryFolder folder;
  const Recipe recipe =
      recipe_of_metrics("file: " + digits_file(folder, "digit_scores") + ", loss: cross_entropy");
  for (const char* metric :
       {"time_to_accuracy:target=0.05", "samples_to_accuracy:target=0.05", "top_k_accuracy:k=10",
        "training_accuracy:every=1", "test_accuracy", "dataset_bias"}) {
    TrainingSession session(recipe, {.metrics = {metric}});
    const auto results = session.run();
    const Measurement& found = test::record_of(results, MetricChoice(metric).name());
    CAPTURE(metric, found.reason);
    CHECK(found.status != Status::failed);
    CHECK_FALSE(found.samples.empty());
  }
  const auto results = TrainingSession(recipe, {.metrics = {"top_k_accuracy:k=10"}}).run();
  CHECK(test::record_of(results, "top_k_accuracy").samples.back() == 1);  // one of ten is right
}

TEST_CASE("a name that stands for nothing is refused before the first step, with what there is") {
  const testing::TemporaryFolder folder;
  const std::string file = digits_file(folder, "digit_scores", true);
  const Recipe recipe =
      recipe_of_metrics("file: " + file + ", loss: cross_entropy, logits: digit_scores");
  const auto make = [&](const char* metric) { TrainingSession(recipe, {.metrics = {metric}}); };
  CHECK_THROWS_AS(make("time_to_accuracy:logits=score"), NotFound);
  CHECK_THROWS_WITH(make("time_to_accuracy:logits=score"),
                    Contains("digit_scores, shares") && Contains("time_to_accuracy:logits=NAME"));
  CHECK_THROWS_WITH(make("test_accuracy:label=class"), Contains("image, label"));
  CHECK_THROWS_WITH(make("dataset_bias:label=class"), Contains("image, label"));
  CHECK_THROWS_AS(make("test_accuracy:label=image"), TypeError);
  CHECK_NOTHROW(make("test_accuracy:logits=shares"));
  CHECK_THROWS_WITH(TrainingSession(recipe_of_metrics("file: " + file + ", loss: crossentropy")),
                    Contains("cross_entropy") && Contains("shares"));
  CHECK_THROWS_WITH(
      TrainingSession(recipe_of_metrics("file: " + file + ", loss: shares, logits: score")),
      Contains("digit_scores, shares"));
  CHECK_THROWS_WITH(TrainingSession(recipe_of_metrics("name: lenet, loss: los")), Contains("loss"));
}

TEST_CASE("in code a metric finds the only output and the only field of classes") {
  Network network = test::points_network();
  network.rename("logits", "corner");
  network.rename("label", "kind");
  const auto points = test::points(30);
  std::vector<Tensor> all = empty_batch(*points, 30);
  std::vector<std::int64_t> indices(30);
  for (std::size_t i = 0; i < 30; ++i) indices[i] = std::int64_t(i);
  points->read(indices, {}, all);
  const auto data = std::make_shared<TensorDataset>(
      "points", std::vector<std::pair<std::string, Tensor>>{{"x", all[0]}, {"kind", all[1]}});
  const auto sampler = samplers().at("ordered").make(data, {{"batch_size", 10}});
  const auto optimizer =
      optimizers().at("sgd").make(make_executor(network), "loss", {{"learning_rate", 0.1}});
  Trainer trainer(*optimizer, *sampler, sampler.get(), {.epochs = 1});
  const auto tested = std::make_shared<TestAccuracy>();
  const auto bias = std::make_shared<DatasetBias>();
  trainer.events().add(tested);
  trainer.events().add(bias);
  trainer.run();
  CHECK(tested->samples().size() == 1);
  CHECK(bias->samples() == std::vector<double>{10, 10, 10});

  Trainer wrong(*optimizer, *sampler, nullptr, {.epochs = 1});
  wrong.events().add(std::make_shared<TrainingAccuracy>(ClassificationNames{.logits = "edge"}));
  CHECK_THROWS_WITH(wrong.run(), Contains("corner"));
  CHECK(wrong.step() == 0);

  Trainer untested(*optimizer, *sampler, nullptr, {.epochs = 1});
  untested.events().add(std::make_shared<TestAccuracy>());
  CHECK_THROWS_WITH(untested.run(), Contains("metric test_accuracy: there are no test data"));
  CHECK(untested.step() == 0);
}

TEST_CASE("what is asked of a metric goes before what the recipe says, unless it is fixed") {
  const auto target = [](const Recipe& recipe, const char* metric) {
    TrainingSession session(recipe, {.metrics = {metric}});
    return test::record_of(session.run(), "time_to_accuracy").conditions.at("target").text();
  };
  const std::string metrics = "  metrics: {time_to_accuracy: {target: 0.99}}\n";
  CHECK(target(recipe_of_metrics("name: lenet", metrics), "time_to_accuracy:target=0.01") ==
        "0.01");
  CHECK(target(recipe_of_metrics("name: lenet", metrics), "time_to_accuracy") == "0.99");
  Recipe fixed = Recipe::parse(
      "name: f\nfixed:\n  dataset: {name: mnist, subset: sample}\n  model: {name: lenet}\n"
      "  optimizer: {name: sgd}\n  metrics: {time_to_accuracy: {target: 0.5}}\n",
      "f.yaml");
  CHECK_THROWS_WITH(TrainingSession(fixed, {.metrics = {"time_to_accuracy:target=0.4"}}),
                    Contains("fixed at 0.5"));
}
