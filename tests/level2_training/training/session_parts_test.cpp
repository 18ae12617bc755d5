// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>

#include "d5/level1_network/source/models.hpp"
#include "d5/level2_training/data/index_sampler.hpp"
#include "d5/level2_training/training/training_session.hpp"
#include "tests/level2_training/tiny_recipe.hpp"

using namespace d5;

TEST_CASE("the seams get the recipe's sampler and optimizer, and theirs are used") {
  int samplers_made = 0, optimizers_wrapped = 0;
  TrainingSession session(test::tiny_recipe(),
                          {.make_train_sampler =
                               [&](const SamplerEntry& entry, std::shared_ptr<const Dataset> data,
                                   const Settings& settings) {
                                 ++samplers_made;
                                 CHECK(settings.integer("batch_size", 0) == 8);
                                 CHECK(settings.has("seed"));
                                 Settings half = settings;
                                 half.set("batch_size", 4);
                                 return entry.make(std::move(data), half);
                               },
                           .wrap_optimizer =
                               [&](std::shared_ptr<Optimizer> optimizer) {
                                 ++optimizers_wrapped;
                                 CHECK(dynamic_cast<ThreeStepOptimizer*>(optimizer.get()));
                                 return optimizer;
                               }});
  CHECK(samplers_made == 1);
  CHECK(optimizers_wrapped == 1);
  CHECK(test::record_of(session.run(), "loss").samples.size() == 5);
}

namespace {

struct RotatedOptions : SamplerOptions {
  std::int64_t by = 1;
  void declare(OptionList& options) {
    SamplerOptions::declare(options);
    options.add("by", by, "places that every sample moves", {.least = 0});
  }
};

/// The dataset's order, begun later.
class RotatedSampler final : public IndexSampler {
 public:
  using Options = RotatedOptions;
  RotatedSampler(std::shared_ptr<const Dataset> dataset, const Options& options)
      : IndexSampler(std::move(dataset), options), by_(options.by) {}

 private:
  void arrange(std::int64_t, EpochOrder& epoch) override {
    auto& order = epoch.samples;
    std::rotate(order.begin(), order.begin() + by_, order.end());
  }
  std::int64_t by_;
};

struct BiasOnlyOptions {
  double bias = 0;
  void declare(OptionList& options) { options.add("bias", bias, "bias of every class"); }
};

/// Answers with its bias alone, and has none of the built-in networks' options.
Network bias_only(const BiasOnlyOptions& options) {
  Network network("bias-only");
  network.add_input("image", DType::float32,
                    {"N", std::int64_t{1}, std::int64_t{28}, std::int64_t{28}});
  network.add_input("label", DType::int64, {"N"});
  network.add_constant("zeros", Tensor::of<float>({784, 10}, std::vector<float>(7840)));
  network.add_parameter("bias",
                        Tensor::of<float>({10}, std::vector<float>(10, float(options.bias))));
  network.add_node("Flatten", {"image"}, {"flat"});
  network.add_node("Gemm", {"flat", "zeros", "bias"}, {"logits"});
  network.add_node("SoftmaxCrossEntropyLoss", {"logits", "label"}, {"loss"});
  network.add_output("logits");
  network.add_output("loss");
  return network;
}

Recipe with_parts(const std::string& model, const std::string& sampler) {
  return Recipe::parse(
      "name: parts\nfixed:\n"
      "  dataset: {name: mnist, subset: sample, train_samples: 20}\n"
      "  model: {" +
          model + "}\nmutable:\n  sampler: {" + sampler +
          "}\n"
          "  optimizer: {name: sgd, learning_rate: 0}\n  training: {most_batches: 1}\n",
      "parts.yaml");
}

}  // namespace

TEST_CASE("a sampler's and a model's own options come from the recipe, which knows none of them") {
  samplers().add("rotated", SamplerEntry::of<RotatedSampler>("begins later"));
  models().add("bias-only", ModelEntry::with<BiasOnlyOptions>("a bias", bias_only));

  TrainingSession session(
      with_parts("name: bias-only, bias: 3", "name: rotated, batch_size: 4, by: 5"));
  CHECK(test::weights_of(session) == std::vector<float>(10, 3.0f));
  Sampler& train = session.trainer().train_sampler();
  std::vector<Tensor> sixth{Tensor::empty(DType::float32, {1, 1, 28, 28}),
                            Tensor::empty(DType::int64, {1})};
  const std::int64_t index = 5;
  session.data().train->read(std::span(&index, 1), {}, sixth);
  train.reset(0);
  const auto images = train.next()->values.at("image").tensor().span<float>();
  CHECK(std::ranges::equal(images.first(784), sixth[0].span<float>()));

  CHECK_THROWS_WITH(TrainingSession(with_parts("name: lenet, bias: 3", "name: shuffle")),
                    Catch::StartsWith("parts.yaml:4: network lenet: option 'bias'"));
  CHECK_THROWS_WITH(TrainingSession(with_parts("name: lenet", "name: shuffle, by: 3")),
                    Catch::StartsWith("parts.yaml:6: sampler shuffle: option 'by'"));
  CHECK_THROWS_WITH(
      TrainingSession(with_parts("name: lenet", "name: shuffle,\n    batch_siz: 3")),
      Catch::StartsWith("parts.yaml:7") && Catch::Contains("did you mean batch_size?"));
}

TEST_CASE("unknown names and settings are refused before anything runs") {
  const auto complain = [](const std::string& what, const std::string& by) {
    Recipe recipe = test::tiny_recipe();
    recipe.set(what + "=" + by);
    TrainingSession session(recipe);
  };
  CHECK_THROWS_WITH(complain("optimizer.name", "momentun"), Catch::Contains("momentum"));
  CHECK_THROWS_WITH(complain("optimizer.learning_rate", "fast"),
                    Catch::Contains("optimizer.learning_rate") && Catch::Contains("fast"));
  CHECK_THROWS_AS(complain("sampler.batch_size", "0"), ValueError);
  CHECK_THROWS_AS(complain("training.epochs", "-1"), ValueError);
  CHECK_THROWS_WITH(
      TrainingSession(test::tiny_recipe("acceptable:\n  test_acuracy: {at_least: 1}\n")),
      Catch::Contains("test_accuracy"));
  CHECK_THROWS_WITH(TrainingSession(test::tiny_recipe(), {.data = "/nonexistent"}),
                    Catch::Contains("subset"));
}

TEST_CASE("a test set of another type than the training set is refused before training") {
  const Recipe recipe = Recipe::parse(
      "name: apart\n"
      "fixed:\n"
      "  dataset: {name: mnist, subset: sample, steps: [{name: cast, to: float16}]}\n"
      "  model: {name: lenet}\n"
      "mutable:\n"
      "  optimizer: {name: sgd}\n",
      "apart.yaml");
  CHECK_THROWS_WITH(TrainingSession(recipe),
                    Catch::Contains("'image'") && Catch::Contains("test_steps"));
}
