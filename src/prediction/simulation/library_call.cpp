// SPDX-License-Identifier: Apache-2.0
#include "prediction/simulation/library_call.hpp"

#include <algorithm>
#include <utility>

#include "prediction/simulation/simulated_world.hpp"

namespace d5::detail {

LibraryRequest::LibraryRequest(std::shared_ptr<SimulatedWorld> world, int rank, std::string words,
                               const std::function<std::unique_ptr<Request>()>& start)
    : world_(std::move(world)), rank_(rank), words_(std::move(words)) {
  world_->move_library_calls_on(rank_);
  request_ = start();
  world_->library_calls[static_cast<std::size_t>(rank_)].push_back(this);
  move_on();
}

LibraryRequest::~LibraryRequest() {
  if (std::uncaught_exceptions() == exceptions_) {
    try {
      finish();
    } catch (const SimulationStopped&) {
      complete_ = false;  // not observed any more
    }
  }
  std::erase(world_->library_calls[static_cast<std::size_t>(rank_)], this);
}

void LibraryRequest::move_on() {
  if (complete_ || moving_) return;
  moving_ = true;
  try {
    complete_ = request_->done();
  } catch (const SimulationStopped&) {
    moving_ = false;
    throw;
  } catch (...) {
    error_ = std::current_exception();
    complete_ = true;
  }
  moving_ = false;
  if (complete_) world_->board.note_change(rank_, world_->scheduler.current().time);
}

void LibraryRequest::finish() {
  for (;;) {
    world_->move_library_calls_on(rank_);
    if (complete_) return;
    world_->board.wait_for_change();
  }
}

void LibraryRequest::wait() {
  finish();
  rethrow();
}

bool LibraryRequest::done() {
  world_->move_library_calls_on(rank_);
  if (complete_) rethrow();
  return complete_;
}

void LibraryRequest::rethrow() {
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

}  // namespace d5::detail
