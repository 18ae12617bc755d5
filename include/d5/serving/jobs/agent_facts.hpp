// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace d5 {

/// What an agent tells of itself and of its machine: what jobs' constraints are held against.
struct AgentFacts {
  struct Framework {
    std::string version = {};
    std::string sha256 = {};  ///< of its plug-in; empty where it is linked in
    bool operator==(const Framework&) const = default;
  };
  std::string name = {};  ///< its own, different from those of all other agents of the server
  std::string d5_version = {};
  std::string hostname = {}, os = {}, architecture = {}, cpu = {};
  std::int64_t cores = 0;
  std::int64_t memory_bytes = 0;  ///< that a job may use
  std::vector<std::string> instruction_sets = {};
  std::map<std::string, std::string> devices = {};  ///< "cpu", "cuda:0" to what they are
  std::map<std::string, Framework> frameworks = {};
  std::vector<std::string> models = {};  ///< NAME@VERSION, whose files it holds
  std::map<std::string, std::string> labels = {};
  std::int64_t parallel = 1;  ///< parts that it runs at once, which share its cores and memory
  double price_per_hour = 0;  ///< 0: not told
  std::string currency = "USD";
  bool operator==(const AgentFacts&) const = default;
};

[[nodiscard]] std::string to_json(const AgentFacts& facts);
/// Throws: FormatError, with `who` in front.
[[nodiscard]] AgentFacts agent_facts(const std::string& json, const std::string& who);

/// An agent as its server sees it.
struct StandingAgent {
  AgentFacts facts;
  double heartbeat = 0;  ///< the last one, s since 1970
  enum class State { free, busy, silent } state = State::free;
  std::string job = {};  ///< that it has, where it is busy
};
[[nodiscard]] std::string_view name_of(StandingAgent::State state);

}  // namespace d5
