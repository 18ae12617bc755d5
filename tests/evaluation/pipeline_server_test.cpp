// SPDX-License-Identifier: Apache-2.0
#include "evaluation/run/pipeline_server.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/accuracy/accuracy_measure.hpp"
#include "d5/evaluation/load/scenario.hpp"
#include "d5/level2_training/data/sample_step.hpp"
#include "evaluation/run/pipeline_system.hpp"
#include "tests/evaluation/few_threads.hpp"

namespace d5 {
namespace {

/// Sample i is the number i.
class FortyNumbers final : public Dataset {
 public:
  [[nodiscard]] std::string name() const override { return "numbers"; }
  [[nodiscard]] std::int64_t size() const override { return 40; }
  [[nodiscard]] const std::vector<Field>& fields() const override { return fields_; }
  void read(std::span<const std::int64_t> indices, const Draw&,
            std::span<Tensor> batch) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      batch[0].data<float>()[i] = float(indices[i]);
    }
  }

 private:
  std::vector<Field> fields_{{.name = "number", .desc = {DType::float32, Shape{}}}};
};

/// Lets all pass but 13, and tells who comes.
class WatchedStep final : public SampleStep {
 public:
  static inline std::function<void(float)> watching = {};
  [[nodiscard]] TensorDesc describe(const TensorDesc& in) const override { return in; }
  void run(StepRun& run) const override {
    const float number = *run.input().as<float>();
    if (watching) watching(number);
    if (number == 13) throw FormatError("13 is none");
    run.keep();
  }
};

/// Its answer to x is 2x + 1.
class Doubled final : public Predictor {
 public:
  explicit Doubled(std::function<void(double)> predicting = {})
      : predicting_(std::move(predicting)) {}
  [[nodiscard]] std::string name() const override { return "doubled"; }
  const ValueMap& predict(const ValueMap& inputs) override {
    const Tensor& x = inputs.at("x").tensor();
    if (predicting_) predicting_(x.data<float>()[0]);
    Tensor y = Tensor::empty(x.dtype(), x.shape());
    for (std::int64_t i = 0; i < x.elements(); ++i) y.data<float>()[i] = 2 * x.data<float>()[i] + 1;
    outputs_["y"] = std::move(y);
    return outputs_;
  }

 private:
  std::function<void(double)> predicting_;
  ValueMap outputs_;
};

ModelPipeline numbers_watched(std::function<void(float)> watching = {}) {
  static const bool added = [] {
    sample_steps().add("watched_number", SampleStepEntry::of<WatchedStep>("test step"));
    return true;
  }();
  (void)added;
  WatchedStep::watching = std::move(watching);
  return {std::make_shared<FortyNumbers>(),
          {{.name = "x", .field = "number", .steps = {{"watched_number"}}}},
          {}};
}

/// Every sample's answer, or the empty text.
std::map<std::int64_t, std::string> answers_of(SystemUnderTest& system) {
  const ScenarioResult result = scenarios()
                                    .at("closed_loop")
                                    .make({{"users", 8}})
                                    ->run(system, {.mode = ScenarioOptions::Mode::accuracy});
  CHECK(result.queries.size() == 40);
  std::map<std::int64_t, std::string> answers;
  for (const QueryRecord& query : result.queries) {
    CHECK((query.status == Status::passed) == (query.sample != 13));
    CHECK(query.issued <= query.begun);
    CHECK(query.begun <= query.ended);
    answers[query.sample];
  }
  for (const KeptAnswer& answer : result.answers) {
    answers[answer.sample] = {reinterpret_cast<const char*>(answer.bytes.data()),
                              answer.bytes.size()};
  }
  return answers;
}

TEST_CASE("a served model's answers are those of one that is asked alone") {
  auto way = numbers_watched();
  detail::PipelineSystem alone(way, std::make_shared<Doubled>(), 1);
  const auto expected = answers_of(alone);
  CHECK(expected.at(13).empty());
  CHECK(expected.at(7).find("15") != std::string::npos);
  const int instances = GENERATE(1, 3);
  const std::int64_t batch = GENERATE(1, 4);
  const int stage_threads = GENERATE(1, 2);
  detail::PipelineServer server(way, "doubled", [](int) { return std::make_shared<Doubled>(); },
                                {.served = {.instances = instances,
                                            .largest_batch = batch,
                                            .longest_wait = batch > 1 ? 0.001 : 0},
                                 .stage_threads = stage_threads});
  CHECK(answers_of(server) == expected);
}

TEST_CASE("what is judged is what is timed: a pipeline answers as a system does") {
  auto way = numbers_watched();
  Doubled doubled;
  detail::PipelineSystem alone(way, std::make_shared<Doubled>(), 4);
  const auto expected = answers_of(alone);
  Pipeline judged(way.stages_before(2),
                  [&](std::span<PipelineItem*> items) { way.predict(doubled, items); },
                  way.stages_after(1), {.batch = 4});
  std::vector<std::int64_t> samples(40);
  std::iota(samples.begin(), samples.end(), 0);
  std::map<std::int64_t, std::string> answers;
  (void)judged.run(samples, [&](PipelineItem& item) {
    answers[item.sample] = item.fault.empty() ? answer_text(item.answer) : "";
  });
  CHECK(answers == expected);
}

TEST_CASE("instances predict at once, and samples are prepared meanwhile") {
  // The first to arrive waits for the others: without overlap none would ever go on.
  std::latch all(3);
  auto way = numbers_watched([&](float sample) {
    if (sample == 2) all.arrive_and_wait();
  });
  detail::PipelineServer server(way, "doubled",
                                [&](int) {
                                  return std::make_shared<Doubled>([&](double x) {
                                    if (x < 2) all.arrive_and_wait();
                                  });
                                },
                                {.served = {.instances = 2}});
  (void)answers_of(server);
}

TEST_CASE("a batch waits for its queries, and for no more once they were all asked") {
  auto way = numbers_watched();
  detail::PipelineServer server(way, "doubled", [](int) { return std::make_shared<Doubled>(); },
                                {.served = {.largest_batch = 4, .longest_wait = 3600}});
  const ScenarioResult result = scenarios()
                                    .at("batched")
                                    .make({{"batch", 10}})
                                    ->run(server, {.least_queries = 1, .performance_samples = 10});
  // Ten samples that arrive at once form batches of four, four, and, after `flush`, two.
  std::map<std::int32_t, int> sizes;
  for (const QueryRecord& query : result.queries) ++sizes[query.batch];
  CHECK(sizes == std::map<std::int32_t, int>{{2, 2}, {4, 8}});
}

TEST_CASE("a predictor that throws fails its batch, and ends nothing") {
  auto way = numbers_watched();
  detail::PipelineServer server(way, "doubled",
                                [](int) {
                                  return std::make_shared<Doubled>([](double x) {
                                    if (x == 5) throw 5;
                                  });
                                },
                                {});
  const ScenarioResult result = scenarios()
                                    .at("closed_loop")
                                    .make({{"users", 2}})
                                    ->run(server, {.mode = ScenarioOptions::Mode::accuracy});
  for (const QueryRecord& query : result.queries) {
    CHECK((query.status == Status::failed) == (query.sample == 5 || query.sample == 13));
  }
  CHECK(result.status == Status::failed);
}

TEST_CASE("a server that is closed leaves nobody waiting") {
  auto way = numbers_watched();
  std::vector<std::int64_t> ids;
  std::mutex mutex;
  {
    detail::PipelineServer server(way, "doubled", [](int) { return std::make_shared<Doubled>(); },
                                  {.served = {.largest_batch = 7, .longest_wait = 3600}});
    server.on_complete([&](std::span<const QueryAnswer> answers) {
      const std::lock_guard lock(mutex);
      for (const auto& answer : answers) ids.push_back(answer.id);
    });
    std::vector<Query> queries;
    for (std::int64_t i = 0; i < 40; ++i) queries.push_back({.id = 100 + i, .sample = i});
    server.issue(queries);
  }
  CHECK(ids.size() == 40);
}

TEST_CASE("more threads than the system makes are refused, and the others ended") {
  auto way = numbers_watched();
  const FewThreads few;
  CHECK_THROWS_WITH(
      detail::PipelineServer(way, "doubled", [](int) { return std::make_shared<Doubled>(); },
                             {.stage_threads = FewThreads::kTooMany}),
      Catch::StartsWith("doubled: the system makes no more threads"));
}

}  // namespace
}  // namespace d5
