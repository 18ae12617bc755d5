// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/metric.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/level2_training/data/index_sampler.hpp"
#include "d5/level2_training/training/accuracy.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "level2_training/training/class_counts.hpp"
#include "tests/level2_training/points.hpp"

using namespace d5;

namespace {

std::shared_ptr<TrainingMetric> metric(const std::string& name, const Settings& settings = {}) {
  return std::dynamic_pointer_cast<TrainingMetric>(metrics().at(name).make(settings));
}

std::shared_ptr<Sampler> sampler(std::int64_t count, std::int64_t batch_size,
                                 const std::string& order = "shuffle") {
  return samplers().at(order).make(test::points(count), {{"batch_size", batch_size}, {"seed", 3}});
}

using Metrics = std::vector<std::shared_ptr<TrainingMetric>>;

/// Trains on 30 points in batches of 8, and tests on 20 in batches of 7.
void train(const Metrics& watching, TrainerOptions options = {}, const std::string& rate = "0.1",
           const std::shared_ptr<Event>& other = nullptr) {
  const auto optimizer = test::points_optimizer("sgd", Settings("", {{"learning_rate", rate}}));
  const auto train = sampler(30, 8), test = sampler(20, 7, "ordered");
  Trainer trainer(*optimizer, *train, test.get(), options);
  if (other) trainer.events().add(other);
  for (const auto& one : watching) trainer.events().add(one);
  trainer.run();
}

}  // namespace

TEST_CASE("training accuracy is taken every so many steps, across epochs") {
  const auto every = metric("training_accuracy", {{"every", 3}});
  const auto all = metric("training_accuracy", {{"every", 8}});
  const auto epochs = metric("training_accuracy");
  train({every, all, epochs}, {.epochs = 2}, "0");  // 4 batches an epoch, the same parameters
  CHECK(every->samples().size() == 2);
  REQUIRE(all->samples().size() == 1);
  REQUIRE(epochs->samples().size() == 2);
  CHECK(epochs->samples()[0] == epochs->samples()[1]);
  CHECK(all->samples()[0] == Approx(epochs->samples()[0]));
  CHECK_THROWS_AS(TrainingAccuracy({}, -1), ValueError);
}

TEST_CASE("test runs are made every so many epochs, and at the end") {
  const auto accuracies = [](TrainerOptions options) {
    const auto accuracy = metric("test_accuracy");
    train({accuracy}, options);
    return accuracy->samples();
  };
  const auto each = accuracies({.epochs = 5});
  REQUIRE(each.size() == 5);
  CHECK(accuracies({.epochs = 5, .test_every = 2}) == std::vector{each[1], each[3], each[4]});
  CHECK(accuracies({.epochs = 4, .test_every = 2}) == std::vector{each[1], each[3]});
  CHECK(accuracies({.epochs = 5, .most_batches = 4, .test_every = 3}) == std::vector{each[0]});
  CHECK(accuracies({.epochs = 5, .most_batches = 8, .test_every = 3}) == std::vector{each[1]});
  CHECK_THROWS_AS(accuracies({.test_every = 0}), ValueError);
}

TEST_CASE("a row is right within k classes if fewer than k have higher scores") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor scores = Tensor::of<float>({4, 4}, {1, 4, 3, 2,    // 1, 2, 3, 0
                                                   5, 5, 5, 0,    // 0, 1, 2, 3: the first of equals
                                                   0, nan, 1, 2,  // never right
                                                   4, 3, 2, 1});
  const Tensor labels = Tensor::vector<std::int64_t>({3, 2, 3, 0});
  CHECK(count_right(scores, labels, 1) == 1);
  CHECK(count_right(scores, labels, 2) == 1);
  CHECK(count_right(scores, labels, 3) == 3);
  CHECK(count_right(scores, labels, 9) == 3);
  CHECK(count_right(scores, Tensor::vector<std::int64_t>({-1, 4, 3, 0}), 4) == 1);
}

TEST_CASE("each token of a sequence is a row") {
  const Tensor scores = Tensor::of<float>({2, 2, 2}, {1, 0, 0, 1, 3, 2, 2, 3});
  const Tensor labels = Tensor::of<std::int64_t>({2, 2}, {0, 1, 1, 1});
  CHECK(count_right(scores, labels) == 3);
  CHECK_THROWS_AS(count_right(scores, Tensor::vector<std::int64_t>({0, 1})), ShapeError);
  CHECK_THROWS_AS(count_right(scores, Tensor::of<std::int64_t>({2, 1}, {0, 1})), ShapeError);
}

TEST_CASE("among all classes every point is right, among one it is the accuracy") {
  const auto first = metric("top_k_accuracy", {{"k", 1}}), last = metric("top_k_accuracy");
  const auto plain = metric("test_accuracy");
  train({first, last, plain}, {.epochs = 2}, "0.01");
  REQUIRE(first->samples().size() == 2);
  CHECK(first->samples() == plain->samples());
  CHECK(last->samples() == std::vector<double>{1, 1});
}

TEST_CASE("the test loss is the mean of all samples, however they are cut into batches") {
  const auto loss = metric("test_loss"), perplexity = metric("perplexity");
  train({loss, perplexity}, {}, "0");
  const auto network = make_executor(test::points_network());
  const auto whole = sampler(20, 20, "ordered");
  const Batch& batch = *whole->next();
  const double expected =
      double(network->inference(batch.values).find("loss")->second.tensor().item<float>());
  REQUIRE(loss->samples().size() == 1);
  CHECK(loss->samples()[0] == Approx(expected).epsilon(1e-6));  // float32 sums of 20 terms
  CHECK(perplexity->samples().at(0) == Approx(std::exp(expected)).epsilon(1e-6));
}

TEST_CASE("samples to accuracy count what was trained, and fail where it is not reached") {
  const auto reached = metric("samples_to_accuracy", {{"target", 0.01}});
  const auto missed = metric("samples_to_accuracy", {{"target", 1}});
  train({reached, missed}, {.epochs = 2}, "0");
  CHECK(reached->samples() == std::vector<double>{30});
  Measurement result;
  missed->summarise(result);
  CHECK(result.status == Status::failed);
  CHECK_THAT(result.reason, Catch::Contains("60 samples"));
}

TEST_CASE("throughput is samples over the time of steps and of waiting") {
  const auto throughput = metric("throughput"), time = metric("epoch_time");
  train({throughput, time}, {.epochs = 2});
  REQUIRE(throughput->samples().size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(throughput->samples()[i] == Approx(30 / time->samples()[i]).epsilon(1e-12));
  }
}

TEST_CASE("a percentile of few steps is mistrusted") {
  const auto p50 = metric("step_time_p50"), p99 = metric("step_time_p99");
  train({p50, p99});
  Measurement half, rare;
  p50->summarise(half);
  p99->summarise(rare);
  CHECK(half.samples.size() == 4);
  CHECK(half.status == Status::passed);
  CHECK(rare.status == Status::mistrusted);
  CHECK_THAT(rare.reason, Catch::Contains("4 steps") && Catch::Contains("100"));
  CHECK(p99->statistic().quantile == 0.99);
}

TEST_CASE("chi-squared of counts, and how likely it is") {
  // Computed by hand: 18 of one class and 6 of the other, 12 expected of each: 36 / 12 + 36 / 12.
  const auto coin = detail::goodness_of_fit({18, 6}, {0.5, 0.5});
  CHECK(coin.chi_squared == Approx(6));
  CHECK(coin.p_value == Approx(std::erfc(std::sqrt(3.0))));  // one degree of freedom
  // Two degrees of freedom: p = exp(-x / 2).
  const auto three = detail::goodness_of_fit({5, 10, 15}, {1 / 3.0, 1 / 3.0, 1 / 3.0});
  CHECK(three.chi_squared == Approx(5));
  CHECK(three.p_value == Approx(std::exp(-2.5)));
  CHECK(detail::goodness_of_fit({4, 4}, {0.5, 0.5, 0}).p_value == 1);
  CHECK(detail::goodness_of_fit({4, 4, 1}, {0.5, 0.5, 0}).p_value == 0);
  CHECK(detail::goodness_of_fit({4}, {1}).p_value == 1);
}

TEST_CASE("classes that are not drawn as the law says are mistrusted, fair draws are not") {
  /// Says that it draws with equal chances, and prefers the class that comes first.
  struct Liar final : IndexSampler {
    explicit Liar(const std::shared_ptr<const Dataset>& data)
        : IndexSampler(data, {.batch_size = 10}) {}
    void arrange(std::int64_t, EpochOrder& epoch) override {
      for (std::size_t i = 0; i < epoch.samples.size(); ++i) {
        if (i % 2 == 0) epoch.samples[i] = 0;
      }
    }
  };
  const auto result_with = [](Sampler& data) {
    const auto optimizer = test::points_optimizer("sgd");
    Trainer trainer(*optimizer, data, nullptr, {.epochs = 2});
    const auto p = metric("dataset_bias_p_value");
    trainer.events().add(p);
    trainer.run();
    Measurement result;
    p->summarise(result);
    return result;
  };
  Liar liar(test::points(300));
  const Measurement lies = result_with(liar);
  CHECK(lies.status == Status::mistrusted);
  CHECK_THAT(lies.reason, Catch::Contains("chi-squared"));
  const Measurement whole = result_with(*sampler(300, 10));
  CHECK(whole.status == Status::passed);
  CHECK(whole.samples == std::vector<double>{1, 1});  // each sample once: exactly the shares
  const auto weighted =
      samplers()
          .at("weighted")
          .make(test::points(300), {{"batch_size", 10}, {"balance", "label"}, {"seed", 1}});
  const Measurement drawn = result_with(*weighted);
  CHECK(drawn.status == Status::passed);
  REQUIRE(drawn.samples.size() == 2);
  CHECK(drawn.samples[0] != drawn.samples[1]);
}

TEST_CASE("making a batch takes as long as waiting for it where nobody reads ahead") {
  const auto making = metric("batch_making_time"), waiting = metric("dataset_latency");
  train({making, waiting});
  REQUIRE(making->samples().size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(making->samples()[i] > 0);
    CHECK(making->samples()[i] <= waiting->samples()[i]);
  }
}

TEST_CASE("what metrics have seen in a cut epoch is kept in their states") {
  struct Cut final : TrainingEvent {
    Metrics watching;
    std::vector<ValueMap> states;
    void after_batch(Trainer& trainer, const Batch&, const ValueMap&) override {
      if (trainer.step() != 3) return;
      for (const auto& one : watching) states.push_back(one->state());
    }
  };
  const std::vector<std::string> names{"throughput", "samples_to_accuracy", "dataset_bias_p_value",
                                       "training_energy"};
  const auto cut = std::make_shared<Cut>();
  for (const auto& name : names) cut->watching.push_back(metric(name));
  train(cut->watching, {}, "0.1", cut);
  REQUIRE(cut->states.size() == names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    CAPTURE(names[i]);
    const auto resumed = metric(names[i]);
    resumed->restore(cut->states[i]);
    const ValueMap again = resumed->state();
    REQUIRE(again.size() == cut->states[i].size());
    for (const auto& [key, value] : cut->states[i]) {
      const Tensor& before = value.tensor();
      const Tensor& after = again.at(key).tensor();
      REQUIRE(before.bytes() == after.bytes());
      CHECK(std::memcmp(before.raw(), after.raw(), before.bytes()) == 0);
    }
    CHECK_THROWS_AS(resumed->restore({}), NotFound);
  }
}
