// SPDX-License-Identifier: Apache-2.0
#include "evaluation/manifest/system_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/results/results.hpp"

namespace d5::detail {
namespace {

double bounded(double value, double limit) { return limit > 0 ? std::min(value, limit) : value; }

}  // namespace

std::string why_unfit(const SystemManifest& system, const Environment& machine,
                      const std::map<std::string, std::string>& labels) {
  std::string reasons;
  const auto expect = [&](bool fits, const std::string& reason) {
    if (!fits) reasons += (reasons.empty() ? "" : "; ") + reason;
  };
  expect(system.architecture.empty() || system.architecture == machine.architecture,
         fmt::format("it is {}, but {} is required", machine.architecture,
                     printable(system.architecture)));
  const double cores = bounded(machine.cores, machine.processor_limit);
  expect(cores >= double(system.cores),
         fmt::format("it has {:g} cores, but {} are required", cores, system.cores));
  const double memory = bounded(machine.memory_bytes, machine.memory_limit_bytes);
  expect(memory >= double(system.memory_bytes),
         fmt::format("it has {} of memory, but {} is required", with_prefix(memory, "B"),
                     with_prefix(double(system.memory_bytes), "B")));
  for (const std::string& set : system.instruction_sets) {
    expect(std::ranges::count(machine.instruction_sets, set) > 0,
           fmt::format("no {}", printable(set)));
  }
  expect(system.device.empty() || system.device == "cpu" || machine.devices.contains(system.device),
         fmt::format("no device {}", printable(system.device)));
  for (const auto& [name, value] : system.labels) {
    const auto label = labels.find(name);
    expect(label != labels.end() && label->second == value,
           fmt::format("no label {}={}", printable(name), printable(value)));
  }
  return reasons;
}

}  // namespace d5::detail
