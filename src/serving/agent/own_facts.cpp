// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ranges>

#include "core/files/sha256.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/artefact_store.hpp"
#include "d5/core/results/environment.hpp"
#include "d5/evaluation/manifest/manifest_place.hpp"
#include "d5/evaluation/manifest/model_manifest.hpp"
#include "d5/serving/agent/agent.hpp"
#include "d5/version.hpp"
#include "serving/agent/child_process.hpp"

namespace d5 {
namespace {

constexpr int kPollMilliseconds = 1000;

/// Versions by name of all frameworks that can be loaded and work, as a child found them. If a
/// framework ends the child, only d5's own is left, which is linked in.
std::map<std::string, std::string> framework_versions(const std::string& program) {
  detail::ChildProcess child({program, "list", "frameworks", "--format", "json", "--quiet"}, {});
  while (!child.has_ended()) {
    std::vector<pollfd> waiting;
    for (const int descriptor : child.descriptors()) waiting.push_back({descriptor, POLLIN, 0});
    (void)::poll(waiting.data(), waiting.size(), kPollMilliseconds);
    (void)child.listen();
  }
  std::map<std::string, std::string> versions = {{"reference", D5_VERSION}};
  const auto rows = nlohmann::json::parse(child.all_output(), nullptr, /*allow_exceptions=*/false);
  if (child.exit_status() != 0 || !rows.is_array()) return versions;
  for (const auto& row : rows) {
    if (!row.is_object()) continue;
    const bool answers = row.value("operators", "") != "0" || row.value("executors", "") != "0";
    if (answers) versions[row.value("framework", "")] = row.value("version", "");
  }
  return versions;
}

std::vector<std::string> frameworks_in_list(const std::string& text) {
  std::vector<std::string> words;
  for (const auto word : std::views::split(text, ',')) words.emplace_back(word.begin(), word.end());
  return words;
}

/// Those of d5's models whose files are all here.
std::vector<std::string> held_models() {
  std::vector<std::string> held;
  const ArtefactStore store;
  for (const std::string& name : carried_manifests("model")) {
    const auto model = find_manifest<ModelManifest>(name).manifest;
    if (std::ranges::all_of(model.assets, [&](auto& file) { return store.has(file.sha256); })) {
      held.push_back(model.reference());
    }
  }
  return held;
}

}  // namespace

AgentFacts own_facts(const std::string& program, const std::string& name,
                     const std::string& offered) {
  const Environment machine = environment();
  AgentFacts facts{.name = name,
                   .d5_version = machine.d5_version,
                   .hostname = machine.hostname,
                   .os = machine.os,
                   .architecture = machine.architecture,
                   .cpu = machine.cpu,
                   .cores = machine.cores,
                   .memory_bytes = std::int64_t(machine.memory_bytes),
                   .instruction_sets = machine.instruction_sets,
                   .devices = machine.devices,
                   .models = held_models()};
  if (machine.processor_limit > 0) {  // a container's limit
    facts.cores = std::clamp<std::int64_t>(std::int64_t(machine.processor_limit), 1, facts.cores);
  }
  if (machine.memory_limit_bytes > 0) {
    facts.memory_bytes = std::min(facts.memory_bytes, std::int64_t(machine.memory_limit_bytes));
  }
  facts.devices.emplace("cpu", machine.cpu);
  const std::vector<std::string> words = frameworks_in_list(offered);
  const auto known = frameworks();  // d5's own is missing until something uses it
  for (const auto& [name, version] : framework_versions(program)) {
    if (offered != "all" && std::ranges::find(words, name) == words.end()) continue;
    const auto place = std::ranges::find(known, name, &FrameworkInfo::name);
    const bool is_file = place != known.end() && !place->path.empty();
    facts.frameworks[name] = {version, is_file ? detail::sha256_of_file(place->path) : ""};
  }
  return facts;
}

}  // namespace d5
