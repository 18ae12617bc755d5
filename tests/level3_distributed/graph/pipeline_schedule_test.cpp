// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/graph/pipeline_schedule.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"

using namespace d5;

namespace {

constexpr auto kForward = PipelineTask::Pass::forward, kBackward = PipelineTask::Pass::backward;

/// Gives every stage the same tasks.
class SameTasks final : public PipelineSchedule {
 public:
  explicit SameTasks(std::vector<PipelineTask> tasks) : tasks_(std::move(tasks)) {}
  std::vector<PipelineTask> tasks(int, int, int) const override { return tasks_; }

 private:
  std::vector<PipelineTask> tasks_;
};

/// The first stage goes back between two micro-batches, the last one only after both.
class Deadlock final : public PipelineSchedule {
 public:
  std::vector<PipelineTask> tasks(int stage, int, int) const override {
    if (stage == 0) return {{kForward, 0}, {kBackward, 0}, {kForward, 1}, {kBackward, 1}};
    return {{kForward, 0}, {kForward, 1}, {kBackward, 0}, {kBackward, 1}};
  }
};

}  // namespace

TEST_CASE("every schedule ends, with the bubble of its paper and no more in flight") {
  for (const std::string name : {"gpipe", "1f1b"}) {
    const auto schedule = pipeline_schedules().at(name).make();
    for (int k = 1; k <= 8; ++k) {
      for (int m = 1; m <= 8; ++m) {
        INFO(name << ", " << k << " stages, " << m << " micro-batches");
        const PipelineTrial trial = try_schedule(*schedule, k, m);
        CHECK(trial.time == 2 * (m + k - 1));
        CHECK(trial.bubble == Approx(double(k - 1) / (m + k - 1)).epsilon(1e-14).margin(1e-15));
        for (int s = 0; s < k; ++s) {
          CHECK(trial.most_in_flight[std::size_t(s)] == (name == "gpipe" ? m : std::min(m, k - s)));
        }
      }
    }
  }
}

TEST_CASE("invalid schedules are refused") {
  const auto refused = [](std::vector<PipelineTask> tasks, int micro_batches = 1) {
    CHECK_THROWS_AS(try_schedule(SameTasks(std::move(tasks)), 2, micro_batches), ValueError);
  };
  refused({{kForward, 0}});
  refused({{kBackward, 0}, {kForward, 0}});
  refused({{kForward, 0}, {kForward, 0}});
  refused({{kForward, 0}, {kBackward, 7}});
  CHECK_THROWS_AS(try_schedule(Deadlock(), 2, 2), ValueError);
  const auto gpipe = pipeline_schedules().at("gpipe").make();
  CHECK_THROWS_AS(try_schedule(*gpipe, 0, 1), ValueError);
  CHECK_THROWS_AS(try_schedule(*gpipe, 1, 0), ValueError);
}
