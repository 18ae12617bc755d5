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

/// A coroutine for algorithms of several calls: it suspends at each wait, so that the caller can
/// compute meanwhile.
///
///     CommunicationSchedule to_all(Communicator& ranks, Tensor data) {  // tensors by value
///       auto sum = ranks.start_reduce_scatter(...);
///       co_await sum;
///       std::vector<std::unique_ptr<Request>> both = ...;
///       co_await both;
///     }
///     auto request = run_schedule(ranks, to_all(ranks, data));     // in flight
///
/// An awaited request must be a variable, not a temporary. After its first wait a schedule may send
/// and receive, with a tag from `Communicator::own_tag`, but must not call a collective: all ranks
/// must call collectives in the same order, and several schedules progress in a different order on
/// each rank.
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

  /// Runs as far as possible without waiting; returns whether the coroutine has ended. Rethrows its
  /// exception.
  bool advance();
  /// Blocks until the awaited calls are done.
  void wait_for_calls();

 private:
  Handle handle_;
};

/// Awaitable that is ready when all `calls` are done.
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

/// Facts about an algorithm, for `Request::used`.
struct ScheduleFacts {
  std::optional<std::int64_t> chunk_bytes = {};  ///< requested; nullopt: it does not chunk
  bool ignores_resources = false;                ///< an algorithm that only waits for others
};

/// Starts a schedule. Waiting for its request, or polling it, progresses all schedules in flight on
/// `ranks`, its groups and its parents, so ranks may wait for several in different orders.
[[nodiscard]] std::unique_ptr<Request> run_schedule(Communicator& ranks,
                                                    CommunicationSchedule schedule,
                                                    const ScheduleFacts& facts = {});

}  // namespace d5
