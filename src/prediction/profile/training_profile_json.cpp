// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/parsing/json_reader.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/prediction/profile/training_profile.hpp"

namespace d5 {
namespace {

using Json = nlohmann::ordered_json;
using detail::JsonReader;

constexpr const char* kProfileFormat = "d5 profile of a training";
constexpr std::size_t kMostProfileBytes = std::size_t{1} << 31;

Json json_of(const TrainingProfile::Piece& piece) {
  Json json = {{"name", piece.name}, {"kind", piece.kind}};
  if (!piece.op_type.empty()) json["op_type"] = piece.op_type;
  if (piece.flop > 0) json["flop"] = piece.flop;
  if (piece.bytes > 0) json["bytes"] = piece.bytes;
  if (!piece.final_parameters.empty()) json["final_parameters"] = piece.final_parameters;
  return json;
}

Json json_of(const TrainingProfile::Times& times) {
  Json pieces = Json::array();
  for (std::size_t i = 0; i < times.seconds.size(); ++i) {
    pieces.push_back({{"seconds", times.seconds[i]}, {"gaps", times.gaps[i]}});
  }
  Json json = {{"batch", times.batch},
               {"steps", times.steps},
               {"unobserved", times.unobserved},
               {"recording", times.recording},
               {"pieces", std::move(pieces)}};
  if (!times.launches.empty()) json["launches"] = times.launches;
  return json;
}

std::vector<std::size_t> indices(const JsonReader& json, const char* name) {
  std::vector<std::size_t> result;
  if (!json.has(name)) return result;
  for (const double value : json.numbers(name)) {
    if (!(value >= 0 && value < 1e9))
      json.fail(name, fmt::format("has {}", value), "whole numbers");
    result.push_back(static_cast<std::size_t>(value));
  }
  return result;
}

RankRates rates_from(const JsonReader& json) {
  const auto rate = [&](const char* name) {
    const double value = json.number(name);
    if (!(value > 0 && value < 1e30)) json.fail(name, fmt::format("is {}", value), "more than 0");
    return value;
  };
  RankRates rates{.reduce_bandwidth = rate("reduce_bandwidth"),
                  .scale_bandwidth = rate("scale_bandwidth"),
                  .copy_bandwidth = rate("copy_bandwidth")};
  if (json.has("shared_bandwidth")) rates.shared_bandwidth = rate("shared_bandwidth");
  if (json.has("shared_reduce_bandwidth")) {
    rates.shared_reduce_bandwidth = rate("shared_reduce_bandwidth");
  }
  if (json.has("alone")) rates.alone = rate("alone");
  if (json.has("ranks")) {
    const std::int64_t ranks = json.integer("ranks");
    if (ranks < 1 || ranks > 1'000'000) {
      json.fail("ranks", fmt::format("is {}", ranks), "1 to 1000000");
    }
    rates.ranks = static_cast<int>(ranks);
  }
  return rates;
}

TrainingProfile::Times times_from(const JsonReader& json) {
  TrainingProfile::Times times{.batch = json.integer("batch"), .steps = json.numbers("steps")};
  times.unobserved = json.numbers("unobserved");
  times.recording = json.number("recording", 0);
  for (const std::size_t steps : indices(json, "launches")) {
    times.launches.push_back(static_cast<std::int64_t>(steps));
  }
  for (const JsonReader& piece : json.objects("pieces")) {
    times.seconds.push_back(piece.numbers("seconds"));
    times.gaps.push_back(piece.numbers("gaps"));
  }
  return times;
}

}  // namespace

std::string to_json(const TrainingProfile& profile) {
  Json json = {{"format", kProfileFormat},         {"schema", TrainingProfile::kSchema},
               {"model", profile.model},           {"digest", profile.digest},
               {"framework", profile.framework},   {"device", profile.device},
               {"optimizer", profile.optimizer},   {"threads", profile.threads},
               {"copies", profile.copies},         {"machine", profile.machine},
               {"mistrusted", profile.mistrusted}, {"parameters", Json::array()},
               {"pieces", Json::array()},          {"batches", Json::array()}};
  if (profile.rates.reduce_bandwidth > 0) {
    json["rates"] = {{"reduce_bandwidth", profile.rates.reduce_bandwidth},
                     {"scale_bandwidth", profile.rates.scale_bandwidth},
                     {"copy_bandwidth", profile.rates.copy_bandwidth},
                     {"ranks", profile.rates.ranks},
                     {"alone", profile.rates.alone}};
    if (profile.rates.shared_bandwidth > 0) {
      json["rates"]["shared_bandwidth"] = profile.rates.shared_bandwidth;
      json["rates"]["shared_reduce_bandwidth"] = profile.rates.shared_reduce_bandwidth;
    }
  }
  for (const auto& [name, bytes] : profile.parameters) {
    json["parameters"].push_back({{"name", name}, {"bytes", bytes}});
  }
  for (const auto& piece : profile.pieces) json["pieces"].push_back(json_of(piece));
  for (const auto& times : profile.batches) json["batches"].push_back(json_of(times));
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

TrainingProfile training_profile_from_json(const std::string& text, const std::string& file) {
  const std::string who = "profile '" + printable(file) + "'";
  const JsonReader json(text, who);
  if (json.text("format") != kProfileFormat) {
    json.fail("format", fmt::format("is '{}'", printable(json.text("format"))), kProfileFormat);
  }
  if (json.integer("schema") != TrainingProfile::kSchema) {
    json.fail("schema", fmt::format("is {}", json.integer("schema")),
              fmt::format("{}, which this d5 knows", TrainingProfile::kSchema));
  }
  TrainingProfile profile{.model = json.text("model"),
                          .digest = json.text("digest"),
                          .framework = json.text("framework"),
                          .device = json.text("device"),
                          .optimizer = json.text("optimizer"),
                          .threads = json.integer("threads"),
                          .copies = json.integer("copies"),
                          .machine = json.texts_by_name("machine"),
                          .rates = {},
                          .parameters = {},
                          .pieces = {},
                          .batches = {},
                          .mistrusted = json.texts("mistrusted")};
  if (json.has("rates")) profile.rates = rates_from(json.object("rates"));
  for (const JsonReader& parameter : json.objects("parameters")) {
    profile.parameters.push_back({parameter.text("name"), parameter.number("bytes")});
    if (profile.parameters.back().bytes >= 0) continue;
    parameter.fail("bytes", fmt::format("is {}", profile.parameters.back().bytes), "0 or more");
  }
  for (const JsonReader& piece : json.objects("pieces")) {
    profile.pieces.push_back({.name = piece.text("name"),
                              .kind = piece.text("kind"),
                              .op_type = piece.text("op_type", ""),
                              .flop = piece.number("flop", 0),
                              .bytes = piece.number("bytes", 0),
                              .final_parameters = indices(piece, "final_parameters")});
  }
  for (const JsonReader& times : json.objects("batches")) {
    profile.batches.push_back(times_from(times));
  }
  try {
    check(profile);
  } catch (const Error& error) {
    throw FormatError(fmt::format("{}: {}", who, error.what()));
  }
  return profile;
}

void write_training_profile(const TrainingProfile& profile, const std::string& path) {
  write_file(path, to_json(profile));
}

TrainingProfile read_training_profile(const std::string& path) {
  return training_profile_from_json(read_file(path, kMostProfileBytes), path);
}

}  // namespace d5
