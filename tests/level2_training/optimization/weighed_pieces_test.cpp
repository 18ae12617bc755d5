// SPDX-License-Identifier: Apache-2.0
// Pieces of a batch, batches of a test run and shorter last batches, where samples count
// differently: means are over what counts.
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/loss_weight.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "d5/level2_training/training/accuracy.hpp"
#include "d5/level2_training/training/loss_curve.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "tests/level2_training/weighed_classes.hpp"

using namespace d5;
using test::WeighedClasses;
using test::WeighedSamples;

namespace {

// All is float64: sums in another order differ in some last digits.
constexpr double kRounding = 1e-12;

std::shared_ptr<Optimizer> weighed_descent(const WeighedClasses& model, const Settings& settings) {
  return open_optimizer("sgd", make_executor(model.network()), "loss", settings);
}

Settings in_pieces(std::int64_t pieces) {
  return {
      {"learning_rate", 0.5}, {"modifiers.0.name", "accumulate"}, {"modifiers.0.pieces", pieces}};
}

std::vector<double> weights_of(Optimizer& optimizer) {
  const auto w = optimizer.executor().network().parameter("w").value.span<double>();
  return {w.begin(), w.end()};
}

void check_close(const std::vector<double>& given, const std::vector<double>& expected) {
  REQUIRE(given.size() == expected.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    CHECK(given[i] == Approx(expected[i]).epsilon(kRounding).margin(kRounding));
  }
}

std::shared_ptr<Sampler> in_order(const WeighedSamples& samples, std::int64_t batch_size) {
  return samplers().at("ordered").make(samples.dataset(), {{"batch_size", batch_size}});
}

}  // namespace

TEST_CASE("a batch in pieces is the whole batch, whatever counts in its loss") {
  for (const WeighedClasses& model : test::weighed_cases()) {
    // 23 samples in batches of 10: the last has 3. Samples 5 to 9 do not count: of two pieces or
    // more of the first batch one is without any that does.
    const WeighedSamples samples(23, model.ignored, 7, 5, 10);
    const auto expected = test::descended(model, samples, 10, 0.5);
    for (const std::int64_t pieces : {1, 2, 3, 10}) {
      CAPTURE(pieces, model.ignored.value_or(0), model.weights, int(model.form));
      const auto optimizer = weighed_descent(model, in_pieces(pieces));
      const auto sampler = in_order(samples, 10);
      std::vector<double> w = model.first;
      while (const Batch* batch = sampler->next()) {
        const auto part = samples.part(batch->samples[0], batch->size);
        const double loss = model.answer(w, part.x, part.labels).loss;
        CHECK(optimizer->step(*batch).at("loss").tensor().item<double>() ==
              Approx(loss).epsilon(kRounding));
        w = weights_of(*optimizer);
      }
      check_close(w, expected);
    }
  }
}

TEST_CASE("the loss of pieces, forward alone, is that of the whole batch") {
  for (const WeighedClasses& model : test::weighed_cases()) {
    const WeighedSamples samples(10, model.ignored, 7, 5, 10);
    const auto optimizer =
        std::dynamic_pointer_cast<ThreeStepOptimizer>(weighed_descent(model, in_pieces(4)));
    const auto sampler = in_order(samples, 10);
    CHECK(optimizer->gradients().loss_of(*sampler->next()) ==
          Approx(model.answer(model.first, samples.x, samples.labels).loss).epsilon(kRounding));
  }
}

TEST_CASE("test runs do not depend on their batches") {
  for (const WeighedClasses& model : test::weighed_cases()) {
    const WeighedSamples samples(23, model.ignored, 11, 4, 8);
    const auto expected = model.answer(model.first, samples.x, samples.labels);
    const bool adds = model.form == WeighedClasses::Form::sum;
    const double loss = adds ? expected.loss / 23 : expected.loss;
    for (const std::int64_t batch_size : {1, 4, 7, 23}) {
      CAPTURE(batch_size, model.ignored.value_or(0), model.weights, int(model.form));
      const auto optimizer = weighed_descent(model, {{"learning_rate", 0.0}});
      const auto train = in_order(samples, 23), tests = in_order(samples, batch_size);
      Trainer trainer(*optimizer, *train, tests.get());
      const auto metric = [&](const char* name) {
        auto one = std::dynamic_pointer_cast<TrainingMetric>(metrics().at(name).make());
        trainer.events().add(one);
        return one;
      };
      const auto test_loss = metric("test_loss"), perplexity = metric("perplexity"),
                 accuracy = metric("test_accuracy"), top_k = metric("top_k_accuracy"),
                 training = metric("training_accuracy");
      trainer.run();
      const double share = double(expected.right) / double(expected.seen);
      CHECK(test_loss->samples().back() == Approx(loss).epsilon(kRounding));
      CHECK(perplexity->samples().back() == Approx(std::exp(loss)).epsilon(kRounding));
      CHECK(accuracy->samples().back() == share);
      CHECK(training->samples().back() == share);
      CHECK(top_k->samples().back() == 1);  // three classes are all among five
    }
  }
}

TEST_CASE("targets that do not count are neither right nor wrong") {
  const Tensor scores = Tensor::of<float>({4, 2}, {1, 0, 0, 1, 1, 0, 1, 0});
  const Tensor labels = Tensor::vector(std::vector<std::int64_t>{0, 1, 1, -100});
  CHECK(count_right(scores, labels, 1, -100) == 2);
  CHECK(count_right(scores, labels, 1, 1) == 1);
  CHECK(count_right(scores, labels, 2, 1) == 1);
}

TEST_CASE("a metric's own setting may name the class that does not count") {
  const WeighedClasses model{.ignored = -100};
  const WeighedSamples samples(20, -100);
  const auto whole = model.answer(model.first, samples.x, samples.labels);
  const WeighedClasses other{.ignored = 1};  // by the metric, not by the loss
  const auto optimizer = weighed_descent({}, {{"learning_rate", 0.0}});
  const WeighedSamples classes(20, {});
  const auto sampler = in_order(classes, 20);
  Trainer trainer(*optimizer, *sampler, sampler.get());
  const auto metric = std::dynamic_pointer_cast<TrainingMetric>(
      metrics().at("test_accuracy").make({{"ignored", 1}}));
  trainer.events().add(metric);
  trainer.test();
  const auto expected = other.answer(other.first, classes.x, classes.labels);
  CHECK(expected.seen < 20);
  CHECK(metric->samples().back() == double(expected.right) / double(expected.seen));
  CHECK(whole.seen < 20);
}

TEST_CASE("a batch in which nothing counts is an end that says why") {
  const WeighedClasses model{.ignored = -100};
  const WeighedSamples samples(8, -100, 3, 0, 8);
  const auto optimizer = weighed_descent(model, in_pieces(2));
  const auto sampler = in_order(samples, 8);
  Trainer trainer(*optimizer, *sampler, nullptr);
  CHECK_THROWS_WITH(trainer.run(), Catch::Contains("nothing counts: targets that are not -100"));
  check_close(weights_of(*optimizer), model.first);
  // A mask that divides by one at least gives 0 for such a batch: it changes nothing.
  const WeighedClasses masked{.ignored = -100, .form = WeighedClasses::Form::masked};
  const auto other = weighed_descent(masked, in_pieces(2));
  Trainer goes_on(*other, *sampler, nullptr);
  goes_on.run();
  check_close(weights_of(*other), masked.first);
}

TEST_CASE("what counts is found in the graph, and said") {
  const auto weight_of = [](const WeighedClasses& model) {
    return LossWeight(model.network(), "loss");
  };
  using Form = WeighedClasses::Form;
  auto plain = weight_of({});
  CHECK(plain.kind() == LossWeight::Kind::samples);
  CHECK(plain.counted().empty());
  CHECK(plain.assumption().empty());
  auto node = weight_of({.ignored = 2, .weights = {1, 3, 5}});
  CHECK(node.counted() == "targets that are not 2, by the weights of their classes");
  const ValueMap fields{{"label", Tensor::vector(std::vector<std::int64_t>{0, 2, 1, 1})}};
  CHECK(node.of(fields, 4) == 1 + 3 + 3);
  CHECK(node.ignored("label") == 2);
  CHECK(!node.ignored("x"));
  auto masked = weight_of({.ignored = 2, .weights = {1, 3, 5}, .form = Form::masked});
  CHECK(masked.kind() == LossWeight::Kind::counted);
  CHECK(masked.of(fields, 4) == 1 + 3 + 3);
  CHECK(masked.ignored("label") == 2);
  CHECK(weight_of({.form = Form::sum}).kind() == LossWeight::Kind::sum);
}

TEST_CASE("factors and terms of parameters leave a mean what it is") {
  Network network = WeighedClasses{.ignored = -100}.network();
  network.add_constant("half", Tensor::scalar(0.5));
  network.add_node("ReduceSumSquare", {"w"}, {"norm"}, {{"keepdims", std::int64_t{0}}});
  network.add_node("Mul", {"norm", "half"}, {"decay"});
  network.add_node("Mul", {"half", "loss"}, {"scaled"});
  network.add_node("Add", {"scaled", "decay"}, {"regularised"});
  network.add_output("regularised");
  LossWeight weight(network, "regularised");
  CHECK(weight.counted() == "targets that are not -100");
}

TEST_CASE("what no weight joins is refused in pieces, by the node that says so") {
  Network network = WeighedClasses{}.network();
  network.add_node("Sqrt", {"loss"}, {"root"});
  network.add_output("root");
  const WeighedSamples samples(8, {});
  const auto sampler = in_order(samples, 8);
  const auto optimizer = open_optimizer("sgd", make_executor(network), "root", in_pieces(2));
  CHECK_THROWS_WITH(optimizer->step(*sampler->next()), Catch::Contains("Sqrt"));
  const auto whole = open_optimizer("sgd", make_executor(network), "root", {});
  sampler->reset(0);
  CHECK_NOTHROW(whole->step(*sampler->next()));
  // Two means over different counts.
  Network both = WeighedClasses{.ignored = -100}.network();
  both.add_node("SoftmaxCrossEntropyLoss", {"logits", "label"}, {"other"});
  both.add_node("Add", {"loss", "other"}, {"both"});
  both.add_output("both");
  LossWeight mixed(both, "both");
  CHECK_THAT(mixed.assumption(), Catch::Contains("counts differently"));
  CHECK_THROWS_AS(mixed.share(1, 2), Unsupported);
}

TEST_CASE("elements count where samples have different numbers of them") {
  // Rows of numbers, padded to the batch's longest by the sampler.
  Network network("rows");
  network.add_input("row", DType::float64, {"N", "T"});
  network.add_parameter("a", Tensor::scalar(2.0));
  network.add_node("Mul", {"row", "a"}, {"y"});
  network.add_node("Mul", {"y", "y"}, {"square"});
  network.add_node("ReduceMean", {"square"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_constant("within", Tensor::vector(std::vector<std::int64_t>{1}));
  network.add_node("ReduceMean", {"square", "within"}, {"of_row"}, {{"keepdims", std::int64_t{0}}});
  network.add_node("ReduceMean", {"of_row"}, {"by_row"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("loss");
  network.add_output("by_row");
  LossWeight weight(network, "loss"), by_row(network, "by_row");
  CHECK(weight.of({{"row", Tensor::zeros(DType::float64, {2, 7})}}, 2) == 14);
  CHECK(weight.of({{"row", Tensor::zeros(DType::float64, {3, 2})}}, 3) == 6);
  CHECK(by_row.kind() == LossWeight::Kind::samples);
}
