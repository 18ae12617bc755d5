// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/jobs/agent_facts.hpp"

#include <array>
#include <nlohmann/json.hpp>

#include "core/parsing/json_reader.hpp"
#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

constexpr std::int64_t kMostParallel = 1024;

}  // namespace

std::string to_json(const AgentFacts& facts) {
  using nlohmann::json;
  json frameworks = json::object();
  for (const auto& [name, framework] : facts.frameworks) {
    frameworks[name] = {
        {"version", framework.version}, {"sha256", framework.sha256}, {"words", framework.words}};
  }
  const json all = {{"name", facts.name},
                    {"d5", facts.d5_version},
                    {"hostname", facts.hostname},
                    {"os", facts.os},
                    {"architecture", facts.architecture},
                    {"cpu", facts.cpu},
                    {"cores", facts.cores},
                    {"memory_bytes", facts.memory_bytes},
                    {"instruction_sets", facts.instruction_sets},
                    {"devices", facts.devices},
                    {"frameworks", std::move(frameworks)},
                    {"models", facts.models},
                    {"labels", facts.labels},
                    {"parallel", facts.parallel},
                    {"price_per_hour", facts.price_per_hour},
                    {"currency", facts.currency}};
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

AgentFacts agent_facts(const std::string& json, const std::string& who) {
  const detail::JsonReader reader(json, who);
  AgentFacts facts{.name = reader.text("name"),
                   .d5_version = reader.text("d5", ""),
                   .hostname = reader.text("hostname", ""),
                   .os = reader.text("os", ""),
                   .architecture = reader.text("architecture", ""),
                   .cpu = reader.text("cpu", ""),
                   .cores = reader.whole("cores", 0, reader.kMostWhole, 0),
                   .memory_bytes = reader.whole("memory_bytes", 0, reader.kMostWhole, 0),
                   .instruction_sets = reader.texts("instruction_sets"),
                   .devices = reader.texts_by_name("devices"),
                   .models = reader.texts("models"),
                   .labels = reader.texts_by_name("labels"),
                   .parallel = reader.whole("parallel", 1, kMostParallel, 1),
                   .price_per_hour = reader.number("price_per_hour", 0),
                   .currency = reader.text("currency", "USD")};
  if (!reader.has("frameworks")) return facts;
  const auto all = nlohmann::json::parse(json);
  for (const auto& [name, framework] : all["frameworks"].items()) {
    const detail::JsonReader fields(framework.dump(), who + ": framework " + printable(name));
    facts.frameworks[name] = {fields.text("version", ""), fields.text("sha256", ""),
                              fields.texts("words")};
  }
  return facts;
}

std::string_view name_of(StandingAgent::State state) {
  constexpr std::array<std::string_view, 3> kNames = {"free", "busy", "silent"};
  return kNames.at(std::size_t(state));
}

}  // namespace d5
