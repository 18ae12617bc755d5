// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ranges>
#include <utility>

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

/// A list of the program's, as a child prints it: it loads all frameworks.
class PrintedList {
 public:
  PrintedList(const std::string& program, const char* kind)
      : child_({program, "list", kind, "--format", "json", "--quiet"}, {}) {}
  /// The rows; none if the child ended otherwise.
  [[nodiscard]] std::vector<nlohmann::json> rows();

 private:
  detail::ChildProcess child_;
};

std::vector<nlohmann::json> PrintedList::rows() {
  while (!child_.has_ended()) {
    std::vector<pollfd> waiting;
    for (const int descriptor : child_.descriptors()) waiting.push_back({descriptor, POLLIN, 0});
    (void)::poll(waiting.data(), waiting.size(), kPollMilliseconds);
    (void)child_.listen();
  }
  const auto all = nlohmann::json::parse(child_.all_output(), nullptr, /*allow_exceptions=*/false);
  std::vector<nlohmann::json> rows;
  if (child_.exit_status() != 0 || !all.is_array()) return rows;
  std::ranges::copy_if(all, std::back_inserter(rows),
                       [](const auto& row) { return row.is_object(); });
  return rows;
}

/// All frameworks that can be loaded and run models, by name, as children found them. If a
/// framework ends a child, only d5's own is left, which is linked in.
std::map<std::string, AgentFacts::Framework> working_frameworks(const std::string& program) {
  PrintedList frameworks(program, "frameworks"), executors(program, "executors");  // at once
  std::map<std::string, AgentFacts::Framework> working;
  for (const auto& row : frameworks.rows()) {
    const bool has_operators = row.value("operators", "") != "0";
    if (!has_operators && row.value("executors", "") == "0") continue;
    const std::string name = row.value("framework", "");
    working[name].version = row.value("version", "");
    if (has_operators) working[name].words.push_back(name);
  }
  for (const auto& row : executors.rows()) {
    const std::string word = row.value("name", "");
    const auto place = working.find(word.substr(0, word.find(':')));
    if (place != working.end()) place->second.words.push_back(word);
  }
  working.try_emplace("reference",
                      AgentFacts::Framework{.version = D5_VERSION, .words = {"reference"}});
  return working;
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
  for (auto& [name, framework] : working_frameworks(program)) {
    if (offered != "all" && std::ranges::find(words, name) == words.end()) continue;
    const auto place = std::ranges::find(known, name, &FrameworkInfo::name);
    const bool is_file = place != known.end() && !place->path.empty();
    if (is_file) framework.sha256 = detail::sha256_of_file(place->path);
    facts.frameworks[name] = std::move(framework);
  }
  return facts;
}

}  // namespace d5
