// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "d5/serving/jobs/job.hpp"

namespace d5 {

/// A part of a job that an agent holds, until it is over or lapses.
struct Lease {
  std::string job;
  std::int64_t part = 0;
  std::int64_t attempt = 0;
  std::string agent;
  std::string manifest = {};

  /// Whether both are the same attempt, regardless of the agent.
  [[nodiscard]] bool is_same_attempt(const Lease& other) const {
    return job == other.job && part == other.part && attempt == other.attempt;
  }
};

struct SubmittedJob {
  Job job;
  bool was_there = false;  ///< it was submitted before, and is the same job
};

struct JobFilter {
  std::vector<JobState> states = {};  ///< empty: any
  std::string key = {};               ///< key of the evaluation, or its prefix
};
struct JobPage {
  std::vector<Job> items;  ///< newest first
  std::string next = {};   ///< the cursor of the next page; empty: there is none
};

/// The jobs of a server, in its database: unfinished jobs survive every process. It does not
/// schedule: a free agent asks for the next job that it fits.
///
///     const auto queue = JobQueue::open("results.db");
///     queue->publish(facts);
///     queue->submit({.manifest = manifest, .on = "all"});
///     while (auto lease = queue->lease(facts.name)) {
///       queue->begin(*lease);
///       queue->finish(*lease, JobState::done);
///     }
///
/// A user's job is named by its id, or the first 6 digits of it or more, if no other id begins so.
///
/// Thread safety: all functions; any number of processes.
/// Throws: as `EvaluationDatabase`; NotFound for an unknown job or agent, or a shared beginning.
class JobQueue {
 public:
  struct Options {
    double lapse_seconds = 10;           ///< an agent that is silent for so long loses its parts
    std::int64_t most_losses = 3;        ///< a part that is lost this often is quarantined
    std::function<double()> clock = {};  ///< s since 1970; empty: the system's
    /// A monotonic clock, in s, which detects that `clock` was set. Empty: the system's, or none if
    /// `clock` is given.
    std::function<double()> steady = {};
    double wait_seconds = 10;  ///< for another process that writes
  };
  [[nodiscard]] static std::unique_ptr<JobQueue> open(const std::string& address);
  [[nodiscard]] static std::unique_ptr<JobQueue> open(const std::string& address,
                                                      const Options& options);
  ~JobQueue();
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;

  /// Submits a job. The same evaluation on the same agents under the same constraints is one job,
  /// unless it failed, was cancelled or quarantined: then a new job is made. Throws: ValueError for
  /// an invalid `on`; Unsupported for "all" if no agent fits.
  SubmittedJob submit(const JobRequest& request);
  /// Submits the request of a failed, cancelled or quarantined job again, for `owner`. Throws:
  /// ValueError for a job that is not over, or done.
  SubmittedJob retry(const std::string& job, const std::string& owner = {});
  /// Ends the unfinished parts of a job. Returns false if it was over.
  bool cancel(const std::string& job);

  [[nodiscard]] Job job(const std::string& id) const;
  [[nodiscard]] JobPage jobs(const JobFilter& filter = {}, const std::string& cursor = {},
                             std::size_t limit = 50) const;
  /// Events of one job, or of all jobs if it is empty, oldest first.
  [[nodiscard]] std::vector<JobEvent> events(const std::string& job, std::int64_t after,
                                             std::size_t limit = 1000) const;
  /// The number of the newest event; 0 if there is none.
  [[nodiscard]] std::int64_t newest_event() const;
  /// Waits for events after that number, from any process, or for the timeout. Returns the newest
  /// event's number.
  std::int64_t wait(std::int64_t after, std::chrono::milliseconds most) const;
  /// Ends all current waits.
  void wake() const;

  /// For each agent whether it could run the job, or one with these constraints.
  [[nodiscard]] std::vector<AgentFit> why(const std::string& job) const;
  [[nodiscard]] std::vector<AgentFit> why(const JobConstraints& constraints) const;
  [[nodiscard]] std::vector<StandingAgent> agents() const;

  // Calls of agents.
  void publish(const AgentFacts& facts);  ///< also a heartbeat
  void heartbeat(const std::string& agent);
  /// Takes back an agent's parts, except `kept`, after it restarted. Returns their number.
  std::int64_t take_back(const std::string& agent, const std::vector<Lease>& kept,
                         const std::string& reason);
  /// Takes back the parts of silent agents, and parts that were leased but not begun for that long,
  /// because the agent may not have received them. Returns their number. Every agent counts as
  /// alive when the queue is opened, because it may still have to find the server, and when the
  /// clock was set by more than a second.
  std::int64_t lapse();

  /// Leases the first job that the agent fits and has had no part of.
  [[nodiscard]] std::optional<Lease> lease(const std::string& agent);
  /// These return false, and change nothing, if the lease lapsed, the job was cancelled, or there
  /// is no such lease.
  [[nodiscard]] bool is_held(const Lease& lease) const;
  bool begin(const Lease& lease);
  bool progress(const Lease& lease, const std::string& text);
  /// Reports a crash: the part is queued again, or quarantined.
  bool give_back(const Lease& lease, const std::string& reason);
  /// Ends the part: done or failed. A repetition changes nothing, and returns true.
  bool finish(const Lease& lease, JobState state, const std::string& reason = {});

 private:
  class Store;
  explicit JobQueue(std::unique_ptr<Store> store);
  std::unique_ptr<Store> store_;
};

}  // namespace d5
