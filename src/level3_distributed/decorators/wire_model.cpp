// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/decorators/wire_model.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <ctime>
#include <exception>
#include <functional>
#include <optional>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/core/trace/trace.hpp"
#include "level3_distributed/communicator/patience.hpp"

namespace d5 {
namespace {

/// Sleeps with a small timer slack: by default the kernel may wake a thread 50 us late, as much as
/// a network's latency.
void sleep_until(std::int64_t until_ns) {
  const int slack = prctl(PR_GET_TIMERSLACK);
  prctl(PR_SET_TIMERSLACK, 1);
  const std::timespec until{.tv_sec = until_ns / 1'000'000'000,
                            .tv_nsec = until_ns % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) != 0) {
  }
  prctl(PR_SET_TIMERSLACK, slack);
}

/// Waits until a time on the clock of `Trace::now_ns`. If each rank has a core it spins, as MPI
/// does, because a core that has slept for 2 ms makes the next 2 ms of work a fifth slower.
void await_arrival(std::int64_t until_ns) {
  if (Trace::now_ns() >= until_ns) return;
  if (!detail::ranks_have_cores()) return sleep_until(until_ns);
  detail::Patience patience(detail::Patience::kOfWork);
  while (Trace::now_ns() < until_ns) patience.pause();
}

/// A real call in flight, its time stamp message, and the completion time by the model.
class DelayedRequest final : public Request {
 public:
  struct Parts {
    std::unique_ptr<Request> real;
    /// Starts the receive of the stamp after the call is complete, which gives the sender.
    std::function<std::unique_ptr<Request>()> late_stamp = {};
    std::unique_ptr<Request> stamp = {};
    std::function<std::int64_t()> ready_ns;  ///< called when both are complete
  };
  explicit DelayedRequest(Parts parts) : parts_(std::move(parts)) {}
  ~DelayedRequest() override {
    if (std::uncaught_exceptions() > exceptions_ || failed_) return;
    try {
      wait();
    } catch (const Error&) {  // a wait would have thrown it
    }
  }

  void wait() override {
    failed_ = true;
    parts_.real->wait();
    stamp().wait();
    ended_ns_ = parts_.ready_ns();
    await_arrival(ended_ns_);
    failed_ = false;
  }
  bool done() override {
    if (!parts_.real->done() || !stamp().done()) return false;
    const std::int64_t ready = parts_.ready_ns();
    if (Trace::now_ns() < ready) return false;
    ended_ns_ = ready;
    return true;
  }
  /// The end is the model's completion time, however late the rank polled.
  Times times() const override { return {parts_.real->times().begun_ns, ended_ns_}; }
  std::optional<UsedResources> used() const override { return parts_.real->used(); }

 private:
  Request& stamp() {
    if (!parts_.stamp) parts_.stamp = parts_.late_stamp();
    return *parts_.stamp;
  }

  Parts parts_;
  std::int64_t ended_ns_ = 0;
  int exceptions_ = std::uncaught_exceptions();
  bool failed_ = false;
};

int rounds(int ranks) { return std::bit_width(static_cast<unsigned>(ranks - 1)); }

/// Checks the number of elements, because the model's receive accepts shorter messages to learn the
/// sender.
void expect_whole(const CommunicationCall& call, const Received& received) {
  if (call.received || received.elements == call.output.elements()) return;
  throw CommunicationError(fmt::format("{}: {} elements came from rank {}", to_string(call),
                                       received.elements, received.from));
}

}  // namespace

class WireModel::Port {
 public:
  /// Occupies the port for `busy_ns`, from now or when it is free; returns the end.
  std::int64_t occupy(std::int64_t busy_ns) {
    free_ns_ = std::max(free_ns_, Trace::now_ns()) + busy_ns;
    return free_ns_;
  }

 private:
  std::int64_t free_ns_ = 0;
};

WireModel::WireModel(std::shared_ptr<Communicator> inner, const WireOptions& options)
    : WireModel(std::move(inner), options, std::make_shared<Port>()) {}
WireModel::WireModel(std::shared_ptr<Communicator> inner, const WireOptions& options,
                     std::shared_ptr<Port> port)
    : CommunicatorDecorator(std::move(inner)),
      options_(options),
      port_(std::move(port)),
      stamps_(own_group()) {
  if (options_.latency.count() >= 0 && options_.bytes_per_second > 0) return;
  throw ValueError(
      fmt::format("WireModel: a latency of {} ns and {} B/s; expected 0 or more, and "
                  "more than 0",
                  options_.latency.count(), options_.bytes_per_second));
}
std::string WireModel::medium() const {
  return inner().medium() + ", wire modelled " + to_string(options_);
}

WireModel::~WireModel() = default;

std::shared_ptr<Communicator> WireModel::decorate(std::shared_ptr<Communicator> group) {
  return std::shared_ptr<WireModel>(new WireModel(std::move(group), options_, port_));
}

std::int64_t WireModel::bytes_ns(std::int64_t bytes) const {
  return static_cast<std::int64_t>(
      std::ceil(static_cast<double>(bytes) * 1e9 / options_.bytes_per_second));
}

std::unique_ptr<Request> WireModel::do_start(const CommunicationCall& call) {
  if (size() == 1) return start_inner(call);
  if (call.kind == CallKind::send) return start_delayed_send(call);
  if (call.kind == CallKind::receive) return start_delayed_receive(call);
  return start_delayed_collective(call);
}

std::unique_ptr<Request> WireModel::start_delayed_send(const CommunicationCall& call) {
  const std::int64_t left = port_->occupy(bytes_ns(call.bytes_sent));
  const Tensor arrival = Tensor::scalar<std::int64_t>(left + options_.latency.count());
  DelayedRequest::Parts parts;
  parts.stamp = stamps_->start_send(arrival, call.peer, call.tag);
  parts.real = start_inner(call);
  parts.ready_ns = [left] { return left; };
  return std::make_unique<DelayedRequest>(std::move(parts));
}

std::unique_ptr<Request> WireModel::start_delayed_receive(const CommunicationCall& call) {
  Tensor arrival = Tensor::scalar<std::int64_t>(0);
  DelayedRequest::Parts parts;
  parts.ready_ns = [arrival] { return arrival.item<std::int64_t>(); };
  if (call.peer != kAnyRank) {
    parts.stamp = stamps_->start_receive(arrival, call.peer, call.tag);
    parts.real = start_inner(call);
    return std::make_unique<DelayedRequest>(std::move(parts));
  }
  auto source = std::make_shared<Received>();
  CommunicationCall told = call;
  if (!told.received) told.received = source.get();
  parts.real = start_inner(told);
  parts.late_stamp = [stamps = stamps_, source, call, arrival]() mutable {
    if (!call.received) expect_whole(call, *source);
    const int from = call.received ? call.received->from : source->from;
    return stamps->start_receive(arrival, from, call.tag);
  };
  return std::make_unique<DelayedRequest>(std::move(parts));
}

/// The collective begins when the last rank's port is free, and costs as much as the largest part.
std::unique_ptr<Request> WireModel::start_delayed_collective(const CommunicationCall& call) {
  const std::int64_t busy = busy_ns(call);
  const std::int64_t begun = port_->occupy(busy) - busy;
  Tensor latest = Tensor::vector<std::int64_t>({begun, busy + latency_ns(call)});
  DelayedRequest::Parts parts;
  parts.stamp = stamps_->start_all_reduce(latest, Reduction::maximum);
  parts.real = start_inner(call);
  parts.ready_ns = [latest] {
    const auto times = latest.span<std::int64_t>();
    return times[0] + times[1];
  };
  return std::make_unique<DelayedRequest>(std::move(parts));
}

std::int64_t WireModel::busy_ns(const CommunicationCall& call) const {
  const auto data = static_cast<double>(call.output.defined() ? call.output.bytes() : 0);
  switch (call.kind) {
    case CallKind::all_reduce:
      return bytes_ns(std::int64_t(2 * (size() - 1) * data / size()));
    case CallKind::broadcast:
      return bytes_ns(std::int64_t(data));
    default:
      return bytes_ns(std::max(call.bytes_sent, call.bytes_received));
  }
}

std::int64_t WireModel::latency_ns(const CommunicationCall& call) const {
  switch (call.kind) {
    case CallKind::all_reduce:
      return 2 * (size() - 1) * options_.latency.count();
    case CallKind::broadcast:
    case CallKind::barrier:
      return rounds(size()) * options_.latency.count();
    default:
      return (size() - 1) * options_.latency.count();
  }
}

}  // namespace d5
