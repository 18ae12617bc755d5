// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "d5/core/trace/event.hpp"
#include "d5/level3_distributed/communicator/communication_resources.hpp"

namespace d5 {

/// One call, as observers are told of it.
struct CommunicationInfo {
  std::uint64_t id = 0;     ///< of this process, in the order of asking
  std::string_view call;    ///< "all_reduce", "send", ...
  std::string_view group;   ///< `Communicator::name`
  int rank = 0, peer = -1;  ///< of the outermost communicator; peer: root or partner, -1 without
  std::int64_t bytes_sent = 0, bytes_received = 0;  ///< as `Traffic` counts them
  /// On the clock of `Trace::now_ns`: when it was asked for, when the transport took it, and when
  /// it was complete; 0: not yet.
  std::int64_t asked_ns = 0, begun_ns = 0, ended_ns = 0;
  std::string_view label = {};  ///< and what follows: of `CallOptions`, where some were given
  int priority = 0;
  const UsedResources* used = nullptr;  ///< when it is complete
};

/// Hooks of a communicator (`Communicator::events`), on the thread that calls it: of its own calls
/// and those of its groups. A communicator that nobody observes pays one branch a call.
class CommunicationEvent : public virtual Event {
 public:
  /// Once a call, before it begins.
  virtual void before_call(const CommunicationInfo& call) { (void)call; }
  /// Once a call, when it returns; what `start_...` began may still be under way.
  virtual void after_call(const CommunicationInfo& call) { (void)call; }
  /// Once a call, when this rank learns that it is complete: of a blocking one just before
  /// `after_call`.
  virtual void complete(const CommunicationInfo& call) { (void)call; }
  /// Around each wait for what `start_...` began while somebody observed. `Request::done` waits for
  /// nothing, and nobody hears of it.
  virtual void before_wait(const CommunicationInfo& call) { (void)call; }
  virtual void after_wait(const CommunicationInfo& call) { (void)call; }
};

}  // namespace d5
