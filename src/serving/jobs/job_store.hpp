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

/// The tables of jobs, and the common parts of all transitions. Each transition is one transaction:
/// it locks the job first, then its parts, and writes its events last.
class JobQueue::Store {
 public:
  Store(std::unique_ptr<detail::SqlConnection> connection, JobQueue::Options options);

  [[nodiscard]] double now() const { return options.clock ? options.clock() : system_clock(); }

  /// Offset of the clock to the monotonic one.
  [[nodiscard]] double lead() const;
  /// Detects whether the clock was set since: if so, all agents count as alive now.
  void heed_set_clock();

  /// Runs one read. Several reads see one state only within `write`.
  template <class Work>
  auto read(const Work& work) {
    const std::lock_guard lock(mutex);
    return work();
  }
  /// Runs `work` completely or not at all, then wakes waiting calls.
  template <class Work>
  auto write(const Work& work) {
    const std::lock_guard lock(mutex);
    decltype(work()) result{};
    detail::write_all(*connection, [&] { result = work(); });
    if (told) changed.notify_all();
    told = false;
    return result;
  }

  // Call within `read` or `write`:
  /// Locks the job until the end of the transaction. Returns false if there is none.
  [[nodiscard]] bool lock_job(const std::string& job);
  /// Blocks submissions until the end of the transaction.
  void lock_submitting();
  enum class Detail {
    whole,
    moving  ///< for transitions: without title and constraints, which take long to read
  };
  /// The id that begins so: whole, or at least its first 6 digits. Throws: NotFound if no job has
  /// it, or several.
  [[nodiscard]] std::string id_of(const std::string& beginning);
  [[nodiscard]] std::vector<Job> jobs(const std::string& where, const detail::SqlRow& parameters,
                                      Detail detail = Detail::whole);
  [[nodiscard]] Job job(const std::string& id, Detail detail = Detail::whole);
  [[nodiscard]] std::vector<StandingAgent> agents();
  [[nodiscard]] std::vector<AgentFit> fits(const JobConstraints& constraints);
  /// Says of queued jobs why no agent can take them.
  void explain(std::vector<Job>& jobs);
  [[nodiscard]] std::int64_t newest_event();
  /// The next number of the counter, whose row is locked until the transaction ends.
  [[nodiscard]] std::int64_t count(const std::string& counter);
  /// Updates the job's state from its parts, then adds the event.
  void tell(const Job& job, const JobPart* part, const std::string& agent, const std::string& text);
  /// The part of a lease, if it is still held.
  [[nodiscard]] JobPart* held(Job& job, const Lease& lease) const;
  /// Writes the changeable columns of a part.
  void save(const std::string& job, const JobPart& part);

  // Run in transactions of their own:
  /// Returns the part to the queue, or to quarantine. Returns false if it is not held any more.
  bool lose(const Lease& lease, const std::string& reason);
  [[nodiscard]] std::int64_t lose_all(const std::string& agent, const std::vector<Lease>& kept,
                                      const std::string& reason);

  std::unique_ptr<detail::SqlConnection> connection;
  JobQueue::Options options;
  double opened;
  double ahead;  ///< lead over the monotonic clock
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
/// The state of a job with these parts.
[[nodiscard]] JobState state_of(const std::vector<JobPart>& parts);
}  // namespace detail

}  // namespace d5
