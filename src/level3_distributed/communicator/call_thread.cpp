// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/communicator/call_thread.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <latch>
#include <utility>

#include "core/machine/machine.hpp"
#include "d5/core/trace/trace.hpp"
#include "level3_distributed/communicator/patience.hpp"
#include "level3_distributed/communicator/schedules_under_way.hpp"

namespace d5::detail {
namespace {

/// Binds the calling thread. False if the system refuses.
bool bind_here(const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(static_cast<std::size_t>(core), &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

/// Binds the calling thread to the core at index `place` of those that the process may use.
std::string bind_to(int place) {
  const auto& allowed = machine().allowed;
  if (place < 0 || place >= static_cast<int>(allowed.size())) {
    return fmt::format("none: there is no place {} on {} hardware threads", place, allowed.size());
  }
  const int core = allowed[static_cast<std::size_t>(place)];
  if (bind_here({core})) return fmt::format("core {}", core);
  return "none: the system refuses to bind threads";
}

}  // namespace

/// A call: written by the thread, read by the caller once it is done.
struct CallThread::Call {
  Begin begin;
  std::unique_ptr<Request> request = {};  ///< used by the thread only
  std::exception_ptr error = {};
  Request::Times times = {};
  std::atomic<bool> done = false;

  void finish() {
    if (request) {
      const Request::Times theirs = request->times();
      if (theirs.begun_ns != 0) times.begun_ns = theirs.begun_ns;
      times.ended_ns = theirs.ended_ns;
      request.reset();
    }
    if (times.ended_ns == 0) times.ended_ns = Trace::now_ns();
    begin = nullptr;  // releases the tensors
    done.store(true, std::memory_order_release);
    done.notify_all();
  }
};

class CallThread::ThreadRequest final : public Request {
 public:
  ThreadRequest(std::shared_ptr<CallThread> thread, std::shared_ptr<Call> call)
      : thread_(std::move(thread)), call_(std::move(call)) {}
  ~ThreadRequest() override {
    if (std::uncaught_exceptions() == exceptions_) complete();
  }
  void wait() override {
    complete();
    rethrow();
  }
  bool done() override {
    if (!call_->done.load(std::memory_order_acquire)) return false;
    rethrow();
    return true;
  }
  Times times() const override {
    return call_->done.load(std::memory_order_acquire) ? call_->times : Times{};
  }

 private:
  void complete() {
    while (thread_->is_this_thread() && !call_->done) thread_->look();
    call_->done.wait(false, std::memory_order_acquire);
  }
  void rethrow() {
    if (call_->error) std::rethrow_exception(std::exchange(call_->error, nullptr));
  }

  std::shared_ptr<CallThread> thread_;
  std::shared_ptr<Call> call_;
  int exceptions_ = std::uncaught_exceptions();
};

CallThread::CallThread(std::shared_ptr<SchedulesUnderWay> schedules, std::optional<int> place)
    : schedules_(std::move(schedules)) {
  std::latch ready(1);
  thread_ = std::thread([&, place] {
    id_ = std::this_thread::get_id();
    if (place) pinning_ = bind_to(*place);
    ready.count_down();
    work();
  });
  ready.wait();
}

void CallThread::stop() {
  abandoned_ = std::uncaught_exceptions() > 0;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  needed_.notify_one();
  thread_.join();
}

std::unique_ptr<Request> CallThread::start(Begin begin) {
  auto call = std::make_shared<Call>();
  call->begin = std::move(begin);
  auto request = std::make_unique<ThreadRequest>(shared_from_this(), call);
  if (is_this_thread()) {  // called by a schedule on this thread
    begin_asked();
    this->begin(std::move(call));
    return request;
  }
  {
    const std::lock_guard lock(mutex_);
    asked_.push_back(std::move(call));
  }
  needed_.notify_one();
  return request;
}

void CallThread::wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  needed_.notify_one();
}

void CallThread::work() {
  while (sleep_until_needed()) {
    look();
    std::shared_ptr<const CallOptions> options;
    if (const auto lock = schedules_->try_lock(); lock.owns_lock()) {
      options = schedules_->options_for_thread();
      if (options) bind(options->resources.cores);
      schedules_->advance(SchedulesUnderWay::By::thread);
    }
    if (options) {
      PollPause(options->resources).pause();
    } else {
      std::this_thread::yield();
    }
  }
  for (const auto& call : under_way_) (void)call->request.release();  // waiting might never end
}

/// Returns false when the thread should end.
bool CallThread::sleep_until_needed() {
  if (abandoned_) return false;
  if (!under_way_.empty()) return true;
  if (const auto all = schedules_->try_lock();
      !all.owns_lock() || !schedules_->empty_for_thread()) {
    return true;
  }
  std::unique_lock lock(mutex_);
  needed_.wait(lock, [&] { return woken_ || stopping_ || !asked_.empty(); });
  woken_ = false;
  return !asked_.empty() || !stopping_;
}

/// Binds the thread to the first of these cores; empty: to its original cores.
void CallThread::bind(const std::vector<int>& cores) {
  const int core = cores.empty() ? -1 : cores.front();
  if (core == bound_) return;
  if (bound_ < 0) {
    CPU_ZERO(&unbound_);
    sched_getaffinity(0, sizeof unbound_, &unbound_);
  }
  if (core < 0) {
    sched_setaffinity(0, sizeof unbound_, &unbound_);
  } else {
    bind_here({core});
  }
  bound_ = core;
}

void CallThread::begin_asked() {
  std::vector<std::shared_ptr<Call>> asked;
  {
    const std::lock_guard lock(mutex_);
    asked.swap(asked_);
  }
  for (auto& call : asked) begin(std::move(call));
}

void CallThread::begin(std::shared_ptr<Call> call) {
  call->times.begun_ns = Trace::now_ns();
  try {
    call->request = call->begin();
  } catch (...) {
    call->error = std::current_exception();
  }
  if (!call->request) return call->finish();
  under_way_.push_back(std::move(call));
}

void CallThread::look() {
  begin_asked();
  std::erase_if(under_way_, [](const std::shared_ptr<Call>& call) {
    try {
      if (!call->request->done()) return false;
    } catch (...) {
      call->error = std::current_exception();
    }
    call->finish();
    return true;
  });
}

}  // namespace d5::detail
