// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace d5 {

/// Facts about an agent and its machine, which job constraints are matched against.
struct AgentFacts {
  struct Framework {
    std::string version = {};
    std::string sha256 = {};  ///< digest of its plug-in; empty if it is linked in
    /// Words with which an evaluation runs models in it: "torch", "torch:script".
    std::vector<std::string> words = {};
    bool operator==(const Framework&) const = default;
  };
  std::string name = {};  ///< unique among the server's agents
  std::string d5_version = {};
  std::string hostname = {}, os = {}, architecture = {}, cpu = {};
  std::int64_t cores = 0;
  std::int64_t memory_bytes = 0;  ///< available to jobs
  std::vector<std::string> instruction_sets = {};
  std::map<std::string, std::string> devices = {};  ///< "cpu", "cuda:0", each with a description
  std::map<std::string, Framework> frameworks = {};
  std::vector<std::string> models = {};  ///< NAME@VERSION of models whose files it has
  std::map<std::string, std::string> labels = {};
  std::int64_t parallel = 1;  ///< parts that it runs at once, which share its cores and memory
  double price_per_hour = 0;  ///< 0: unknown
  std::string currency = "USD";
  bool operator==(const AgentFacts&) const = default;
};

[[nodiscard]] std::string to_json(const AgentFacts& facts);
/// Throws: FormatError, with `who` at its front.
[[nodiscard]] AgentFacts agent_facts(const std::string& json, const std::string& who);

/// An agent in the server's view.
struct StandingAgent {
  AgentFacts facts;
  double heartbeat = 0;  ///< time of the last one, s since 1970
  enum class State { free, busy, silent } state = State::free;
  std::string job = {};  ///< current job, if it is busy
};
[[nodiscard]] std::string_view name_of(StandingAgent::State state);

}  // namespace d5
