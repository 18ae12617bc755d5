// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/pipeline/pipeline.hpp"

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <latch>
#include <numeric>
#include <stop_token>
#include <thread>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/manifest/dataset_samples.hpp"
#include "d5/evaluation/manifest/manifest_place.hpp"
#include "d5/evaluation/manifest/model_manifest.hpp"
#include "d5/evaluation/pipeline/model_pipeline.hpp"
#include "d5/level2_training/data/transformed_dataset.hpp"
#include "tests/evaluation/few_threads.hpp"
#include "tests/evaluation/toy_evaluation.hpp"

namespace d5 {
namespace {

std::vector<std::int64_t> numbers(std::int64_t count) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  return all;
}

double number_in(const PipelineItem& item) { return item.answer.at("x").tensor().item<double>(); }

/// Stages that add their place in a way that does not commute, and take longer for some items.
StreamStage stage(const std::string& name, int threads, double factor) {
  return {name, threads, [factor](PipelineItem& item) {
            if (item.sample % 7 == 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
            const auto x = item.answer.contains("x") ? number_in(item) : double(item.sample);
            item.answer["x"] = Tensor::scalar(factor * x + 1);
          }};
}

void nothing(std::span<PipelineItem*>) {}

TEST_CASE("the order is kept and no result depends on the number of threads") {
  const int threads = GENERATE(1, 2, 5);
  const std::int64_t batch = GENERATE(1, 4, 1000);
  const std::int64_t queue = GENERATE(1, 3);
  Pipeline pipeline({stage("a", threads, 2), stage("b", threads, 3)}, nothing,
                    {stage("c", threads, 5)}, {.batch = batch, .queue = queue});
  std::int64_t next = 0;
  const auto report = pipeline.run(numbers(50), [&](PipelineItem& item) {
    CHECK(item.sample == next++);
    CHECK(item.fault == "");
    CHECK(number_in(item) == 5 * (3 * (2 * double(item.sample) + 1) + 1) + 1);
  });
  CHECK(next == 50);
  REQUIRE(report.stages.size() == 4);
  CHECK(report.stages[2].name == "predict");
  for (const auto& one : report.stages) {
    CHECK(one.items == 50);
    CHECK(one.deepest >= 1);
    CHECK(one.deepest <= queue + (one.name == "predict" ? batch : 0));
    CHECK(one.mean_depth >= 1);
  }
}

TEST_CASE("batches are formed of what comes, the last one is shorter") {
  std::vector<std::size_t> sizes;
  Pipeline pipeline({}, [&](std::span<PipelineItem*> items) { sizes.push_back(items.size()); }, {},
                    {.batch = 4});
  std::int64_t answered = 0;
  (void)pipeline.run(numbers(10), [&](PipelineItem&) { ++answered; });
  CHECK(sizes == std::vector<std::size_t>{4, 4, 2});
  CHECK(answered == 10);
  sizes.clear();
  (void)pipeline.run({}, [](PipelineItem&) { FAIL("there is no item"); });
  CHECK(sizes.empty());
}

TEST_CASE("stages work at the same time") {
  // Each waits for the other: without overlap nobody would ever go on.
  std::latch both(2);
  Pipeline pipeline({{"first", 1,
                      [&](PipelineItem& item) {
                        if (item.sample == 1) both.arrive_and_wait();
                      }}},
                    [&](std::span<PipelineItem*> items) {
                      if (items[0]->sample == 0) both.arrive_and_wait();
                    },
                    {});
  std::int64_t answered = 0;
  (void)pipeline.run(numbers(2), [&](PipelineItem&) { ++answered; });
  CHECK(answered == 2);
}

TEST_CASE("a step that throws spoils its own item alone") {
  std::atomic<int> spoilt_ones = 0;  // Catch's checks are for one thread at a time
  Pipeline pipeline(
      {{"odd", 3,
        [](PipelineItem& item) {
          if (item.sample % 2 == 1) throw FormatError("is odd");
        }}},
      [&](std::span<PipelineItem*> items) {
        for (PipelineItem* item : items) {
          spoilt_ones += item->sample % 2 == 1;
          item->answer["x"] = Tensor::scalar(1.0);
        }
      },
      {{"after", 2, [&](PipelineItem& item) { spoilt_ones += item.sample % 2 == 1; }}},
      {.batch = 3});
  std::int64_t next = 0;
  (void)pipeline.run(numbers(20), [&](PipelineItem& item) {
    CHECK(item.sample == next);
    CHECK(item.fault == (next++ % 2 == 1 ? "is odd" : ""));
  });
  CHECK(next == 20);
  CHECK(spoilt_ones == 0);
}

TEST_CASE("what predict throws is the fault of its batch") {
  Pipeline pipeline({},
                    [](std::span<PipelineItem*> items) {
                      if (items[0]->sample == 4) throw ShapeError("does not fit");
                    },
                    {}, {.batch = 4});
  (void)pipeline.run(numbers(12), [](PipelineItem& item) {
    const bool second = item.sample >= 4 && item.sample < 8;
    CHECK(item.fault == (second ? "does not fit" : ""));
  });
}

TEST_CASE("an observer of answers may end the run, and so may an interrupt") {
  const int threads = GENERATE(1, 4);
  Pipeline pipeline({stage("a", threads, 2)}, nothing, {stage("b", threads, 2)}, {.queue = 2});
  std::int64_t heard = 0;
  CHECK_THROWS_AS(pipeline.run(numbers(1000),
                               [&](PipelineItem&) {
                                 if (++heard == 5) throw NumericError("enough");
                               }),
                  NumericError);
  std::stop_source stop;
  Pipeline endless({stage("a", threads, 2)}, nothing, {},
                   {.interrupt = {.token = stop.get_token()}});
  CHECK_THROWS_AS(endless.run(numbers(100'000),
                              [&](PipelineItem& item) {
                                if (item.sample == 10) stop.request_stop();
                              }),
                  Interrupted);
}

TEST_CASE("a pipeline without threads, batch or queue is refused") {
  CHECK_THROWS_AS(Pipeline({stage("a", 0, 1)}, nothing, {}), ValueError);
  CHECK_THROWS_AS(Pipeline({}, nothing, {}, {.batch = 0}), ValueError);
  CHECK_THROWS_AS(Pipeline({}, nothing, {}, {.queue = 0}), ValueError);
}

TEST_CASE("a model's stages give what one thread and a chain of steps give, to the bit") {
  const testing::ToyEvaluation toy;
  const auto model = find_manifest<ModelManifest>(toy.model()).manifest;
  const auto data = find_manifest<DatasetManifest>(toy / "colours.yaml").manifest;
  const auto samples = open_samples(data);
  const auto& steps = model.inputs[0].steps;
  const ModelPipeline way(samples, {{.name = "image", .steps = steps}}, model.answer);
  const TransformedDataset by_hand(samples, steps);
  const int threads = GENERATE(1, 3);
  Pipeline pipeline(way.stages_before(threads),
                    [](std::span<PipelineItem*> items) {
                      for (PipelineItem* item : items) {
                        item->answer["means"] = Tensor::vector(std::vector<float>{1, 3, 2});
                      }
                    },
                    way.stages_after(threads), {.batch = 5});
  std::int64_t next = 0;
  (void)pipeline.run(numbers(way.size()), [&](PipelineItem& item) {
    REQUIRE(item.fault == "");
    const Tensor& got = item.inputs.at("image").tensor();
    PipelineItem alone{.sample = next++};
    way.prepare(alone);
    std::vector<Tensor> chained = empty_batch(by_hand, 1);
    by_hand.read({&item.sample, 1}, {}, chained);
    for (const Tensor& expected : {alone.inputs.at("image").tensor(), chained[0]}) {
      REQUIRE(got.desc() == expected.desc());
      CHECK(std::memcmp(got.raw(), expected.raw(), got.bytes()) == 0);
    }
    CHECK(item.fields.at("label").tensor().item<std::int64_t>() == item.sample % 3);
    CHECK(item.answer.at("classes").tensor().data<std::int64_t>()[0] == 1);
  });
  CHECK(next == 12);
}

TEST_CASE("a pipeline of more threads than the system makes ends, and says so") {
  Pipeline pipeline({{"many", FewThreads::kTooMany, [](PipelineItem&) {}}}, nothing, {});
  const FewThreads few;
  CHECK_THROWS_WITH(pipeline.run(numbers(1000), [](PipelineItem&) {}),
                    Catch::StartsWith("pipeline: the system makes no more threads"));
}

}  // namespace
}  // namespace d5
