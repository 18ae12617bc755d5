// SPDX-License-Identifier: Apache-2.0
#include "level1_network/mixture/kept_selection.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "core/files/cache_folder.hpp"
#include "core/machine/machine.hpp"
#include "core/parsing/json_reader.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/core/entries/plugin.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/machine/threads.hpp"
#include "level1_network/mixture/fused_network.hpp"
#include "level1_network/nodes/structure_digest.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Node = FrameworkSelection::Node;
using Way = FrameworkSelection::Way;

constexpr const char* kFormat = "d5 framework selection";
constexpr const char* kKind = "auto";
constexpr std::size_t kMostBytes = std::size_t{1} << 26;

fs::path file_of(const SelectionPurpose& purpose) {
  return detail::measured_file(kKind, purpose.network + "\n" + purpose.words);
}

Json to_json(const Comparison& ratio) {
  Json json = {{"ratio", ratio.ratio}, {"pairs", ratio.pairs}, {"p", ratio.p_value}};
  if (std::isfinite(ratio.ratio_interval.low)) {
    json["low"] = ratio.ratio_interval.low;
    json["high"] = ratio.ratio_interval.high;
  }
  return json;
}

Comparison comparison_from(const detail::JsonReader& json) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  return {.ratio = json.number("ratio"),
          .ratio_interval = {json.number("low", kNone), json.number("high", kNone)},
          .p_value = json.number("p"),
          .pairs = std::size_t(json.integer("pairs"))};
}

Json to_json(const FrameworkSelection& selection) {
  Json json = {{"chosen", selection.chosen}, {"reorders", selection.reorders},
               {"draws", selection.draws},   {"measuring_seconds", selection.measuring_seconds},
               {"ways", Json::array()},      {"nodes", Json::array()},
               {"refusals", Json::array()}};
  for (const auto& way : selection.ways) {
    json["ways"].push_back(
        {{"name", way.name}, {"seconds", way.seconds}, {"ratio", to_json(way.ratio)}});
  }
  for (const auto& node : selection.nodes) {
    json["nodes"].push_back({{"name", node.name},
                             {"op_type", node.op_type},
                             {"framework", node.framework},
                             {"seconds", node.seconds},
                             {"runner_up", node.runner_up},
                             {"ratio", to_json(node.ratio)}});
  }
  for (const auto& [framework, reason] : selection.refusals) {
    json["refusals"].push_back({{"framework", framework}, {"reason", reason}});
  }
  return json;
}

FrameworkSelection selection_from(const detail::JsonReader& json) {
  FrameworkSelection result{.chosen = json.text("chosen"),
                            .reorders = std::size_t(json.integer("reorders")),
                            .draws = json.integer("draws", 0),
                            .measuring_seconds = json.number("measuring_seconds"),
                            .kept = true};
  for (const auto& way : json.objects("ways")) {
    result.ways.push_back(
        {way.text("name"), way.number("seconds"), comparison_from(way.object("ratio"))});
  }
  for (const auto& node : json.objects("nodes")) {
    result.nodes.push_back({.name = node.text("name"),
                            .op_type = node.text("op_type"),
                            .framework = node.text("framework"),
                            .seconds = node.number("seconds"),
                            .runner_up = node.text("runner_up"),
                            .ratio = comparison_from(node.object("ratio"))});
  }
  for (const auto& refusal : json.objects("refusals")) {
    result.refusals.push_back({refusal.text("framework"), refusal.text("reason")});
  }
  return result;
}

}  // namespace

std::string selection_circumstances() {
  const auto& machine = detail::machine();
  std::string words = fmt::format(
      "{}, {} cores, {} hardware threads, {} threads compute, pinned: {}\nd5 {}\n", machine.cpu,
      machine.cores, machine.hardware_threads, threads(), pinning(), D5_VERSION_STAMP);
  for (const auto& info : frameworks()) {
    if (!info.reason.empty()) continue;
    words += fmt::format("{} {}", info.name, framework(info.name).version());
    std::error_code ignored;
    if (!info.path.empty()) {  // built again it may be faster
      const auto built = fs::last_write_time(info.path, ignored).time_since_epoch().count();
      words += fmt::format(" of {}", built);
    }
    words += "\n";
  }
  return words;
}

KeptSelection kept_selection(const SelectionPurpose& purpose) {
  const fs::path file = file_of(purpose);
  std::error_code ignored;
  if (file.empty() || !fs::is_regular_file(file, ignored)) return {};
  KeptSelection result;
  try {
    const detail::JsonReader json(read_file(file.string(), kMostBytes),
                                  fmt::format("'{}'", file.string()));
    if (json.text("format") != kFormat || json.text("network") != purpose.network ||
        json.text("purpose") != purpose.words) {
      result.selection.notes = {
          fmt::format("'{}' is for something else; it is measured again", file.string())};
      return result;
    }
    result.assignment = {json.text("first"), {}};
    for (const auto& [output, framework] : json.texts_by_name("kernels")) {
      result.assignment.kernels[output] = framework;
    }
    result.selection = selection_from(json.object("selection"));
    result.others = json.number("others");
    result.times = json.integer("times");
  } catch (const Error& error) {
    result = {};
    result.selection.notes = {
        fmt::format("{}; it is measured again", printable_message(error.what()))};
  }
  return result;
}

void keep_selection(const SelectionPurpose& purpose, KeptSelection& kept) {
  const Json json = {{"format", kFormat},
                     {"network", purpose.network},
                     {"purpose", purpose.words},
                     {"first", kept.assignment.first},
                     {"kernels", kept.assignment.kernels},
                     {"others", kept.others},
                     {"times", kept.times},
                     {"selection", to_json(kept.selection)}};
  try {
    detail::keep_measured(file_of(purpose),
                          json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  } catch (const IoError& error) {
    kept.selection.notes.push_back(
        fmt::format("the choice is not kept: {}", printable_message(error.what())));
  }
}

std::size_t forget_selections(const Network& network) {
  std::set<std::string> digests{structure_digest(network.graph())};
  for (const auto mode : {NetworkMode::as_written, NetworkMode::inference}) {
    if (const auto fused = fused_network(network, mode)) {
      digests.insert(structure_digest(fused->graph()));
    }
  }
  const fs::path folder = detail::measured_file(kKind, "").parent_path();
  std::error_code error;
  std::size_t forgotten = 0;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(fmt::format("{}-", kKind)) || !name.ends_with(".json")) continue;
    try {
      const std::string path = entry.path().string();
      const detail::JsonReader json(read_file(path, kMostBytes), path);
      if (json.text("format") != kFormat || !digests.contains(json.text("network"))) {
        continue;
      }
    } catch (const FormatError&) {
      continue;  // reading it reports the error to its caller
    }
    if (!fs::remove(entry.path(), error) && error) {
      throw IoError(fmt::format("'{}': {}", printable(entry.path().string()), error.message()));
    }
    ++forgotten;
  }
  return forgotten;
}

}  // namespace d5
