// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "d5/level3_distributed/communicator.hpp"

namespace d5::detail {

/// A request whose waits the communicator's observers hear of, and whose life is on the trace: an
/// overlapping span from its start until this rank learns that it is complete, and a span for each
/// wait.
class ObservedRequest final : public Request {
 public:
  /// Made inside the span of the call that started it. `call` and `events` outlive it: a literal,
  /// the communicator's.
  ObservedRequest(std::string_view call, std::unique_ptr<Request> request, const EventList& events);
  ~ObservedRequest() override;
  void wait() override;
  [[nodiscard]] bool done() override;

 private:
  void complete();

  std::string_view call_;
  std::unique_ptr<Request> request_;
  const EventList& events_;
  std::int64_t begin_ns_;
  std::uint64_t parent_;
  bool complete_ = false;
};

}  // namespace d5::detail
