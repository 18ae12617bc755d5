// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "d5/core/trace/trace.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "tests/level2_training/points.hpp"

using namespace d5;

namespace {

/// "training > epoch > batch": what a record is inside, outermost first.
std::string place_of(const Timeline& timeline, const TraceRecord& record) {
  const auto parent = std::ranges::find(timeline.records, record.parent, &TraceRecord::id);
  const std::string above = record.parent == 0 ? "" : place_of(timeline, *parent) + " > ";
  return above + record.name;
}

}  // namespace

TEST_CASE("training, its data, runs, updates and test runs are on one timeline") {
  const auto optimizer = test::points_optimizer("sgd");
  const auto train = samplers().at("ordered").make(test::points(5), {{"batch_size", 2}});
  const auto tested = samplers().at("ordered").make(test::points(3), {{"batch_size", 2}});
  Trainer trainer(*optimizer, *train, tested.get(), {.epochs = 2});
  Trace::start();
  trainer.run();
  Trace::stop();

  const Timeline timeline = Trace::timeline();
  std::map<std::string, int> count;
  for (const auto& record : timeline.records) {
    if (record.level != "operator") ++count[place_of(timeline, record)];
  }
  // Two epochs of three batches, and a test run of two; each look for a batch after the last finds
  // none, and reads nothing.
  const std::string epoch = "training > epoch", batch = epoch + " > batch",
                    test = epoch + " > test";
  CHECK(count == std::map<std::string, int>{{"training", 1},
                                            {epoch, 2},
                                            {epoch + " > next batch", 8},
                                            {epoch + " > next batch > read points", 6},
                                            {batch, 6},
                                            {batch + " > inference_and_backprop", 6},
                                            {batch + " > update", 6},
                                            {"loss", 6},
                                            {test, 2},
                                            {test + " > next batch", 6},
                                            {test + " > next batch > read points", 4},
                                            {test + " > inference", 4}});
}

TEST_CASE("waiting for threads that read ahead is on the timeline, beside their reading") {
  const auto sampler = samplers().at("ordered").make(test::points(6), {{"batch_size", 2}});
  sampler->read_ahead(1);
  Trace::start();
  while (sampler->next()) {
  }
  Trace::stop();
  const Timeline timeline = Trace::timeline();
  std::map<std::string, int> count;
  int waiting = -1, reading = -1;  // lanes
  for (const auto& record : timeline.records) {
    ++count[record.name];
    (record.name == "wait for data" ? waiting : reading) = record.lane;
  }
  // Two pieces a batch, for each has two samples.
  CHECK(count == std::map<std::string, int>{{"wait for data", 3}, {"read points", 6}});
  CHECK(waiting != reading);
}
