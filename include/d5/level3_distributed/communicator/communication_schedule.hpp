// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5 {

/// An algorithm over started calls, written as straight code: it sleeps where it waits for some,
/// and whoever started it computes meanwhile.
///
///     CommunicationSchedule to_all(Communicator& ranks, Tensor data) {          // parameters by
///     value
///       auto sum = ranks.start_reduce_scatter(...);
///       co_await sum;
///       std::vector<std::unique_ptr<Request>> both = ...;
///       co_await both;
///     }
///     auto request = run_schedule(ranks, to_all(ranks, data));     // under way
///
/// What it waits for is a variable of its own, not a temporary. After its first wait it sends and
/// receives, with a tag of its own (`Communicator::own_tag`), and calls no collective: ranks call
/// these in one order, and several schedules go on in an order of each rank's.
class CommunicationSchedule {
 public:
  class Sleep;
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;

  explicit CommunicationSchedule(Handle handle) : handle_(handle) {}
  CommunicationSchedule(CommunicationSchedule&& other) noexcept
      : handle_(std::exchange(other.handle_, {})) {}
  CommunicationSchedule& operator=(CommunicationSchedule&&) = delete;
  ~CommunicationSchedule() {
    if (handle_) handle_.destroy();
  }

  /// Goes as far as it can without waiting: whether it is at its end. Throws: what it threw.
  bool advance();
  /// Waits for the calls that it waits for now.
  void wait_for_calls();

 private:
  Handle handle_;
};

/// Until these are done.
class CommunicationSchedule::Sleep {
 public:
  explicit Sleep(std::span<const std::unique_ptr<Request>> calls) : calls_(calls) {}
  [[nodiscard]] bool await_ready() const;
  void await_suspend(Handle handle) const noexcept;
  void await_resume() const noexcept {}

 private:
  std::span<const std::unique_ptr<Request>> calls_;
};

struct CommunicationSchedule::promise_type {
  std::span<const std::unique_ptr<Request>> calls;
  std::exception_ptr error;

  CommunicationSchedule get_return_object() {
    return CommunicationSchedule(Handle::from_promise(*this));
  }
  std::suspend_always initial_suspend() noexcept { return {}; }  // until `run_schedule`
  std::suspend_always final_suspend() noexcept { return {}; }
  void return_void() noexcept {}
  void unhandled_exception() noexcept { error = std::current_exception(); }
  Sleep await_transform(const std::unique_ptr<Request>& call) { return Sleep({&call, 1}); }
  Sleep await_transform(const std::vector<std::unique_ptr<Request>>& calls) { return Sleep(calls); }
};

/// What an algorithm tells of itself, for `Request::used`.
struct ScheduleFacts {
  std::optional<std::int64_t> chunk_bytes = {};  ///< that it was asked for, and cuts data by
  bool ignores_resources = false;                ///< one that only waits for others
};

/// The request of a schedule. Waiting for one, or asking whether it is done, moves on all that are
/// under way on `ranks`, its groups and what they are groups of: ranks may wait for several in
/// different orders.
[[nodiscard]] std::unique_ptr<Request> run_schedule(Communicator& ranks,
                                                    CommunicationSchedule schedule,
                                                    const ScheduleFacts& facts = {});

}  // namespace d5
