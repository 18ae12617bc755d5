// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/results/results.hpp"
#include "d5/serving/client/own_manifest.hpp"
#include "d5/serving/jobs/job.hpp"
#include "d5/serving/jobs/job_queue.hpp"

namespace d5 {

struct ServingClientOptions {
  std::string token = {};         ///< empty: $D5_TOKEN, or none
  std::string certificates = {};  ///< PEM file of authorities; empty: $D5_CA, or the system's
  Interrupt interrupt = {};
};

/// A model or a data set that a server keeps for others.
struct KeptEntry {
  std::string kind, name, version, task, summary;
};

/// A client of 'd5 serve'.
///
///     ServingClient client("http://127.0.0.1:8500");
///     const Job job = client.submit(read_file("evaluation.yaml")).job;
///     client.follow(job.id, [](const JobEvent& event) { std::cerr << event.text << '\n'; });
///     for (const auto& part : client.job(job.id).parts) show(client.results(part.run));
///
/// Thread safety: one call at a time.
/// Throws: IoError for a server that cannot be reached, or fails; NotFound for unknown ids;
/// ValueError for requests that it refuses, with its message; Interrupted.
class ServingClient {
 public:
  explicit ServingClient(std::string address, ServingClientOptions options = {});

  /// `manifest`: of an evaluation, YAML or JSON; its names are those of the server's catalogue.
  [[nodiscard]] SubmittedJob submit(const std::string& manifest, const std::string& on = "one",
                                    const JobConstraints& constraints = {}) const;
  [[nodiscard]] Job job(const std::string& id) const;
  [[nodiscard]] JobPage jobs(const JobFilter& filter = {}, const std::string& cursor = {},
                             std::size_t limit = 50) const;
  [[nodiscard]] std::vector<AgentFit> why(const std::string& job) const;
  /// Submits a failed, cancelled or quarantined job again. Throws: ValueError for a job that is not
  /// over, or done.
  [[nodiscard]] SubmittedJob retry(const std::string& job) const;
  /// Returns false if the job was over.
  bool cancel(const std::string& job) const;

  /// Calls `hear` with every event of a job, from the first, until the job is over. A broken
  /// connection is reopened, and no event is repeated.
  void follow(const std::string& job, const std::function<void(const JobEvent&)>& hear) const;

  enum class Replace { no, yes };
  /// Keeps a manifest on the server, after it has sent the files that the server lacks; `said`
  /// receives a line for each. Returns false if it was kept already. Throws: NotFound for a file
  /// that is nowhere; ValueError for a name that is taken, unless it is replaced.
  bool keep(const OwnManifest& manifest, Replace replace = Replace::no,
            const std::function<void(const std::string&)>& said = {}) const;
  /// Removes a kept manifest: NAME or NAME@VERSION. Throws: ValueError while a job uses it.
  void forget(const std::string& kind, const std::string& word) const;

  [[nodiscard]] std::vector<KeptEntry> kept() const;

  /// All results of a run, with samples and environment.
  [[nodiscard]] Results results(const std::string& run) const;
  /// The same, apart for each piece of the run, in order.
  [[nodiscard]] std::vector<Results> pieces(const std::string& run) const;

  /// The raw answer of a request: send("GET", "/v1/models"); the body is JSON.
  [[nodiscard]] std::string send(const std::string& method, const std::string& path,
                                 const std::string& body = {}) const;
  /// `follow` with raw events: JSON.
  void follow_text(const std::string& job,
                   const std::function<void(const std::string&)>& hear) const;

  /// The same client with another interrupt.
  [[nodiscard]] ServingClient with(const Interrupt& interrupt) const;

 private:
  std::string address_;
  ServingClientOptions options_;
};

/// `text` escaped for an address: "a%20b".
[[nodiscard]] std::string percent_encoded(const std::string& text);

}  // namespace d5
