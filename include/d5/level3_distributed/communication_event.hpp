// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "d5/core/event.hpp"

namespace d5 {

/// Hooks of a communicator (`Communicator::events`), on the thread that calls it. A communicator
/// that nobody observes pays one branch a call.
class CommunicationEvent : public virtual Event {
 public:
  /// Once a call, before it begins. Bytes are counted as in `Traffic`.
  virtual void before_call(std::string_view call, std::int64_t bytes_sent,
                           std::int64_t bytes_received) {
    (void)call, (void)bytes_sent, (void)bytes_received;
  }
  /// Once a call, when it returns; what `start_...` began may still be under way.
  virtual void after_call(std::string_view call) { (void)call; }
  /// Around each wait for what `start_...` began while somebody observed. `Request::done` waits for
  /// nothing, and nobody hears of it.
  virtual void before_wait(std::string_view call) { (void)call; }
  virtual void after_wait(std::string_view call) { (void)call; }
};

}  // namespace d5
