// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "d5/serving/jobs/job_queue.hpp"

namespace d5 {

struct AgentLinkOptions {
  std::string host = "127.0.0.1";
  int port = 0;                  ///< 0: any free port
  std::string certificate = {};  ///< PEM file with its chain; empty: no TLS
  std::string key = {};          ///< PEM file
  std::string tokens = {};       ///< file of `AccessTokens`; empty: any agent may connect
  std::string models = {};       ///< folder that `ServerOptions::models` names; empty: none
  int most_agents = 256;         ///< connected at once
};

/// Serves agents over gRPC (src/serving/agent/agent.proto): hands out parts of jobs, stores their
/// results in the database, and takes back the parts of silent agents. The token is metadata:
/// "authorization: Bearer TOKEN", of the role admin.
///
///     AgentLink link(*queue, "results.db", {.port = 8502});
///     std::cout << link.address();  // 127.0.0.1:8502
///
/// Results arrive as an SQLite file and are adopted as a whole: a part has one run, even if it is
/// sent twice. gRPC does not survive a fork: start children by posix_spawn only.
class AgentLink {
 public:
  /// `queue` outlives it. Throws: IoError if it cannot listen or read the certificate; ValueError
  /// for an address of other machines without TLS and tokens; Unsupported if d5 was built without
  /// gRPC.
  AgentLink(JobQueue& queue, const std::string& database, const AgentLinkOptions& options = {});
  /// Calls `stop`.
  ~AgentLink();
  AgentLink(const AgentLink&) = delete;
  AgentLink& operator=(const AgentLink&) = delete;

  [[nodiscard]] int port() const;
  [[nodiscard]] std::string address() const;  ///< HOST:PORT
  /// Ends all streams; agents continue their work, and reconnect to a server.
  void stop();

 private:
  class Listening;
  std::unique_ptr<Listening> listening_;
};

}  // namespace d5
