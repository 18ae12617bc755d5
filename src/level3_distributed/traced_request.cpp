// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/traced_request.hpp"

#include "d5/core/trace.hpp"

namespace d5::detail {

TracedRequest::TracedRequest(std::string_view call, std::unique_ptr<Request> request)
    : call_(call),
      request_(std::move(request)),
      begin_ns_(Trace::now_ns()),
      parent_(Trace::current()) {}

TracedRequest::~TracedRequest() {
  request_.reset();  // waits
  complete();
}

void TracedRequest::wait() {
  const Span span("communication", "wait");
  request_->wait();
  complete();
}

bool TracedRequest::done() {
  if (!request_->done()) return false;
  complete();
  return true;
}

void TracedRequest::complete() {
  if (complete_) return;
  complete_ = true;
  Trace::add({.kind = TraceRecord::Kind::overlapping,
              .parent = parent_,
              .begin_ns = begin_ns_,
              .end_ns = Trace::now_ns(),
              .level = "communication",
              .name = std::string(call_)});
}

}  // namespace d5::detail
