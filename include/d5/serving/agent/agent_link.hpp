// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "d5/serving/jobs/job_queue.hpp"

namespace d5 {

struct AgentLinkOptions {
  std::string host = "127.0.0.1";
  int port = 0;                  ///< 0: any that is free
  std::string certificate = {};  ///< PEM file with its chain; empty: no TLS
  std::string key = {};          ///< PEM file
  std::string tokens = {};       ///< file of `AccessTokens`; empty: every agent may come
  int most_agents = 256;         ///< at once
};

/// Where agents come to, over gRPC (src/serving/agent/agent.proto): hands out parts of jobs, takes
/// their results into the database, and takes back what silent agents have. A token is metadata:
/// "authorization: Bearer TOKEN", of the role admin.
///
///     AgentLink link(*queue, "results.db", {.port = 8502});
///     std::cout << link.address();  // 127.0.0.1:8502
///
/// Results come as a file of SQLite and are adopted whole: a part has one run, whatever is sent
/// twice. gRPC does not live on in a process that is forked: children by posix_spawn only.
class AgentLink {
 public:
  /// `queue` outlives it. Throws: IoError where it cannot listen or read the certificate;
  /// ValueError for an address of other machines without TLS and tokens; Unsupported where d5 was
  /// built without gRPC.
  AgentLink(JobQueue& queue, const std::string& database, const AgentLinkOptions& options = {});
  /// `stop`
  ~AgentLink();
  AgentLink(const AgentLink&) = delete;
  AgentLink& operator=(const AgentLink&) = delete;

  [[nodiscard]] int port() const;
  [[nodiscard]] std::string address() const;  ///< HOST:PORT
  /// Streams end; agents go on with what they have, and look for a server again.
  void stop();

 private:
  class Listening;
  std::unique_ptr<Listening> listening_;
};

}  // namespace d5
