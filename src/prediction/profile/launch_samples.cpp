// SPDX-License-Identifier: Apache-2.0
#include "prediction/profile/launch_samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "d5/core/statistics/statistics.hpp"

namespace d5::detail {
namespace {

std::size_t steps_of_copy(const TrainingProfile::Times& times) {
  return std::accumulate(
      times.launches.begin(), times.launches.end(), std::size_t{0},
      [](std::size_t sum, std::int64_t steps) { return sum + static_cast<std::size_t>(steps); });
}

}  // namespace

std::vector<std::vector<std::size_t>> samples_of_launches(const TrainingProfile::Times& times,
                                                          int copies) {
  if (times.launches.empty()) {
    std::vector<std::size_t> all(times.steps.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return {all};
  }
  std::vector<std::vector<std::size_t>> result;
  const std::size_t of_copy = steps_of_copy(times);
  std::size_t before = 0;  // steps of earlier launches, per copy
  for (const std::int64_t steps : times.launches) {
    auto& launch = result.emplace_back();
    for (std::size_t copy = 0; copy < static_cast<std::size_t>(copies); ++copy) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(steps); ++i) {
        launch.push_back(copy * of_copy + before + i);
      }
    }
    before += static_cast<std::size_t>(steps);
  }
  return result;
}

std::string wrong_launches(const TrainingProfile::Times& times, int copies) {
  if (times.launches.empty()) return "";
  if (std::ranges::min(times.launches) < 1) {
    return fmt::format("a launch of {} steps", std::ranges::min(times.launches));
  }
  const std::size_t of_copy = steps_of_copy(times), steps = times.steps.size();
  const std::size_t unobserved = times.unobserved.size(), all = static_cast<std::size_t>(copies);
  const bool fit = steps % all == 0 && steps / all == of_copy;  // no product: it might overflow
  if (fit && (unobserved == 0 || unobserved == steps)) return "";
  return fmt::format("{} steps and {} unobserved ones of {} copies, and launches of {} steps each",
                     steps, unobserved, copies, of_copy);
}

const TrainingProfile::Times& nearest_times(const TrainingProfile& profile, std::int64_t batch) {
  return *std::ranges::min_element(
      profile.batches, {}, [&](const auto& times) { return std::abs(times.batch - batch); });
}

void judge_steps(TrainingProfile& profile) {
  constexpr std::size_t kEnough = 30;
  constexpr double kMostRecording = 1.01;  // above the noise of a busy machine
  std::size_t fewest = kEnough;
  for (const auto& times : profile.batches) {
    fewest = std::min(fewest, times.steps.size() / static_cast<std::size_t>(profile.copies));
  }
  if (fewest < kEnough) {
    profile.mistrusted.push_back(
        fmt::format("{} steps of each batch size, fewer than {}", fewest, kEnough));
  }
  for (const auto& times : profile.batches) {
    if (times.steps.size() != times.unobserved.size()) continue;
    const Comparison recording = compare(times.steps, times.unobserved);
    if (!(recording.ratio_interval.low > kMostRecording)) continue;
    profile.mistrusted.push_back(fmt::format("recording makes a step of batch {} {:.2f}% longer",
                                             times.batch, (recording.ratio - 1) * 100));
  }
}

}  // namespace d5::detail
