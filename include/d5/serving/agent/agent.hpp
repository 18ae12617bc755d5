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
  std::string server;            ///< HOST:PORT of its `AgentLink`
  std::string token = {};        ///< of the role admin, where the server wants one
  std::string authorities = {};  ///< PEM file of whom a server's certificate must be from, for TLS
  AgentFacts facts = {};         ///< `own_facts`; as many at once as its `parallel`
  std::string spool;             ///< a folder of this agent alone (`usual_spool`)
  std::string program;           ///< of d5, whose children run evaluations
  /// A command that runs `start_children`: evaluations are forks of it, which begin at once. Empty:
  /// each is a start of the program.
  std::vector<std::string> starter = {};
  double most_seconds = 0;     ///< of an evaluation; 0: as long as it takes
  std::size_t most_bytes = 0;  ///< of address space of its process; 0: as much as there is
  bool once = false;           ///< end after one evaluation, and run no other beside it
  bool drain = false;          ///< end when there is nothing more to do
  Interrupt interrupt = {};    ///< end after what runs now
  std::function<void(const std::string&)> say = {};  ///< told what it does, a line each
};

/// Runs evaluations that a server hands out, each as `d5 eval run` in a child of its own: what a
/// framework does there cannot harm the agent, which loads none. Results lie in the spool until the
/// server has kept them: an agent that was killed sends them when it begins anew, and one that
/// loses its server goes on and looks for it.
///
///     run_agent({.server = "localhost:8502", .facts = own_facts(program), ...});
///
/// Returns how many parts it brought to an end. Call it on a thread that outlives it: children end
/// with the thread that started them.
/// Throws: Error where the server refuses it; IoError for a spool that cannot be used, or that
/// another agent uses; Unsupported where d5 was built without gRPC.
std::int64_t run_agent(const AgentOptions& options);

/// Starts children for an agent, which began this process for that, until it is gone: in each,
/// `run` is called with the words of a command, and its status returned. In the process itself: 0.
/// It has loaded what children need, one thread, and no framework.
[[nodiscard]] int start_children(const std::function<int(std::vector<std::string>)>& run);

/// What this machine is, for an agent of that name, which offers these frameworks; "all" are those
/// that can be loaded. A child loads all to see their versions. Throws: IoError where there is no
/// such program.
[[nodiscard]] AgentFacts own_facts(const std::string& program, const std::string& name,
                                   const std::string& frameworks = "all");

/// `agents/NAME` in the user's data folder ($XDG_DATA_HOME/d5 or ~/.local/share/d5).
[[nodiscard]] std::string usual_spool(const std::string& name);

}  // namespace d5
