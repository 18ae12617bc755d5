// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/serving/jobs/agent_facts.hpp"

namespace d5 {

struct AgentOptions {
  std::string server;      ///< HOST:PORT of its `AgentLink`
  std::string token = {};  ///< token of the role admin, if the server requires one
  /// PEM file of authorities for the server's certificate; turns TLS on.
  std::string authorities = {};
  AgentFacts facts = {};  ///< `own_facts`; its `parallel` is the number of evaluations at once
  std::string spool;      ///< a folder of this agent alone (`usual_spool`)
  std::string program;    ///< the d5 program, whose children run evaluations
  /// A command that runs `start_children`: evaluations are forks of it, which start at once. Empty:
  /// each one starts the program.
  std::vector<std::string> starter = {};
  double most_seconds = 0;     ///< time limit of an evaluation; 0: none
  std::size_t most_bytes = 0;  ///< address-space limit of its process; 0: none
  bool once = false;           ///< end after one evaluation, and run no other beside it
  bool drain = false;          ///< end when no work is left
  Interrupt interrupt = {};    ///< end after the current evaluation
  std::function<void(const std::string&)> say = {};  ///< receives a line for everything it does
};

/// Runs evaluations that a server hands out, each as `d5 eval run` in a child process: a framework
/// cannot harm the agent, which loads none. Results stay in the spool until the server has stored
/// them: a killed agent sends them at its next start, and an agent that loses its server continues
/// and reconnects.
///
///     run_agent({.server = "localhost:8502", .facts = own_facts(program), ...});
///
/// Returns the number of parts that it finished. Call it on a thread that outlives it: children end
/// with the thread that started them. Throws: Error if the server refuses it; IoError for a spool
/// that cannot be used, or that another agent uses; Unsupported if d5 was built without gRPC.
std::int64_t run_agent(const AgentOptions& options);

/// Starts children for an agent, the parent of this process, until the agent ends: in each child,
/// `run` is called with the words of a command, and its result is the exit status. In the starter
/// itself returns 0. The starter has loaded what children need, one thread, and no framework.
[[nodiscard]] int start_children(const std::function<int(std::vector<std::string>)>& run);

/// The facts about this machine, for an agent of that name with these frameworks; "all" are those
/// that can be loaded. A child process loads them to read their versions. Throws: IoError if there
/// is no such program.
[[nodiscard]] AgentFacts own_facts(const std::string& program, const std::string& name,
                                   const std::string& frameworks = "all");

/// `agents/NAME` in the user's data folder ($XDG_DATA_HOME/d5 or ~/.local/share/d5).
[[nodiscard]] std::string usual_spool(const std::string& name);

}  // namespace d5
