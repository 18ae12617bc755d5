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

/// A part of a job that an agent has, until it is over or lapses.
struct Lease {
  std::string job;
  std::int64_t part = 0;
  std::int64_t attempt = 0;
  std::string agent;
  std::string manifest = {};

  /// Whether it is the same attempt, whoever is said to have it.
  [[nodiscard]] bool is_same_attempt(const Lease& other) const {
    return job == other.job && part == other.part && attempt == other.attempt;
  }
};

struct SubmittedJob {
  Job job;
  bool was_there = false;  ///< it was asked for before, and is the same job
};

struct JobFilter {
  std::vector<JobState> states = {};  ///< empty: any
  std::string key = {};               ///< of the evaluation, or how it begins
};
struct JobPage {
  std::vector<Job> items;  ///< the newest first
  std::string next = {};   ///< the cursor of the next page; empty: there is none
};

/// Jobs of a server, in its database: what is not over outlives every process. It decides nothing
/// about time: an agent that is free asks for the next job that it fits.
///
///     const auto queue = JobQueue::open("results.db");
///     queue->publish(facts);
///     queue->submit({.manifest = manifest, .on = "all"});
///     while (auto lease = queue->lease(facts.name)) {
///       queue->begin(*lease);
///       queue->finish(*lease, JobState::done);
///     }
///
/// Thread safety: all functions; any number of processes.
/// Throws: as `EvaluationDatabase`; NotFound for a job or an agent that there is not.
class JobQueue {
 public:
  struct Options {
    double lapse_seconds = 10;           ///< an agent that was silent so long loses what it has
    std::int64_t most_losses = 3;        ///< a part that was lost so often is quarantined
    std::function<double()> clock = {};  ///< s since 1970; empty: the system's
    /// A clock that nobody sets, s since any moment: it tells when `clock` was set. Empty: the
    /// system's, or where there is a `clock` none.
    std::function<double()> steady = {};
    double wait_seconds = 10;  ///< for another process that writes
  };
  [[nodiscard]] static std::unique_ptr<JobQueue> open(const std::string& address);
  [[nodiscard]] static std::unique_ptr<JobQueue> open(const std::string& address,
                                                      const Options& options);
  ~JobQueue();
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;

  /// The same evaluation on the same agents under the same constraints is one job, unless it
  /// failed, was cancelled or quarantined: then it is asked for anew.
  /// Throws: ValueError for an `on` that is none; Unsupported where all that fit are none.
  SubmittedJob submit(const JobRequest& request);
  /// The same as a job that failed, was cancelled or quarantined asked for, by `owner`, as if it
  /// were submitted again. Throws: ValueError for a job that is not over, or done.
  SubmittedJob retry(const std::string& job, const std::string& owner = {});
  /// What is not over of a job ends. False: it was over.
  bool cancel(const std::string& job);

  [[nodiscard]] Job job(const std::string& id) const;
  [[nodiscard]] JobPage jobs(const JobFilter& filter = {}, const std::string& cursor = {},
                             std::size_t limit = 50) const;
  /// Of one job, or of all where it is empty, the oldest first.
  [[nodiscard]] std::vector<JobEvent> events(const std::string& job, std::int64_t after,
                                             std::size_t limit = 1000) const;
  /// The number of the newest event; 0: there is none.
  [[nodiscard]] std::int64_t newest_event() const;
  /// Waits until there are events after that number, of whichever process, or the time is over.
  /// Returns the newest one's.
  std::int64_t wait(std::int64_t after, std::chrono::milliseconds most) const;
  /// Ends all that waits now.
  void wake() const;

  /// For each agent whether it could have the job, or one with such constraints.
  [[nodiscard]] std::vector<AgentFit> why(const std::string& job) const;
  [[nodiscard]] std::vector<AgentFit> why(const JobConstraints& constraints) const;
  [[nodiscard]] std::vector<StandingAgent> agents() const;

  // What agents do.
  void publish(const AgentFacts& facts);  ///< a heartbeat, too
  void heartbeat(const std::string& agent);
  /// Takes back what the agent has, but for `kept`: it began anew. Returns how much.
  std::int64_t take_back(const std::string& agent, const std::vector<Lease>& kept,
                         const std::string& reason);
  /// Takes back what silent agents have, and what none has begun for as long: it may never have
  /// heard of it. Returns how much. An agent counts as heard when the queue was opened: it may not
  /// have found the server yet; and when the clock was set by more than a second.
  std::int64_t lapse();

  /// The first job that the agent fits and has not had a part of.
  [[nodiscard]] std::optional<Lease> lease(const std::string& agent);
  /// Each of these is false, and changes nothing, where the lease lapsed, the job was cancelled, or
  /// there is none.
  [[nodiscard]] bool is_held(const Lease& lease) const;
  bool begin(const Lease& lease);
  bool progress(const Lease& lease, const std::string& text);
  /// The attempt crashed: it is queued again, or quarantined.
  bool give_back(const Lease& lease, const std::string& reason);
  /// It is over: done or failed. Told twice it changes nothing, and is true.
  bool finish(const Lease& lease, JobState state, const std::string& reason = {});

 private:
  class Store;
  explicit JobQueue(std::unique_ptr<Store> store);
  std::unique_ptr<Store> store_;
};

}  // namespace d5
