// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/profile/training_profile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/prediction/graph/operation_kind.hpp"
#include "prediction/profile/launch_samples.hpp"

namespace d5 {
namespace {

/// The samples between the quartiles by `seconds`; all if there are few.
template <class Seconds>
std::vector<std::size_t> middle_of(std::vector<std::size_t> all, const Seconds& seconds) {
  std::ranges::stable_sort(all, {}, seconds);
  const auto cut = static_cast<std::ptrdiff_t>(all.size() / 4);
  return {all.begin() + cut, all.end() - cut};
}

double mean_of(const std::vector<double>& samples, const std::vector<std::size_t>& which) {
  double sum = 0;
  for (const std::size_t i : which) sum += samples[i];
  return sum / static_cast<double>(which.size());
}

/// The interquartile mean of samples of one launch, or of launches as samples.
StepTimes middle_step(const TrainingProfile::Times& times, std::vector<std::size_t> samples) {
  const auto steps = middle_of(std::move(samples), [&](std::size_t i) { return times.steps[i]; });
  StepTimes result{.batch = times.batch, .step = mean_of(times.steps, steps)};
  for (std::size_t i = 0; i < times.seconds.size(); ++i) {
    result.seconds.push_back(mean_of(times.seconds[i], steps));
    result.gaps.push_back(mean_of(times.gaps[i], steps));
  }
  return result;
}

StepTimes typical(const TrainingProfile::Times& times, int copies) {
  const auto launches = detail::samples_of_launches(times, copies);
  if (launches.size() == 1) return middle_step(times, launches.front());
  TrainingProfile::Times all{.batch = times.batch};
  all.seconds.resize(times.seconds.size());
  all.gaps.resize(times.seconds.size());
  std::vector<std::size_t> samples;
  for (const auto& launch : launches) {
    const StepTimes step = middle_step(times, launch);
    samples.push_back(samples.size());
    all.steps.push_back(step.step);
    for (std::size_t i = 0; i < step.seconds.size(); ++i) {
      all.seconds[i].push_back(step.seconds[i]);
      all.gaps[i].push_back(step.gaps[i]);
    }
  }
  return middle_step(all, samples);
}

/// a + share * (b - a), never below 0: extrapolated pieces may fall there.
StepTimes between(const StepTimes& a, const StepTimes& b, double share) {
  const auto mixed = [share](double x, double y) { return std::max(0.0, x + share * (y - x)); };
  StepTimes result;
  for (std::size_t i = 0; i < a.seconds.size(); ++i) {
    result.seconds.push_back(mixed(a.seconds[i], b.seconds[i]));
    result.gaps.push_back(mixed(a.gaps[i], b.gaps[i]));
    result.step += result.seconds.back() + result.gaps.back();
  }
  return result;
}

}  // namespace

StepTimes step_times(const TrainingProfile& profile, std::int64_t batch) {
  if (batch < 1 || profile.batches.empty()) {
    throw ValueError(
        fmt::format("profile of '{}': a step of batch {} was requested, and it has {} batch sizes; "
                    "expected a batch of 1 or more, and at least one profiled size",
                    printable(profile.model), batch, profile.batches.size()));
  }
  const auto& all = profile.batches;
  const auto typical_of = [&](const TrainingProfile::Times& times) {
    return typical(times, profile.copies);
  };
  const auto above = std::ranges::find_if(all, [&](const auto& t) { return t.batch >= batch; });
  if (above != all.end() && above->batch == batch) return typical_of(*above);
  StepTimes result;
  if (above == all.begin() || all.size() == 1) {
    // Everything is per sample except updates, loading calls and gaps.
    const StepTimes known = typical_of(above == all.begin() ? all.front() : all.back());
    StepTimes none = known;
    for (std::size_t i = 0; i < none.seconds.size(); ++i) {
      if (profile.pieces[i].kind != "update") none.seconds[i] = 0;
    }
    result = between(none, known, static_cast<double>(batch) / static_cast<double>(known.batch));
  } else {
    const auto second = above == all.end() ? all.end() - 1 : above;
    const auto first = second - 1;
    result = between(typical_of(*first), typical_of(*second),
                     static_cast<double>(batch - first->batch) /
                         static_cast<double>(second->batch - first->batch));
  }
  result.batch = batch;
  result.beyond = above == all.begin() || above == all.end();
  return result;
}

double unobserved_over_scheduled(const TrainingProfile& profile, std::int64_t batch) {
  TrainingProfile::Times times = detail::nearest_times(profile, batch);
  if (times.unobserved.empty()) return 1;
  const double scheduled = typical(times, profile.copies).step;
  times.steps = std::move(times.unobserved);
  times.seconds.clear();
  times.gaps.clear();
  return typical(times, profile.copies).step / scheduled;
}

std::int64_t only_batch(const TrainingProfile& profile) {
  if (profile.batches.size() == 1) return profile.batches.front().batch;
  std::vector<std::int64_t> sizes;
  for (const auto& times : profile.batches) sizes.push_back(times.batch);
  throw ValueError(fmt::format("profile of '{}': it has {} batch sizes ({}); choose one with {}",
                               printable(profile.model), sizes.size(), fmt::join(sizes, ", "),
                               option_word("batch")));
}

std::map<std::string, std::string> machine_words(const Environment& environment) {
  return {{"cpu", environment.cpu},
          {"cores", std::to_string(environment.cores)},
          {"architecture", environment.architecture},
          {"build_type", environment.build_type},
          {"d5_version", environment.d5_version}};
}

std::string model_digest(Network& network) {
  // FNV-1a, 64 bits: it distinguishes models but is not cryptographic.
  std::uint64_t hash = 14695981039346656037ULL;
  const auto mix = [&hash](const std::string& text) {
    for (const char c : text + '\n') {
      hash ^= static_cast<unsigned char>(c);
      hash *= 1099511628211ULL;
    }
  };
  for (const onnx::Node& node : network.graph().nodes) {
    mix(node.name + " " + node.op_type);
    for (const auto& input : node.inputs) mix(input);
  }
  for (const Parameter& parameter : network.parameters()) {
    mix(parameter.name + " " + to_string(parameter.value.desc()));
  }
  return fmt::format("{:016x}", hash);
}

void expect_fit(TrainingProfile& profile, const std::string& digest,
                const std::map<std::string, std::string>& machine, int threads, Misfit misfit) {
  std::vector<std::string> differences;
  if (!digest.empty() && digest != profile.digest) {
    differences.push_back(
        fmt::format("it is of another model ({}, this one is {})", profile.digest, digest));
  }
  if (threads > 0 && threads != profile.threads) {
    differences.push_back(fmt::format("it ran on {} threads, not {}", profile.threads, threads));
  }
  if (!profile.machine.empty()) {
    for (const auto& [word, here] : machine) {
      const auto there = profile.machine.find(word);
      if (there != profile.machine.end() && there->second == here) continue;
      differences.push_back(
          fmt::format("its {} is '{}', here it is '{}'", word,
                      there == profile.machine.end() ? "" : printable(there->second), here));
    }
  }
  for (const auto& difference : differences) {
    if (misfit == Misfit::refuse) {
      throw ValueError(
          fmt::format("profile of '{}': {}; profile again, or use it as mistrusted ({})",
                      printable(profile.model), difference, option_word("force")));
    }
    profile.mistrusted.push_back(difference);
  }
}

void check(const TrainingProfile& profile) {
  const auto refuse = [&](const std::string& what) {
    throw ValueError(
        fmt::format("profile of '{}': {}; profile again", printable(profile.model), what));
  };
  if (profile.batches.empty()) refuse("it has no batch sizes");
  if (profile.copies < 1) refuse(fmt::format("it has {} copies", profile.copies));
  std::vector<bool> final_ones(profile.parameters.size());
  for (const char* kind : {"forward", "backward"}) {
    if (std::ranges::find(profile.pieces, kind, &TrainingProfile::Piece::kind) ==
        profile.pieces.end()) {
      refuse(fmt::format("no node runs {}", kind));
    }
  }
  for (const auto& piece : profile.pieces) {
    (void)operation_kinds().at(piece.kind);
    for (const std::size_t index : piece.final_parameters) {
      if (index >= final_ones.size() || final_ones[index]) {
        refuse(fmt::format("piece '{}' makes gradient {} final, of {}, each once",
                           printable(piece.name), index, final_ones.size()));
      }
      final_ones[index] = true;
    }
  }
  for (std::size_t i = 0; i < final_ones.size(); ++i) {
    if (!final_ones[i]) {
      refuse(fmt::format("the gradient of '{}' never becomes final",
                         printable(profile.parameters[i].name)));
    }
  }
  std::int64_t last = 0;
  for (const auto& times : profile.batches) {
    if (times.batch <= last) refuse("its batch sizes are not in order");
    last = times.batch;
    if (times.steps.empty()) refuse(fmt::format("batch {} has no steps", times.batch));
    if (const auto given = detail::wrong_launches(times, profile.copies); !given.empty()) {
      refuse(fmt::format("batch {} has {}", times.batch, given));
    }
    if (times.seconds.size() != profile.pieces.size() ||
        times.gaps.size() != times.seconds.size()) {
      refuse(fmt::format("batch {} has times of {} pieces and {} gaps; there are {} pieces",
                         times.batch, times.seconds.size(), times.gaps.size(),
                         profile.pieces.size()));
    }
    const auto expect_times = [&](const std::string& name, const std::vector<double>& samples,
                                  bool as_many) {
      if (as_many && samples.size() != times.steps.size()) {
        refuse(fmt::format("{} at batch {} has {} samples of {} steps", name, times.batch,
                           samples.size(), times.steps.size()));
      }
      for (const double sample : samples) {
        if (std::isfinite(sample) && sample >= 0) continue;
        refuse(fmt::format("{} at batch {} took {} s", name, times.batch, sample));
      }
    };
    expect_times("a step", times.steps, true);
    expect_times("an unobserved step", times.unobserved, false);
    for (std::size_t i = 0; i < profile.pieces.size(); ++i) {
      const std::string name =
          fmt::format("{} '{}'", profile.pieces[i].kind, printable(profile.pieces[i].name));
      expect_times(name, times.seconds[i], true);
      expect_times("the gap before " + name, times.gaps[i], true);
    }
  }
}

}  // namespace d5
