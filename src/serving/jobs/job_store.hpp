// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "d5/serving/jobs/job_queue.hpp"
#include "evaluation/database/sql_connection.hpp"

namespace d5 {

/// The tables of jobs, and what all transitions share. One transaction a transition: it locks the
/// job first, then its parts, and writes its events last.
class JobQueue::Store {
 public:
  Store(std::unique_ptr<detail::SqlConnection> connection, JobQueue::Options options);

  [[nodiscard]] double now() const { return options.clock ? options.clock() : system_clock(); }

  /// How far it is ahead of a clock that nobody sets.
  [[nodiscard]] double lead() const;
  /// Where the clock was set since: all agents count as heard now.
  void heed_set_clock();

  /// Reads, alone. Several reads see one state only within `write`.
  template <class Work>
  auto read(const Work& work) {
    const std::lock_guard lock(mutex);
    return work();
  }
  /// Does all of it or nothing, then wakes those that wait for events.
  template <class Work>
  auto write(const Work& work) {
    const std::lock_guard lock(mutex);
    decltype(work()) result{};
    detail::write_all(*connection, [&] { result = work(); });
    if (told) changed.notify_all();
    told = false;
    return result;
  }

  // Within a call of `read` or `write`:
  /// Until the end of the transaction nobody else changes that job. False: there is none.
  [[nodiscard]] bool lock_job(const std::string& job);
  /// Until the end of the transaction no job is submitted.
  void lock_submitting();
  enum class Detail {
    whole,
    moving  ///< what its steps ask: without title and constraints, whose texts take long to read
  };
  [[nodiscard]] std::vector<Job> jobs(const std::string& where, const detail::SqlRow& parameters,
                                      Detail detail = Detail::whole);
  [[nodiscard]] Job job(const std::string& id, Detail detail = Detail::whole);
  [[nodiscard]] std::vector<StandingAgent> agents();
  [[nodiscard]] std::vector<AgentFit> fits(const JobConstraints& constraints);
  [[nodiscard]] std::int64_t newest_event();
  /// The next number of that counter: in order, as its row is locked until the transaction ends.
  [[nodiscard]] std::int64_t count(const std::string& counter);
  /// The job's state from its parts, then the event.
  void tell(const Job& job, const JobPart* part, const std::string& agent, const std::string& text);
  /// The part of a lease if it is held still.
  [[nodiscard]] JobPart* held(Job& job, const Lease& lease) const;
  /// Writes what of a part may change.
  void save(const std::string& job, const JobPart& part);

  // Transactions of their own:
  /// The part goes back to the queue, or to quarantine. False where it is held no more.
  bool lose(const Lease& lease, const std::string& reason);
  [[nodiscard]] std::int64_t lose_all(const std::string& agent, const std::vector<Lease>& kept,
                                      const std::string& reason);

  std::unique_ptr<detail::SqlConnection> connection;
  JobQueue::Options options;
  double opened;
  double ahead;  ///< of the clock that nobody sets
  std::mutex mutex;
  std::condition_variable changed;
  bool told = false;        ///< this transaction wrote events
  std::uint64_t wakes = 0;  ///< calls of `wake`

 private:
  static double system_clock();
};

namespace detail {
/// Seconds since 1970 as ISO 8601, UTC, to the millisecond.
[[nodiscard]] std::string iso_time(double seconds);
/// What a job amounts to by its parts.
[[nodiscard]] JobState state_of(const std::vector<JobPart>& parts);
}  // namespace detail

}  // namespace d5
