// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/node/communication_crew.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <condition_variable>
#include <thread>
#include <utility>

#include "core/machine/machine.hpp"
#include "core/thread_pool/thread_pool.hpp"
#include "d5/core/trace/trace.hpp"
#include "level3_distributed/communicator/patience.hpp"

namespace d5::detail {

/// The part of a call that one thread progresses.
struct CommunicationCrew::Task {
  std::unique_ptr<Request> request;
  std::shared_ptr<const CallOptions> options;
  int core = -1;  ///< -1: not bound
  std::mutex mutex = {};
  bool abandoned = false;
  std::exception_ptr error = {};
  std::int64_t begun_ns = 0, ended_ns = 0;
  std::atomic<bool> done = false;

  /// Progresses the part; returns whether it is done or given up.
  bool advance() {
    const std::lock_guard lock(mutex);
    if (abandoned) return true;
    if (begun_ns == 0) begun_ns = Trace::now_ns();
    try {
      if (!request->done()) return false;
    } catch (...) {
      error = std::current_exception();
    }
    if (request) ended_ns = request->times().ended_ns;
    request.reset();
    if (ended_ns == 0) ended_ns = Trace::now_ns();
    done.store(true, std::memory_order_release);
    return true;
  }
  /// Gives the part up, because waiting for it might never end.
  void abandon() {
    const std::lock_guard lock(mutex);
    abandoned = true;
    (void)request.release();
  }
};

class CommunicationCrew::Thread {
 public:
  Thread() {
    std::thread([this] { work(); }).detach();
  }
  void give(std::shared_ptr<Task> task) {
    {
      const std::lock_guard lock(mutex_);
      given_.push_back(std::move(task));
      has_given_ = true;
    }
    needed_.notify_one();
  }

 private:
  [[noreturn]] void work() {
    ThreadPool::compute_alone();
    bind(-1);
    for (;;) {
      take_given();
      const auto options = tasks_.front()->options;
      std::erase_if(tasks_, [this](const auto& task) {
        bind(task->core);
        return task->advance();
      });
      if (!tasks_.empty()) PollPause(options->resources).pause();
    }
  }

  void take_given() {
    if (!tasks_.empty() && !has_given_) return;
    std::unique_lock lock(mutex_);
    needed_.wait(lock, [&] { return !tasks_.empty() || !given_.empty(); });
    std::ranges::move(given_, std::back_inserter(tasks_));
    given_.clear();
    has_given_ = false;
    std::ranges::stable_sort(tasks_, std::greater(),
                             [](const auto& task) { return task->options->priority; });
  }

  void bind(int core) {
    if (core == bound_) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    if (core >= 0) CPU_SET(static_cast<std::size_t>(core), &set);
    for (const int one : machine().allowed) {
      if (core < 0) CPU_SET(static_cast<std::size_t>(one), &set);
    }
    sched_setaffinity(0, sizeof set, &set);
    bound_ = core;
  }

  std::mutex mutex_;
  std::condition_variable needed_;
  std::vector<std::shared_ptr<Task>> given_;
  std::atomic<bool> has_given_ = false;
  std::vector<std::shared_ptr<Task>> tasks_;  // used by the thread only
  int bound_ = -2;                            // -2: as the thread that created it
};

class CommunicationCrew::CrewRequest final : public Request {
 public:
  CrewRequest(std::vector<std::shared_ptr<Task>> tasks, UsedResources used)
      : tasks_(std::move(tasks)), used_(std::move(used)) {}
  ~CrewRequest() override {
    if (std::uncaught_exceptions() == exceptions_) {
      complete();
    } else {
      for (const auto& task : tasks_) task->abandon();
    }
  }
  void wait() override {
    complete();
    rethrow();
  }
  bool done() override {
    if (!is_complete()) return false;
    rethrow();
    return true;
  }
  Times times() const override {
    if (!is_complete()) return {};
    Times all{tasks_.front()->begun_ns, 0};
    for (const auto& task : tasks_) {
      all.begun_ns = std::min(all.begun_ns, task->begun_ns);
      all.ended_ns = std::max(all.ended_ns, task->ended_ns);
    }
    return all;
  }
  std::optional<UsedResources> used() const override { return used_; }

 private:
  [[nodiscard]] bool is_complete() const {
    return std::ranges::all_of(
        tasks_, [](const auto& task) { return task->done.load(std::memory_order_acquire); });
  }
  void complete() {
    for (PollPause pause(used_.resources); !is_complete();) pause.pause();
  }
  void rethrow() {
    for (const auto& task : tasks_) {
      if (task->error) std::rethrow_exception(std::exchange(task->error, nullptr));
    }
  }

  std::vector<std::shared_ptr<Task>> tasks_;
  UsedResources used_;
  int exceptions_ = std::uncaught_exceptions();
};

CommunicationCrew& CommunicationCrew::instance() {
  static auto* crew = new CommunicationCrew;
  return *crew;
}

CommunicationCrew::Thread& CommunicationCrew::thread(std::size_t index) {
  const std::lock_guard lock(mutex_);
  while (threads_.size() <= index) threads_.push_back(std::make_unique<Thread>());
  return *threads_[index];
}

std::unique_ptr<Request> CommunicationCrew::run(std::vector<std::unique_ptr<Request>> parts,
                                                std::shared_ptr<const CallOptions> options,
                                                UsedResources used) {
  const auto& cores = used.resources.cores;
  std::vector<std::shared_ptr<Task>> tasks;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto task = std::make_shared<Task>(std::move(parts[i]), options,
                                       cores.empty() ? -1 : cores[i % cores.size()]);
    thread(i).give(task);
    tasks.push_back(std::move(task));
  }
  return std::make_unique<CrewRequest>(std::move(tasks), std::move(used));
}

}  // namespace d5::detail
