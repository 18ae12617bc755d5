// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/communicator/observed_request.hpp"

#include <string>
#include <vector>

#include "d5/core/trace.hpp"
#include "d5/level3_distributed/communication_event.hpp"

namespace d5::detail {

ObservedRequest::ObservedRequest(std::string_view call, std::unique_ptr<Request> request,
                                 const EventList& events)
    : call_(call),
      request_(std::move(request)),
      events_(events),
      begin_ns_(Trace::now_ns()),
      parent_(Trace::current()) {}

ObservedRequest::~ObservedRequest() {
  request_.reset();  // waits
  complete();
}

void ObservedRequest::wait() {
  const Span span("communication", "wait");
  std::vector<CommunicationEvent*> listeners;
  events_.collect(listeners);
  for (auto* listener : listeners) listener->before_wait(call_);
  request_->wait();
  for (auto* listener : listeners) listener->after_wait(call_);
  complete();
}

bool ObservedRequest::done() {
  if (!request_->done()) return false;
  complete();
  return true;
}

void ObservedRequest::complete() {
  if (complete_ || !Trace::on()) return;
  complete_ = true;
  Trace::add({.kind = TraceRecord::Kind::overlapping,
              .parent = parent_,
              .begin_ns = begin_ns_,
              .end_ns = Trace::now_ns(),
              .level = "communication",
              .name = std::string(call_)});
}

}  // namespace d5::detail
