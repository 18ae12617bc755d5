// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/communicator/communicator.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/core/trace/trace.hpp"
#include "d5/level3_distributed/communicator/communication_event.hpp"
#include "level2_training/optimization/shared/on_host.hpp"
#include "level3_distributed/communicator/checked_call.hpp"
#include "level3_distributed/communicator/patience.hpp"
#include "level3_distributed/communicator/reduce_elements.hpp"
#include "level3_distributed/communicator/schedules_under_way.hpp"

namespace d5 {

bool Request::wait_until(std::chrono::steady_clock::time_point deadline) {
  for (detail::Patience patience; !done(); patience.pause()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
  }
  return true;
}

/// Notifies observers of one call; empty without observers.
class Communicator::Observation {
 public:
  Observation(const Communicator& communicator, const CommunicationCall& call)
      : listeners_(communicator.listeners()) {
    if (listeners_.empty()) return;
    static std::atomic<std::uint64_t> calls = 0;
    info_ = {.id = ++calls,
             .call = name_of(call.kind),
             .group = communicator.name(),
             .rank = communicator.outermost_rank(communicator.rank()),
             .peer = call.peer < 0 ? -1 : communicator.outermost_rank(call.peer),
             .bytes_sent = call.bytes_sent,
             .bytes_received = call.bytes_received,
             .asked_ns = Trace::now_ns()};
    info_.begun_ns = info_.asked_ns;
    if (!call.options) return;
    info_.label = call.options->label;  // kept alive by the request
    info_.priority = call.options->priority;
  }

  using Hook = void (CommunicationEvent::*)(const CommunicationInfo&);
  void tell(Hook hook) const {
    if (listeners_.empty()) return;
    static std::recursive_mutex one_at_a_time;  // schedules may call on another thread
    const std::lock_guard lock(one_at_a_time);
    for (const auto& listener : listeners_) (listener.get()->*hook)(info_);
  }
  void complete(Request::Times times = {}, const UsedResources* used = nullptr) {
    if (listeners_.empty()) return;
    info_.used = used;
    if (times.begun_ns != 0) info_.begun_ns = times.begun_ns;
    info_.ended_ns = times.ended_ns != 0 ? times.ended_ns : Trace::now_ns();
    tell(&CommunicationEvent::complete);
  }
  void received(std::int64_t bytes) { info_.bytes_received = bytes; }
  [[nodiscard]] bool silent() const { return listeners_.empty(); }

 private:
  // A call may outlive an observer's place in the list.
  std::vector<std::shared_ptr<CommunicationEvent>> listeners_;
  CommunicationInfo info_;
};

/// A request with observed waits. The trace shows it as an overlapping span, from its start until
/// this rank learns that it is complete, and a span for each wait. Its bytes are counted when they
/// are known.
class Communicator::ObservedRequest final : public Request {
 public:
  /// Made inside the span of the call that started it. The communicator outlives it.
  ObservedRequest(Communicator& communicator, const CommunicationCall& call, Observation told,
                  std::unique_ptr<Request> request)
      : communicator_(communicator),
        call_{.kind = call.kind,
              .peer = call.peer,
              .received = call.received,
              .number = call.number,
              .bytes_sent = call.bytes_sent,
              .bytes_received = call.bytes_received,
              .options = call.options},
        element_bytes_(call.received ? static_cast<std::int64_t>(size_of(call.output.dtype())) : 0),
        told_(std::move(told)),
        request_(std::move(request)),
        begin_ns_(Trace::now_ns()),
        parent_(Trace::current()) {}
  ~ObservedRequest() override {
    if (complete_) return;
    times_ = request_->times();
    if (call_.options) used_ = used();
    request_.reset();  // waits, unless an exception unwinds
    if (std::uncaught_exceptions() == 0) complete();
  }

  void wait() override {
    Span span("communication", "wait");
    communicator_.describe(span, call_);
    told_.tell(&CommunicationEvent::before_wait);
    request_->wait();
    complete();
    told_.tell(&CommunicationEvent::after_wait);
  }

  bool done() override {
    if (!complete_ && !request_->done()) return false;
    complete();
    return true;
  }

  Times times() const override { return request_ ? request_->times() : times_; }
  std::optional<UsedResources> used() const override {
    if (!call_.options || used_) return used_;
    auto used = request_->used();
    if (used) return used;
    return ignore_all(call_.options->resources,
                      fmt::format("this {} is the transport's own", name_of(call_.kind)));
  }

 private:
  void complete() {
    if (std::exchange(complete_, true)) return;
    if (call_.received) {
      const std::int64_t bytes = call_.received->elements * element_bytes_;
      communicator_.add_bytes(call_.kind, 0, bytes);
      told_.received(bytes);
    }
    if (call_.options) used_ = used();
    told_.complete(times(), used_ ? &*used_ : nullptr);
    if (!Trace::on()) return;
    Trace::add({.kind = TraceRecord::Kind::overlapping,
                .parent = parent_,
                .begin_ns = begin_ns_,
                .end_ns = Trace::now_ns(),
                .level = "communication",
                .name = std::string(name_of(call_.kind))});
  }

  Communicator& communicator_;
  CommunicationCall call_;  // without its tensors
  std::int64_t element_bytes_;
  Observation told_;
  std::unique_ptr<Request> request_;
  std::optional<UsedResources> used_;
  Times times_;
  std::int64_t begin_ns_;
  std::uint64_t parent_;
  bool complete_ = false;
};

void Communicator::describe(Span& span, const CommunicationCall& call) const {
  if (!Trace::on()) [[likely]]
    return;
  span.argument("bytes_sent", call.bytes_sent);
  span.argument("bytes_received", call.bytes_received);
  span.argument("group", name_);
  if (call.number >= 0) span.argument("number", call.number);
  if (call.peer >= 0) span.argument("peer", outermost_rank(call.peer));
}

Communicator::OptionsInForce::OptionsInForce(const Communicator& ranks,
                                             std::shared_ptr<const CallOptions> options)
    : ranks_(ranks), options_(std::move(options)), before_(std::exchange(newest(), this)) {}

Communicator::OptionsInForce::~OptionsInForce() {
  OptionsInForce** place = &newest();  // strands of a simulation may end in any order
  while (*place != this) place = &(*place)->before_;
  *place = before_;
}

std::shared_ptr<const CallOptions> Communicator::OptionsInForce::of(const Communicator& ranks) {
  for (const OptionsInForce* one = newest(); one; one = one->before_) {
    if (&one->ranks_ == &ranks) return one->options_;
  }
  return nullptr;
}

Communicator::OptionsInForce*& Communicator::OptionsInForce::newest() {
  thread_local OptionsInForce* newest = nullptr;
  return newest;
}

std::shared_ptr<const CallOptions> Communicator::options() const {
  return OptionsInForce::of(*this);
}

void Communicator::run(CommunicationCall call) {
  // The received bytes are known, and counted, at completion.
  if (call.received) return start(std::move(call))->wait();
  detail::check_call(call, rank(), size());
  count(call);
  Span span("communication", name_of(call.kind));
  describe(span, call);
  Observation told(*this, call);
  told.tell(&CommunicationEvent::before_call);
  do_run(call);
  told.complete();
  told.tell(&CommunicationEvent::after_call);
}

std::unique_ptr<Request> Communicator::start(CommunicationCall call) {
  call.options = options();
  detail::check_call(call, rank(), size());
  count(call);
  Span span("communication", name_of(call.kind));
  describe(span, call);
  Observation told(*this, call);
  told.tell(&CommunicationEvent::before_call);
  auto request = do_start(call);
  told.tell(&CommunicationEvent::after_call);
  if (told.silent() && !call.received && !call.options && !Trace::on()) [[likely]]
    return request;
  return std::make_unique<ObservedRequest>(*this, call, std::move(told), std::move(request));
}

std::unique_ptr<Request> Communicator::observe_schedule(
    const std::function<std::unique_ptr<Request>()>& start) {
  const CommunicationCall call{.kind = CallKind::schedule, .options = options()};
  Observation told(*this, call);
  if (told.silent() && !call.options) [[likely]]
    return start();
  told.tell(&CommunicationEvent::before_call);
  auto request = start();
  told.tell(&CommunicationEvent::after_call);
  return std::make_unique<ObservedRequest>(*this, call, std::move(told), std::move(request));
}

void Communicator::count(CommunicationCall& call) {
  if (is_collective(call.kind)) {
    const std::lock_guard lock(counting_);
    call.number = collectives_++;
  }
  note_traffic(name_of(call.kind), call.bytes_sent, call.bytes_received);
}

void Communicator::note_traffic(std::string_view what, std::int64_t bytes_sent,
                                std::int64_t bytes_received) {
  for (Communicator* at = this; at; at = at->parent_.get()) {
    const std::lock_guard lock(at->counting_);
    at->traffic_.add(what, bytes_sent, bytes_received);
  }
}

void Communicator::add_bytes(CallKind kind, std::int64_t sent, std::int64_t received) {
  for (Communicator* at = this; at; at = at->parent_.get()) {
    const std::lock_guard lock(at->counting_);
    at->traffic_.add_bytes(name_of(kind), sent, received);
  }
}

std::vector<std::shared_ptr<CommunicationEvent>> Communicator::listeners() const {
  std::vector<std::shared_ptr<CommunicationEvent>> all;
  for (const Communicator* at = this; at; at = at->parent_.get()) {
    for (const auto& event : at->events_.all()) {
      if (auto listener = std::dynamic_pointer_cast<CommunicationEvent>(event)) {
        all.push_back(std::move(listener));
      }
    }
  }
  return all;
}

detail::SchedulesUnderWay& Communicator::schedules() {
  if (parent_) return parent_->schedules();
  if (!schedules_) schedules_ = std::make_shared<detail::SchedulesUnderWay>();
  return *schedules_;
}

int Communicator::own_tag() {
  return kFirstOwnTag + own_tags_++ % (kLargestTag - kFirstOwnTag + 1);
}

Tensor Communicator::scratch(const TensorDesc& desc, const Tensor&) { return Tensor::empty(desc); }

void Communicator::copy_local(Tensor& into, const Tensor& from) { into.copy_from(from); }

void Communicator::reduce_local(Tensor& into, const Tensor& other, Reduction reduction) {
  detail::reduce_elements(into, other, reduction);
}

void Communicator::scale_local(Tensor& data, double factor) { detail::scale(data, factor); }

}  // namespace d5
