// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training_session.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "d5/core/error.hpp"
#include "d5/core/threads.hpp"
#include "d5/level1_network/models.hpp"
#include "d5/level2_training/index_sampler.hpp"
#include "d5/level2_training/training_validation.hpp"
#include "tests/busy_processors.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

/// LeNet on the first images of the carried sample: three batches.
Recipe tiny(const std::string& acceptable = "") {
  return Recipe::parse(R"(name: tiny
fixed:
  dataset: {name: mnist, subset: sample, train_samples: 20, test_samples: 10}
  model: {name: lenet}
mutable:
  sampler: {batch_size: 8}
  optimizer: {name: momentum, learning_rate: 0.05}
  training: {epochs: 1, most_batches: 0, seed: 1}
)" + acceptable,
                       "tiny.yaml");
}

const Measurement& named(const std::vector<Measurement>& results, const std::string& metric) {
  for (const Measurement& result : results) {
    if (result.metric == metric) return result;
  }
  throw NotFound("no record of " + metric);
}

std::vector<float> weights(TrainingSession& session) {
  std::vector<float> all;
  for (const Parameter& parameter : session.network().parameters()) {
    const auto values = parameter.value.span<float>();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

}  // namespace

TEST_CASE("a recipe runs and becomes one record a metric") {
  std::vector<std::string> lines;
  TrainingSession session(tiny(), {.say = [&](const std::string& line) { lines.push_back(line); }});
  const auto results = session.run();
  CHECK(named(results, "loss").samples.size() == 3);
  CHECK(named(results, "test_accuracy").samples.size() == 1);
  CHECK(named(results, "epoch_time").unit == "s");
  for (const Measurement& result : results) {
    CHECK(result.subject == "tiny");
    CHECK(result.level == "training");
    CHECK(result.command ==
          "d5 train tiny.yaml --framework reference --threads " + std::to_string(d5::threads()));
    // Times are mistrusted where other work is on the machine.
    if (result.quantity != Quantity::time) CHECK(result.status == Status::passed);
  }
  CHECK_THAT(named(results, "loss").conditions.at("dataset"), Catch::Contains("sample"));
  std::erase_if(lines, [](const auto& line) { return line.starts_with("warning: other work"); });
  REQUIRE(lines.size() == 2);
  CHECK_THAT(lines[0], Catch::Contains("carries"));
}

TEST_CASE("threads that read ahead change no bit, and are among the conditions") {
  TrainingSession plain(tiny()), ahead(tiny(), {.loader_threads = 3});
  const auto expected = plain.run(), results = ahead.run();
  CHECK(weights(ahead) == weights(plain));
  CHECK(named(results, "loss").samples == named(expected, "loss").samples);
  CHECK(named(results, "test_accuracy").samples == named(expected, "test_accuracy").samples);
  CHECK(named(results, "loss").conditions.at("loader_threads") == "3");
  CHECK_THAT(named(results, "loss").command, Catch::Contains(" --loader-threads 3"));
  CHECK_THROWS_AS(TrainingSession(tiny(), {.loader_threads = -1}), ValueError);
}

TEST_CASE("any metric can be asked of a training run, and is measured in the same run") {
  TrainingSession session(tiny(), {.metrics = {"time", "framework_overhead", "loss"}});
  const auto results = session.run();
  CHECK(session.trainer().step() == 3);
  const Measurement& time = named(results, "time");
  CHECK(time.samples.size() == 1);
  CHECK(time.status == Status::mistrusted);  // one sample
  CHECK(named(results, "framework_overhead").samples.size() == 1);
  CHECK(std::ranges::count(results, "loss", &Measurement::metric) == 1);
  CHECK(session.trainer().events().empty());
}

TEST_CASE("what a recipe accepts says which number is printed") {
  const auto of = [](const std::string& words) {
    TrainingSession session(tiny("acceptable:\n  test_accuracy: {at_least: 0" + words + "}\n"));
    return named(session.run(), "test_accuracy").statistic;
  };
  CHECK(of("") == Statistic{.of = Statistic::Of::last});
  CHECK(of(", of: best") == Statistic{.of = Statistic::Of::best});
  CHECK(of(", of: median") == Statistic{});
}

TEST_CASE("what is judged is the number that is printed, whatever the metric's own statistic") {
  struct Tail final : TrainingMetric {
    std::string name() const override { return "tail"; }
    std::string unit() const override { return "1"; }
    Quantity quantity() const override { return Quantity::other; }
    Statistic statistic() const override { return {.quantile = 0.99}; }
    void after_batch(Trainer&, const Batch&, const ValueMap&) override {
      samples_.push_back(double(samples_.size()));
    }
  };
  const auto result_of = [](const std::string& bound) {
    const auto acceptable =
        tiny("acceptable:\n  test_accuracy: {" + bound + "}\n").acceptable().front();
    Measurement result{.metric = "tail", .statistic = Tail().statistic(), .samples = {0, 1, 9}};
    judge(result, acceptable);
    return result;
  };
  // The metric's own: its 99th percentile is 9. Best is what its direction says: the least.
  CHECK(result_of("at_most: 8").status == Status::failed);
  CHECK(estimate(result_of("at_most: 1, of: median")).value == 1);
  CHECK(result_of("at_most: 1, of: median").status == Status::passed);
  CHECK(result_of("at_least: 1, of: best").status == Status::failed);
  CHECK(estimate(result_of("at_least: 1, of: best")).value == 0);
  CHECK(result_of("at_least: 9, of: maximum").status == Status::passed);
}

TEST_CASE("a record tells seed, learning rate and criterion, also where they are the usual ones") {
  Recipe usual = Recipe::parse(R"(name: usual
fixed:
  dataset: {name: mnist, subset: sample, train_samples: 20, test_samples: 10}
  model: {name: lenet}
  optimizer: {name: sgd}
acceptable: {test_accuracy: {at_least: 0}}
)",
                               "usual.yaml");
  const auto results = TrainingSession(usual, {.data = ""}).run();
  const auto& conditions = named(results, "test_accuracy").conditions;
  CHECK(conditions.at("accepted") == "at least 0");
  CHECK(conditions.at("seed") == "0");
  CHECK(conditions.at("learning_rate") == "0.01");
  CHECK(conditions.at("optimizer") == "sgd");
  CHECK(conditions.at("batch") == "64");
  CHECK_FALSE(named(results, "loss").conditions.contains("accepted"));
}

TEST_CASE("the files of a data set are artefacts of what was trained on them") {
  TrainingSession session(tiny());
  const auto results = session.run();
  const auto& artefacts = results.front().artefacts;
  REQUIRE(artefacts.size() == 1 + 4);
  CHECK(artefacts[0].name == "recipe tiny");
  for (const Artefact& one : artefacts) CHECK(one.sha256.size() == 64);
  CHECK_THAT(artefacts[1].name, Catch::StartsWith("train-images-idx3-ubyte"));
  CHECK_THAT(artefacts[4].name, Catch::StartsWith("t10k-labels-idx1-ubyte"));
}

TEST_CASE("training among other work says so after the epoch, and mistrusts its times alone") {
  const testing::BusyProcessors others;
  std::vector<std::string> lines;
  Recipe longer = tiny();
  longer.set("training.epochs=100");  // longer than the 0.1 s that the system's counters need
  TrainingSession session(longer, {.say = [&](const std::string& line) { lines.push_back(line); }});
  const auto results = session.run();
  CHECK(named(results, "batch_time").status == Status::mistrusted);
  CHECK_THAT(named(results, "epoch_time").reason, Catch::Contains("other work kept"));
  CHECK(named(results, "loss").status == Status::passed);
  CHECK(std::ranges::any_of(
      lines, [](const std::string& line) { return line.starts_with("warning: other work kept"); }));
}

TEST_CASE("a metric that misses what is accepted is a failed record") {
  TrainingSession session(tiny("acceptable:\n  test_accuracy: {at_least: 1.1}\n"));
  const auto results = session.run();
  CHECK(named(results, "test_accuracy").status == Status::failed);
  CHECK_THAT(named(results, "test_accuracy").reason, Catch::Contains("at least 1.1"));
  CHECK(named(results, "loss").status == Status::passed);
  CHECK_FALSE(run_recipe(tiny("acceptable:\n  test_accuracy: {at_least: 1.1}\n")).accepted);
  CHECK(run_recipe(tiny("acceptable:\n  test_accuracy: {at_least: 0}\n")).accepted);
}

TEST_CASE("an interrupt ends a session that opens its data") {
  CHECK_THROWS_AS(TrainingSession(tiny(), {}, {.wished = [] { return true; }}), Interrupted);
}

TEST_CASE("a loss that explodes fails the records and keeps what was seen") {
  Recipe recipe = tiny();
  recipe.set("optimizer.learning_rate=1e30");
  TrainingSession session(recipe);
  const auto results = session.run();
  CHECK(named(results, "loss").status == Status::failed);
  CHECK_THAT(named(results, "loss").reason, Catch::Contains("epoch 1 of 1"));
  CHECK_FALSE(named(results, "loss").samples.empty());
}

TEST_CASE(
    "what an interrupted session measured is kept and mistrusted, what it did not is skipped") {
  struct Stopper final : TrainingEvent {
    std::stop_source stop;
    void after_batch(Trainer&, const Batch&, const ValueMap&) override { stop.request_stop(); }
  };
  const auto stopper = std::make_shared<Stopper>();
  TrainingSession session(tiny("acceptable:\n  test_accuracy: {at_least: 1.1}\n"));
  session.trainer().events().add(stopper);
  const auto results = session.run({.token = stopper->stop.get_token()});
  CHECK(named(results, "loss").samples.size() == 1);
  CHECK(named(results, "loss").status == Status::mistrusted);
  CHECK(named(results, "loss").reason == "interrupted");
  CHECK(named(results, "test_accuracy").status == Status::skipped);
  CHECK(named(results, "test_accuracy").reason == "interrupted");
}

TEST_CASE("the same seed gives the same bits, another seed others") {
  const auto results = test_training(tiny());
  CHECK(named(results, "reproducibility").samples == std::vector<double>{0});
  CHECK(named(results, "reproducibility").status == Status::passed);

  Recipe other = tiny();
  other.set("training.seed=2");
  TrainingSession first(tiny()), second(other);
  (void)first.run();
  (void)second.run();
  CHECK(weights(first) != weights(second));
}

TEST_CASE("a session resumes from its checkpoint, also with more epochs") {
  const testing::TemporaryFolder folder;
  const std::string file = folder / "run.ckpt";
  Recipe longer = tiny();
  longer.set("training.epochs=2");
  TrainingSession whole(longer);
  (void)whole.run();

  Recipe cut = tiny();
  cut.set("training.most_batches=2");
  TrainingSession first(cut, {.checkpoint = file});
  (void)first.run();
  TrainingSession second(longer, {.resume = file});
  const auto results = second.run();
  CHECK(weights(second) == weights(whole));
  CHECK(named(results, "loss").samples.size() == 6);

  Recipe other = tiny();
  other.set("optimizer.learning_rate=0.01");
  CHECK_THROWS_WITH(TrainingSession(other, {.resume = file}), Catch::Contains("another recipe"));
  CHECK_THROWS_AS(TrainingSession(tiny(), {.resume = file, .variant = "ranks=2"}), FormatError);
}

TEST_CASE("the seams get the recipe's sampler and optimizer, and theirs are used") {
  int samplers_made = 0, optimizers_wrapped = 0;
  TrainingSession session(tiny(),
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
  CHECK(named(session.run(), "loss").samples.size() == 5);
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
  void declare(OptionList& options) { options.add("bias", bias, "of every class"); }
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
  CHECK(weights(session) == std::vector<float>(10, 3.0f));
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
    Recipe recipe = tiny();
    recipe.set(what + "=" + by);
    TrainingSession session(recipe);
  };
  CHECK_THROWS_WITH(complain("optimizer.name", "momentun"), Catch::Contains("momentum"));
  CHECK_THROWS_WITH(complain("optimizer.learning_rate", "fast"),
                    Catch::Contains("tiny.yaml") && Catch::Contains("fast"));
  CHECK_THROWS_AS(complain("sampler.batch_size", "0"), ValueError);
  CHECK_THROWS_AS(complain("training.epochs", "-1"), ValueError);
  CHECK_THROWS_WITH(TrainingSession(tiny("acceptable:\n  test_acuracy: {at_least: 1}\n")),
                    Catch::Contains("test_accuracy"));
  CHECK_THROWS_WITH(TrainingSession(tiny(), {.data = "/nonexistent"}), Catch::Contains("subset"));
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
