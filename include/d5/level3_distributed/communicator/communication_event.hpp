// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "d5/core/trace/event.hpp"
#include "d5/level3_distributed/communicator/communication_resources.hpp"

namespace d5 {

/// One call, as observers see it.
struct CommunicationInfo {
  std::uint64_t id = 0;     ///< unique in this process, in call order
  std::string_view call;    ///< "all_reduce", "send", ...
  std::string_view group;   ///< `Communicator::name`
  int rank = 0, peer = -1;  ///< in the outermost communicator; peer: root or partner, -1 if none
  std::int64_t bytes_sent = 0, bytes_received = 0;  ///< as `Traffic` counts them
  /// Time on the clock of `Trace::now_ns` when the call was made, when the transport took it, and
  /// when it was complete; 0: not yet.
  std::int64_t asked_ns = 0, begun_ns = 0, ended_ns = 0;
  std::string_view label = {};          ///< `CallOptions::label`
  int priority = 0;                     ///< `CallOptions::priority`
  const UsedResources* used = nullptr;  ///< set once the call is complete, if options were given
};

/// Hooks of a communicator (`Communicator::events`), for its own calls and those of its groups.
/// They run on the calling thread. Without observers a call costs one extra branch.
class CommunicationEvent : public virtual Event {
 public:
  /// Called once per call, before it begins.
  virtual void before_call(const CommunicationInfo& call) { (void)call; }
  /// Called once per call, when it returns. A request of `start_...` may still be in flight.
  virtual void after_call(const CommunicationInfo& call) { (void)call; }
  /// Called once per call, when this rank learns that it is complete; for a blocking call just
  /// before `after_call`.
  virtual void complete(const CommunicationInfo& call) { (void)call; }
  /// Called around each wait for a request that `start_...` returned while observed.
  /// `Request::done` does not wait and is not observed.
  virtual void before_wait(const CommunicationInfo& call) { (void)call; }
  virtual void after_wait(const CommunicationInfo& call) { (void)call; }
};

}  // namespace d5
