// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/phantom_tensor.hpp"
#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level1_network/source/models.hpp"
#include "tests/level3_distributed/model_parallel/parted_training.hpp"
#include "tests/level3_distributed/this_rank.hpp"

using namespace d5;
using namespace d5::testing;

namespace {

std::vector<std::string> pipeline(int stages, int micro_batches,
                                  const std::string& option = "schedule=1f1b") {
  return {"stages=" + std::to_string(stages), "micro_batches=" + std::to_string(micro_batches),
          option};
}

struct NoOptions {
  void declare(OptionList&) {}
};

/// The last network made, as held by a session.
Network& last_made() {
  static Network network("none");
  return network;
}

/// Batch normalization, whose running statistics one of the stages has.
Network normalised(const NoOptions&) {
  Network network("normalised");
  const auto weights = [](std::int64_t in, std::int64_t out) {
    std::vector<float> values(std::size_t(in * out));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = float(i * 7 % 17) / 170 - 0.05f;
    return Tensor::of<float>({in, out}, std::span<const float>(values));
  };
  network.add_input("image", DType::float32,
                    {"N", std::int64_t{1}, std::int64_t{28}, std::int64_t{28}});
  network.add_input("label", DType::int64, {"N"});
  network.add_parameter("first", weights(784, 8));
  network.add_parameter("scale", Tensor::vector<float>(std::vector<float>(8, 1)));
  network.add_parameter("shift", Tensor::vector<float>(std::vector<float>(8, 0)));
  network.add_constant("mean", Tensor::vector<float>(std::vector<float>(8, 0)));
  network.add_constant("variance", Tensor::vector<float>(std::vector<float>(8, 1)));
  network.add_parameter("second", weights(8, 10));
  network.add_node("Flatten", {"image"}, {"flat"});
  network.add_node("MatMul", {"flat", "first"}, {"hidden"});
  network.add_node("BatchNormalization", {"hidden", "scale", "shift", "mean", "variance"},
                   {"n", "new_mean", "new_variance"}, {{"training_mode", std::int64_t{1}}});
  network.add_update("mean", "new_mean");
  network.add_update("variance", "new_variance");
  network.add_node("Relu", {"n"}, {"active"});
  network.add_node("MatMul", {"active", "second"}, {"logits"});
  network.add_node("SoftmaxCrossEntropyLoss", {"logits", "label"}, {"loss"});
  network.add_output("logits");
  network.add_output("loss");
  return last_made() = network;
}

/// Records the values that this rank holds during training.
class Held final : public TrainingEvent {
 public:
  std::map<std::string, std::int64_t> bytes;
  bool released = true;  ///< the network that was cut

  void after_batch(Trainer& trainer, const Batch&, const ValueMap&) override {
    bytes.clear();
    for (const Parameter& parameter : trainer.optimizer().executor().network().parameters()) {
      bytes["values"] += std::int64_t(parameter.value.bytes());
      bytes["gradients"] += std::int64_t(parameter.gradient.bytes());
    }
    for (const auto& [name, value] : trainer.optimizer().state()) {
      if (value.tensor().elements() > rank_count) {  // no number of steps, no starts of stages
        bytes["remembered"] += std::int64_t(value.tensor().bytes());
      }
    }
    for (const char* name : {"first", "scale", "shift", "second"}) {
      released = released && is_phantom(last_made().fetch(name));
    }
  }
};

/// Records events of a step up to the end of its backpropagation.
class Announced final : public TrainingEvent, public ExecutionEvent {
 public:
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;  ///< final gradients, started sums

  void before_batch(Trainer&, const Batch&) override {
    final_ = 0;
    before_ = sums();
    steps.emplace_back();
  }
  void gradient_ready(Parameter&, std::size_t, Stream&) override { ++final_; }
  void after_run(Pass pass) override {
    if (pass == Pass::backward) steps.back() = {final_, sums() - before_};
  }

 private:
  static std::int64_t sums() {
    const auto& lines = world()->traffic().by_call;
    const auto place = lines.find("all_reduce");
    return place == lines.end() ? 0 : place->second.calls;
  }
  std::int64_t final_ = 0, before_ = 0;
};

/// Adds another observer to what runs the stage.
class ToExecutor final : public TrainingEvent {
 public:
  explicit ToExecutor(std::shared_ptr<Event> event) : event_(std::move(event)) {}
  std::size_t parameters = 0;
  void before_training(Trainer& trainer) override {
    GraphExecutor& executor = trainer.optimizer().executor();
    executor.events().add(event_);
    parameters = executor.network().parameters().size();
  }

 private:
  std::shared_ptr<Event> event_;
};

/// The name of the model in a recipe.
std::string normalised_model() {
  static const bool registered = [] {
    models().add("normalised", ModelEntry::with<NoOptions>("test model", normalised));
    return true;
  }();
  CHECK(registered);
  return "{name: normalised}";
}

}  // namespace

TEST_CASE("a pipeline trains what one rank does with the same batch") {
  for (const std::string optimizer :
       {"{name: momentum, learning_rate: 0.05, modifiers: [{name: clip_norm, most: 0.5}]}",
        "{name: adam, learning_rate: 0.001, epsilon: 0.001}"}) {
    const PartedRecipe recipe{.optimizer = optimizer};
    auto alone = trained_alone(recipe.alone());
    for (const int stages : parts_to_try()) {
      for (const std::string schedule : {"gpipe", "1f1b"}) {
        INFO(optimizer << " " << stages << " " << schedule);
        auto mine =
            trained_by_all(recipe.by("pipeline", pipeline(stages, 2, "schedule=" + schedule)));
        // Sums over micro-batches and replicas in place of one over the batch: each of 6 steps adds
        // rounding errors of a few 2^-24, which momentum carries on.
        CHECK(distance(mine.network, alone.network) <= 1e-5);
        CHECK(mine.result("test_accuracy").samples == alone.result("test_accuracy").samples);
        CHECK(mine.last("training_accuracy") == Approx(alone.last("training_accuracy")));
      }
    }
  }
}

TEST_CASE("a pipeline has the bits of one rank that accumulates as many pieces") {
  if (rank_count == 1) return;  // which trains by the recipe alone
  PartedRecipe recipe{.model = normalised_model()};
  auto mine = trained_by_all(recipe.by("pipeline", pipeline(rank_count, 3)));
  recipe.optimizer =
      "{name: momentum, learning_rate: 0.05, modifiers: [{name: accumulate, pieces: 3}]}";
  auto alone = trained_alone(recipe.alone());
  CHECK(same_bits(mine.network, alone.network));  // running statistics, too
  CHECK(mine.result("test_accuracy").samples == alone.result("test_accuracy").samples);
}

TEST_CASE(
    "a stage holds its own parameters alone, their gradients and what is remembered of them") {
  if (rank_count == 1) return;
  const auto held = std::make_shared<Held>();
  const PartedRecipe recipe{.model = normalised_model()};
  auto trained =
      trained_by_all(recipe.by("pipeline", pipeline(rank_count, 2)), {.observers = {held}});
  constexpr std::int64_t kWhole = std::int64_t{sizeof(float)} * (784 * 8 + 8 + 8 + 8 * 10);
  for (const char* what : {"values", "gradients", "remembered"}) {
    INFO(what);
    Tensor sum = Tensor::scalar(held->bytes[what]);
    CHECK(sum.item<std::int64_t>() < kWhole);
    world()->all_reduce(sum);
    CHECK(sum.item<std::int64_t>() == kWhole);
  }
  CHECK(held->released);
  CHECK_FALSE(is_phantom(last_made().fetch("first")));  // it was joined
  CHECK(trained.network.parameters().size() == 4);
}

TEST_CASE("replicas begin to sum each gradient while the last micro-batch goes back") {
  for (const int stages : parts_to_try()) {
    if (stages == rank_count) continue;  // no replicas
    INFO(stages);
    PartedRecipe recipe;
    const auto announced = std::make_shared<Announced>();
    const auto adding = std::make_shared<ToExecutor>(announced);
    auto options = pipeline(stages, 2);
    options.insert(options.end(), {"all_reduce=mpi", "bucket_bytes=1"});
    (void)trained_by_all(recipe.by("pipeline", options), {.observers = {adding, announced}});
    CHECK(announced->steps.size() == 6);
    const auto all = std::int64_t(adding->parameters);
    for (const auto& [final, sums] : announced->steps) {
      CHECK(final == all);  // each once, not with every micro-batch
      CHECK(sums == all);
    }
  }
}

TEST_CASE("norms and averages of parameters are those of all stages") {
  const std::vector<MetricChoice> norm{MetricChoice("gradient_norm")};
  const PartedRecipe recipe{.optimizer = "{name: momentum, learning_rate: 0.05, modifiers: [ema]}"};
  auto alone = trained_alone(recipe.alone(), norm);
  for (const int stages : parts_to_try()) {
    INFO(stages);
    auto mine = trained_by_all(recipe.by("pipeline", pipeline(stages, 2)), {.metrics = norm});
    CHECK(distance(mine.network, alone.network) <= 1e-5);  // as above
    const auto& its = alone.result("gradient_norm").samples;
    const auto& samples = mine.result("gradient_norm").samples;
    REQUIRE(samples.size() == its.size());
    for (std::size_t i = 0; i < its.size(); ++i) CHECK(samples[i] == Approx(its[i]).epsilon(1e-4));
  }
}

TEST_CASE("a pipeline goes on from a checkpoint to the bit, cut where it was") {
  if (rank_count == 1) return;
  for (const std::string costs : {"costs=flop", "costs=measured"}) {
    INFO(costs);
    const SharedFolder folder;
    const std::string cut = folder / "cut.ckpt";
    const auto ended = [&](int batches, SessionOptions session) {
      session.checkpoint_every = 2;
      const PartedRecipe recipe{.optimizer = "{name: adam, learning_rate: 0.001}",
                                .batches = batches};
      return trained_by_all(recipe.by("pipeline", pipeline(rank_count, 2, costs)),
                            std::move(session));
    };
    auto expected = ended(6, {});
    const auto begun = ended(4, {.checkpoint = cut});
    auto mine = ended(6, {.checkpoint = cut, .resume = cut});
    CHECK(mine.result("loss").conditions.at("stage_starts") ==
          begun.result("loss").conditions.at("stage_starts").text());
    CHECK(same_bits(mine.network, expected.network));
  }
}

TEST_CASE("a record tells the bubble that was measured beside the formula's") {
  if (rank_count == 1) return;
  const auto training = trained_by_all(PartedRecipe().by("pipeline", pipeline(rank_count, 4)),
                                       {.metrics = {MetricChoice("pipeline_bubble")}});
  const auto& bubble = training.result("pipeline_bubble");
  CHECK(bubble.samples.size() == 6);
  for (const double share : bubble.samples) {
    CHECK(share > 0);
    CHECK(share < 1);
  }
  CHECK(bubble.conditions.at("bubble").number().value() ==
        Approx((rank_count - 1.0) / (4 + rank_count - 1)));
}

TEST_CASE("pipelines that cannot be made are refused on every rank") {
  if (rank_count == 1) return;
  const auto all = [](const std::vector<std::string>& options, const PartedRecipe& recipe = {}) {
    (void)trained_by_all(recipe.by("pipeline", options));
  };
  CHECK_THROWS_AS(all(pipeline(rank_count + 1, 2)), ValueError);
  if (rank_count == 3) CHECK_THROWS_AS(all(pipeline(2, 2)), ValueError);
  CHECK_THROWS_WITH(all(pipeline(rank_count, 5)), Catch::Contains("micro-batches"));
  CHECK_THROWS_AS(all(pipeline(rank_count, 2, "starts=0,x")), ValueError);
  CHECK_THROWS_AS(all(pipeline(rank_count, 2, "starts=0,0,0,0")), ValueError);
  CHECK_THROWS_AS(all(pipeline(rank_count, 2, "schedule=none")), NotFound);
  if (rank_count == 4) {  // more stages than its three nodes
    CHECK_THROWS_AS(all(pipeline(4, 2), {.model = "{name: mlp, layers: 0}"}), ValueError);
  }
  const auto with = [&](const std::string& optimizer) {
    all(pipeline(rank_count, 2), {.optimizer = optimizer});
  };
  CHECK_THROWS_AS(with("{name: lbfgs}"), Unsupported);
  for (const std::string modifier : {"evolution", "sam"}) {
    CHECK_THROWS_AS(with("{name: sgd, learning_rate: 0.1, modifiers: [" + modifier + "]}"),
                    Unsupported);
  }
}
