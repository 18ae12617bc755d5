// SPDX-License-Identifier: Apache-2.0
// Ranks test their parts of a test set; together they give the result of a single rank.
#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <set>

#include "d5/core/machine/threads.hpp"
#include "d5/level2_training/training/training_session.hpp"
#include "d5/level3_distributed/communicator/communicator_agreement.hpp"
#include "d5/level3_distributed/schemes/distributed_training.hpp"

using namespace d5;

namespace {

constexpr std::int64_t kSamples = 50;

/// Ranks of one machine that computed on all of its processors each would wait for each other.
struct OneThread {
  int before = threads();
  OneThread() { set_threads(1); }
  ~OneThread() { set_threads(before); }
};

/// LeNet after a few steps on carried digits: it gets some of the test digits right.
Recipe digits(std::int64_t test_batch_size) {
  Recipe recipe = Recipe::parse(R"(name: digits
fixed:
  dataset: {name: mnist, subset: sample, train_samples: 240, test_samples: 50}
  model: {name: lenet}
mutable:
  sampler: {batch_size: 24}
  optimizer: {name: momentum, learning_rate: 0.1}
  training: {epochs: 2, seed: 1, test_batch_size: 250}
  metrics:
    top_k_accuracy: {k: 2}
    test_loss: {}
    perplexity: {}
    samples_to_accuracy: {target: 0.01}
)",
                                "digits.yaml");
  recipe.set("training.test_batch_size=" + std::to_string(test_batch_size));
  return recipe;
}

/// The samples that this rank has tested in the last test run.
struct Seen final : TrainingEvent {
  std::set<std::int64_t> samples;
  std::int64_t runs = 0;
  void before_test(Trainer&) override { samples.clear(), ++runs; }
  void after_test_batch(Trainer&, const Batch& batch, const ValueMap&) override {
    for (const std::int64_t sample : batch.samples) CHECK(samples.insert(sample).second);
  }
};

struct SeenWhole final : TrainingEvent {
  std::int64_t samples = 0;
  void before_test(Trainer&) override { samples = 0; }
  void after_test_batch(Trainer&, const Batch& batch, const ValueMap&) override {
    samples += batch.size;
  }
  bool wants_whole_tests() const override { return world()->rank() == 0; }
};

/// Whole batches, each of which says that all of its samples are here.
class WholeBatches final : public Sampler {
 public:
  explicit WholeBatches(std::shared_ptr<Sampler> inner) : inner_(std::move(inner)) {}
  const Batch* next() override {
    const Batch* batch = inner_->next();
    if (!batch) return nullptr;
    batch_ = *batch;
    batch_.global_size = batch_.size;
    return &batch_;
  }
  void reset(std::int64_t epoch) override { inner_->reset(epoch); }
  void seek(std::int64_t epoch, std::int64_t index) override { inner_->seek(epoch, index); }
  [[nodiscard]] std::int64_t batches() const override { return inner_->batches(); }
  [[nodiscard]] SamplerLaw law() const override { return inner_->law(); }
  [[nodiscard]] const Dataset& dataset() const override { return inner_->dataset(); }
  void read_ahead(int threads) override { inner_->read_ahead(threads); }

 private:
  std::shared_ptr<Sampler> inner_;
  Batch batch_;
};

const std::vector<double>& metric_samples(const std::vector<Measurement>& results,
                                          const std::string& metric) {
  const auto place = std::ranges::find(results, metric, &Measurement::metric);
  REQUIRE(place != results.end());
  CHECK(place->status == Status::passed);
  return place->samples;
}

/// The session of a rank of `group`, which trains alone on all data and shares the tests: so that
/// its parameters are those of one rank to the bit.
std::vector<Measurement> trained_by_recipe(const Recipe& recipe,
                                           const std::shared_ptr<Communicator>& group,
                                           const std::shared_ptr<TrainingEvent>& observer) {
  const OneThread one;
  SessionOptions options;
  options.observers = {observer};
  if (group) {
    distribute(options, {}, group);
    options.make_train_sampler = [](const SamplerEntry& order, std::shared_ptr<const Dataset> data,
                                    const Settings& settings) {
      return std::make_shared<WholeBatches>(order.make(std::move(data), settings));
    };
    options.wrap_optimizer = [group](const std::shared_ptr<Optimizer>& optimizer) {
      dynamic_cast<ThreeStepOptimizer&>(*optimizer)
          .set_agreement(std::make_shared<CommunicatorAgreement>(group));
      return optimizer;
    };
  }
  return TrainingSession(recipe, options).run();
}

void check_as_one_rank(const std::vector<Measurement>& together,
                       const std::vector<Measurement>& alone, double batches) {
  for (const char* metric : {"test_accuracy", "top_k_accuracy", "samples_to_accuracy"}) {
    CAPTURE(metric);
    CHECK(metric_samples(together, metric) == metric_samples(alone, metric));
  }
  CHECK(metric_samples(alone, "test_accuracy").back() > 0.1);  // the comparison is not vacuous
  // The same b numbers above 0, summed in two orders: each sum is off by b - 1 roundings of 2^-53
  // of it at most (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2), and one
  // more by the division. e^x makes of a relative error that of x, times x, and a rounding.
  const double epsilon = std::numeric_limits<double>::epsilon();
  const auto &losses = metric_samples(alone, "test_loss"),
             &words = metric_samples(alone, "perplexity");
  REQUIRE(metric_samples(together, "test_loss").size() == losses.size());
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const double off = batches * epsilon;
    CHECK(std::abs(metric_samples(together, "test_loss")[i] - losses[i]) <= off * losses[i]);
    CHECK(std::abs(metric_samples(together, "perplexity")[i] - words[i]) <=
          (off * losses[i] + 2 * epsilon) * words[i]);
  }
}

}  // namespace

TEST_CASE("any number of ranks says of carried digits what one rank says, though some test none") {
  for (const std::int64_t batch_size : {7, 20, 60}) {  // 8, 3 and 1 batches
    CAPTURE(batch_size);
    const auto all = std::make_shared<Seen>();
    const auto alone = trained_by_recipe(digits(batch_size), nullptr, all);
    CHECK(all->runs == 2);
    CHECK(std::int64_t(all->samples.size()) == kSamples);
    const std::int64_t batches = (kSamples + batch_size - 1) / batch_size;
    for (int size = 2; size <= world()->size(); ++size) {
      const auto group = world()->split(world()->rank() < size ? 0 : -1);
      if (!group) continue;
      const auto mine = std::make_shared<Seen>();
      const auto together = trained_by_recipe(digits(batch_size), group, mine);
      check_as_one_rank(together, alone, double(batches));
      std::int64_t expected = 0;
      for (std::int64_t b = group->rank(); b < batches; b += size) {
        expected += std::min(batch_size, kSamples - b * batch_size);
      }
      CHECK(std::int64_t(mine->samples.size()) == expected);
      CHECK(CommunicatorAgreement(group).sum(double(mine->samples.size())) == double(kSamples));
    }
  }
}

TEST_CASE("an observer that needs whole tests gets them on every rank, and nothing else changes") {
  const auto all = std::make_shared<Seen>();
  const auto alone = trained_by_recipe(digits(20), nullptr, all);
  const auto whole = std::make_shared<SeenWhole>();
  check_as_one_rank(trained_by_recipe(digits(20), world(), whole), alone, 3);
  CHECK(whole->samples == kSamples);
}

TEST_CASE("training by a scheme tests its part on each rank, and its records are one rank's") {
  // At this rate no answer changes, on any number of ranks.
  Recipe recipe = digits(7);
  recipe.set("optimizer.learning_rate=1e-9");
  const OneThread one;
  const auto mine = std::make_shared<Seen>();
  const auto together = train(recipe, {.observers = {mine}}, world());
  const auto alone = TrainingSession(recipe).run();
  for (const char* metric : {"test_accuracy", "top_k_accuracy"}) {
    CHECK(metric_samples(together, metric) == metric_samples(alone, metric));
  }
  CHECK(CommunicatorAgreement(world()).sum(double(mine->samples.size())) == double(kSamples));
  CHECK(std::int64_t(mine->samples.size()) <=
        (world()->size() == 1 ? kSamples : 4 * 7));  // at most half of 8 batches
}
