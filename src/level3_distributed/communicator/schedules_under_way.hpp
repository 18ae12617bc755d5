// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace d5::detail {

class ScheduledRequest;

/// The schedules under way on one outermost communicator, in the order of their start.
class SchedulesUnderWay {
 public:
  void add(ScheduledRequest* request) { all_.push_back(request); }
  void remove(const ScheduledRequest* request);
  [[nodiscard]] bool only(const ScheduledRequest* request) const {
    return all_.size() == 1 && all_.front() == request;
  }
  /// Moves each on, and lets go of those at their end.
  void advance();

 private:
  std::vector<ScheduledRequest*> all_;
};

}  // namespace d5::detail
