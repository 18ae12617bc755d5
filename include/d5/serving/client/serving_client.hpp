// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/results/results.hpp"
#include "d5/serving/jobs/job.hpp"
#include "d5/serving/jobs/job_queue.hpp"

namespace d5 {

struct ServingClientOptions {
  std::string token = {};         ///< empty: $D5_TOKEN, or none
  std::string certificates = {};  ///< PEM file of authorities; empty: $D5_CA, or the system's
  Interrupt interrupt = {};
};

/// Asks a server of 'd5 serve' for evaluations.
///
///     ServingClient client("http://127.0.0.1:8500");
///     const Job job = client.submit(read_file("evaluation.yaml")).job;
///     client.follow(job.id, [](const JobEvent& event) { std::cerr << event.text << '\n'; });
///     for (const auto& part : client.job(job.id).parts) show(client.results(part.run));
///
/// Thread safety: one call at a time.
/// Throws: IoError for a server that cannot be reached, or fails; NotFound for what it has not;
/// ValueError for what it refuses, with its words; Interrupted.
class ServingClient {
 public:
  explicit ServingClient(std::string address, ServingClientOptions options = {});

  /// `manifest`: of an evaluation, YAML or JSON, whose names are those of the server's catalogue.
  [[nodiscard]] SubmittedJob submit(const std::string& manifest, const std::string& on = "one",
                                    const JobConstraints& constraints = {}) const;
  [[nodiscard]] Job job(const std::string& id) const;
  [[nodiscard]] JobPage jobs(const JobFilter& filter = {}, const std::string& cursor = {},
                             std::size_t limit = 50) const;
  [[nodiscard]] std::vector<AgentFit> why(const std::string& job) const;
  /// What failed, was cancelled or quarantined is asked for anew. Throws: ValueError for what is
  /// not over, or done.
  [[nodiscard]] SubmittedJob retry(const std::string& job) const;
  /// False: it was over.
  bool cancel(const std::string& job) const;

  /// Calls `hear` with every event of a job from its first, until it is over. A connection that
  /// breaks is made again, and what was heard is not heard twice.
  void follow(const std::string& job, const std::function<void(const JobEvent&)>& hear) const;

  /// All that a run measured, with its samples and its environment.
  [[nodiscard]] Results results(const std::string& run) const;

  /// What a path answers, as it is: send("GET", "/v1/models"); a body is JSON.
  [[nodiscard]] std::string send(const std::string& method, const std::string& path,
                                 const std::string& body = {}) const;
  /// `follow`, with events as they are: JSON.
  void follow_text(const std::string& job,
                   const std::function<void(const std::string&)>& hear) const;

  /// The same client, ended by another wish.
  [[nodiscard]] ServingClient with(const Interrupt& interrupt) const;

 private:
  std::string address_;
  ServingClientOptions options_;
};

/// `text` as a part of an address: "a%20b".
[[nodiscard]] std::string percent_encoded(const std::string& text);

}  // namespace d5
