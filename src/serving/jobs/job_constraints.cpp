// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/parsing/json_reader.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "d5/evaluation/manifest/semantic_version.hpp"
#include "d5/serving/jobs/job.hpp"

namespace d5 {
namespace {

using nlohmann::json;

/// "framework torch is 2.3.0, but >=2.4 is required", or an empty text.
std::string framework_missing(const std::string& name, const std::string& range,
                              const AgentFacts& facts) {
  const auto found = facts.frameworks.find(name);
  if (found == facts.frameworks.end()) return fmt::format("it has no framework {}", name);
  if (range.empty()) return {};
  try {
    const auto version = SemanticVersion::of_framework(found->second.version);
    if (VersionRange::parse(range).holds(version)) return {};
  } catch (const FormatError&) {  // a version that is no number is in no range
  }
  return fmt::format("framework {} is {}, but {} is required", name,
                     printable(found->second.version), range);
}

bool has_device(const AgentFacts& facts, const std::string& device) {
  return std::ranges::any_of(facts.devices, [&](const auto& has) {
    return has.first == device || has.first.substr(0, has.first.find(':')) == device;
  });
}

template <class T>
bool is_in(const std::vector<T>& all, const T& one) {
  return std::ranges::find(all, one) != all.end();
}

}  // namespace

std::string to_json(const JobConstraints& constraints) {
  json all = json::object();
  const JobConstraints any;
  const auto add = [&](const char* name, const auto& value, const auto& usual) {
    if (value != usual) all[name] = value;
  };
  add("frameworks", constraints.frameworks, any.frameworks);
  add("architecture", constraints.architecture, any.architecture);
  add("cores", constraints.cores, any.cores);
  add("memory_bytes", constraints.memory_bytes, any.memory_bytes);
  add("instruction_sets", constraints.instruction_sets, any.instruction_sets);
  add("device", constraints.device, any.device);
  add("labels", constraints.labels, any.labels);
  add("most_per_hour", constraints.most_per_hour, any.most_per_hour);
  add("agents", constraints.agents, any.agents);
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

JobConstraints job_constraints(const std::string& text, const std::string& who) {
  static const std::vector<std::string> kKnown = {"agents", "architecture", "cores",
                                                  "device", "frameworks",   "instruction_sets",
                                                  "labels", "memory_bytes", "most_per_hour"};
  const detail::JsonReader reader(text, who);
  const json all = json::parse(text);
  for (const auto& [name, value] : all.items()) {
    if (!is_in(kKnown, name)) throw_unknown_name("constraint of a job", name, kKnown);
  }
  const auto count = [&](const char* name) { return reader.whole(name, 0, reader.kMostWhole, 0); };
  const double most_per_hour = reader.number("most_per_hour", 0);
  if (!(most_per_hour >= 0 && std::isfinite(most_per_hour))) {
    reader.fail("most_per_hour", fmt::format("is {}", most_per_hour), "0 or more");
  }
  JobConstraints constraints{.frameworks = reader.texts_by_name("frameworks"),
                             .architecture = reader.text("architecture", ""),
                             .cores = count("cores"),
                             .memory_bytes = count("memory_bytes"),
                             .instruction_sets = reader.texts("instruction_sets"),
                             .device = reader.text("device", ""),
                             .labels = reader.texts_by_name("labels"),
                             .most_per_hour = most_per_hour,
                             .agents = reader.texts("agents")};
  for (const auto& [name, range] : constraints.frameworks) (void)VersionRange::parse(range);
  return constraints;
}

std::string why_not(const JobConstraints& constraints, const AgentFacts& facts) {
  std::vector<std::string> reasons;
  const auto lacks = [&](bool lacking, std::string reason) {
    if (lacking) reasons.push_back(std::move(reason));
  };
  lacks(!constraints.agents.empty() && !is_in(constraints.agents, facts.name),
        fmt::format("it is not among {}", fmt::join(constraints.agents, ", ")));
  for (const auto& [name, range] : constraints.frameworks) {
    std::string missing = framework_missing(name, range, facts);
    if (!missing.empty()) reasons.push_back(std::move(missing));
  }
  lacks(
      !constraints.architecture.empty() && constraints.architecture != facts.architecture,
      fmt::format("its architecture is {}, not {}", facts.architecture, constraints.architecture));
  const std::int64_t cores = facts.cores / facts.parallel;  // for each part that runs at once
  const std::int64_t memory_bytes = facts.memory_bytes / facts.parallel;
  const std::string shared =
      facts.parallel == 1 ? "" : fmt::format(" for each of {} at once", facts.parallel);
  lacks(cores < constraints.cores,
        fmt::format("it has {} cores of {}{}", cores, constraints.cores, shared));
  lacks(memory_bytes < constraints.memory_bytes,
        fmt::format("its memory is {} of {}{}", memory_size(double(memory_bytes)),
                    memory_size(double(constraints.memory_bytes)), shared));
  for (const auto& set : constraints.instruction_sets) {
    lacks(!is_in(facts.instruction_sets, set), fmt::format("it has no {} instructions", set));
  }
  lacks(!constraints.device.empty() && !has_device(facts, constraints.device),
        fmt::format("it has no device {}", constraints.device));
  for (const auto& [name, value] : constraints.labels) {
    const auto has = facts.labels.find(name);
    if (has == facts.labels.end()) {
      reasons.push_back(fmt::format("it has no label {}", name));
    } else {
      lacks(has->second != value,
            fmt::format("its label {} is {}, not {}", name, has->second, value));
    }
  }
  if (constraints.most_per_hour > 0 && facts.price_per_hour <= 0) {
    reasons.emplace_back("its price is unknown");
  }
  if (constraints.most_per_hour > 0) {
    lacks(facts.price_per_hour > constraints.most_per_hour,
          fmt::format("it costs {} an hour, but at most {} is allowed", facts.price_per_hour,
                      constraints.most_per_hour));
  }
  return fmt::format("{}", fmt::join(reasons, "; "));
}

}  // namespace d5
