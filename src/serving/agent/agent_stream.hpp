// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <grpcpp/grpcpp.h>

#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "d5/serving/jobs/job_queue.hpp"
#include "serving/agent/agent.grpc.pb.h"
#include "serving/agent/spool_intake.hpp"

namespace d5::detail {

class AgentStream;

/// State that all streams of a server share.
struct AgentHall {
  JobQueue& queue;
  EvaluationDatabase& results;
  std::mutex results_mutex = {};
  std::mutex mutex = {};                             ///< guards the following
  std::map<std::string, AgentStream*> present = {};  ///< by name: the newest stream of each
  bool closing = false;
};

/// The server's side of one agent's stream.
class AgentStream {
 public:
  using Wire = grpc::ServerReaderWriter<agent::ToAgent, agent::FromAgent>;
  AgentStream(AgentHall& hall, grpc::ServerContext& context, Wire& wire)
      : hall_(hall), context_(context), wire_(wire) {}
  ~AgentStream();
  AgentStream(const AgentStream&) = delete;
  AgentStream& operator=(const AgentStream&) = delete;

  /// Serves the stream until the agent leaves, another one of its name comes, or the server stops.
  /// Throws: FormatError, ValueError for messages that no agent of this d5 sends.
  void attend();
  /// Ends it, from another thread.
  void end() { context_.TryCancel(); }

 private:
  void greet(const agent::Hello& hello);
  void dispatch(const std::stop_token& stop);
  void hear(const agent::FromAgent& said);
  void conclude(const agent::Outcome& outcome);
  void lease_if_ready();
  void say(const agent::ToAgent& words);
  void say_gone(const agent::Attempt& attempt);
  void has(const agent::Attempt& attempt);
  void has_no_more(const agent::Attempt& attempt);
  [[nodiscard]] Lease lease_of(const agent::Attempt& attempt) const;

  AgentHall& hall_;
  grpc::ServerContext& context_;
  Wire& wire_;
  std::string name_;
  SpoolIntake intake_;
  std::mutex writing_;
  std::mutex mutex_;  ///< guards the following
  bool ready_ = false, told_nothing_ = false;
  std::vector<agent::Attempt> attempts_;  ///< attempts that the agent holds
};

}  // namespace d5::detail
