// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/decorators/call_timeout.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstring>
#include <exception>
#include <memory>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/communicator/communication_call.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "level3_distributed/communicator/patience.hpp"
#include "level3_distributed/decorators/call_watch.hpp"
#include "level3_distributed/decorators/joint_end.hpp"
#include "level3_distributed/decorators/kept_until_exit.hpp"
#include "level3_distributed/node/node_exchange.hpp"

namespace d5::detail {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 10;
constexpr NodeExchangeOptions kRoom{.chunk_bytes = std::int64_t{16} << 10, .stages = 4};

Tensor bytes_of(const Tensor& tensor) {
  return Tensor::borrow({DType::uint8, {static_cast<std::int64_t>(tensor.bytes())}},
                        const_cast<void*>(tensor.raw()), tensor.owner());
}

}  // namespace

/// Short collectives of the ranks of one node through shared memory, one at a time.
class NodeCalls {
 public:
  /// Null if the ranks are not on one node, or its memory is full. A collective.
  [[nodiscard]] static std::unique_ptr<NodeCalls> make(std::shared_ptr<Communicator> ranks);

  /// Null for other kinds of calls and for long ones.
  [[nodiscard]] std::unique_ptr<Request> start(const CommunicationCall& call);

 private:
  NodeCalls(std::shared_ptr<Communicator> ranks, std::unique_ptr<NodeExchange> exchange);
  [[nodiscard]] std::unique_ptr<Request> start_all_gather(const CommunicationCall& call);

  std::shared_ptr<Communicator> ranks_;  // unobserved
  std::unique_ptr<NodeExchange> exchange_;
  Tensor token_;
};

NodeCalls::NodeCalls(std::shared_ptr<Communicator> ranks, std::unique_ptr<NodeExchange> exchange)
    : ranks_(std::move(ranks)),
      exchange_(std::move(exchange)),
      token_(Tensor::zeros(DType::uint8, {1})) {}

std::unique_ptr<NodeCalls> NodeCalls::make(std::shared_ptr<Communicator> ranks) {
  try {  // refusals are the same on all ranks
    auto exchange = std::make_unique<NodeExchange>(*ranks, kRoom);
    return std::unique_ptr<NodeCalls>(new NodeCalls(std::move(ranks), std::move(exchange)));
  } catch (const Unsupported&) {
  } catch (const MemoryError&) {
  } catch (const IoError&) {
  }
  return nullptr;
}

std::unique_ptr<Request> NodeCalls::start(const CommunicationCall& call) {
  if (call.output.defined() && call.output.bytes() > kMostBytes) return nullptr;
  switch (call.kind) {
    case CallKind::all_reduce:
      return exchange_->start_all_reduce(call.output, call.reduction);
    case CallKind::broadcast:
      return exchange_->start_broadcast(call.output, call.peer,
                                        std::make_shared<std::atomic<bool>>(true));
    case CallKind::all_gather:
      return call.output_counts.empty() ? start_all_gather(call) : nullptr;
    case CallKind::barrier:
      return exchange_->start_all_reduce(token_, Reduction::maximum);
    default:
      return nullptr;
  }
}

/// An all-gather as a sum of vectors that are zero outside the rank's own part.
std::unique_ptr<Request> NodeCalls::start_all_gather(const CommunicationCall& call) {
  Tensor all = bytes_of(call.output);
  auto* bytes = all.data<std::uint8_t>();
  const std::size_t size = call.input.bytes();
  const std::size_t begin = size * static_cast<std::size_t>(ranks_->rank());
  if (size > 0) std::memmove(bytes + begin, call.input.raw(), size);
  std::memset(bytes, 0, begin);
  std::memset(bytes + begin + size, 0, all.bytes() - begin - size);
  return exchange_->start_all_reduce(all, Reduction::sum);
}

}  // namespace d5::detail

namespace d5 {

class CallTimeout::Watch final : public detail::CallWatch {
 public:
  using CallWatch::CallWatch;
};

class CallTimeout::WatchedRequest final : public Request {
 public:
  WatchedRequest(CallTimeout& owner, const detail::WatchedCall& call,
                 std::unique_ptr<Request> request)
      : owner_(owner), call_(call), request_(std::move(request)) {}
  ~WatchedRequest() override {
    if (!complete_ && !timed_out_ && std::uncaught_exceptions() == exceptions_) end_wait();
    // Unwinding would free memory that may still be written to.
    if (!complete_) detail::keep_until_exit(std::move(request_));
  }

  void wait() override {
    detail::Patience patience =
        call_.in_memory ? detail::Patience(detail::Patience::kOfWork) : detail::Patience();
    while (!done()) patience.pause();
  }

  bool done() override {
    if (complete_) return true;
    complete_ = request_->done();
    if (complete_) {
      request_->wait();  // already complete: runs its completion
      owner_.watch_->progressed();
      return true;
    }
    try {
      owner_.watch_->looked(call_);
    } catch (const CommunicationError&) {
      timed_out_ = true;
      throw;
    }
    return false;
  }

  Times times() const override { return request_->times(); }
  std::optional<UsedResources> used() const override { return request_->used(); }

 private:
  /// Ends the wait in a destructor, which must not throw.
  void end_wait() {
    try {
      wait();
    } catch (const std::exception& error) {
      if (timed_out_) owner_.abort(error.what());
    }
  }

  CallTimeout& owner_;
  detail::WatchedCall call_;
  std::unique_ptr<Request> request_;
  int exceptions_ = std::uncaught_exceptions();
  bool complete_ = false, timed_out_ = false;
};

CallTimeout::CallTimeout(std::shared_ptr<Communicator> inner, CallTimeoutOptions options)
    : CallTimeout(std::move(inner), options, nullptr) {}

CallTimeout::CallTimeout(std::shared_ptr<Communicator> inner, const CallTimeoutOptions& options,
                         std::shared_ptr<Watch> all)
    : CommunicatorDecorator(std::move(inner)), options_(options) {
  if (options_.timeout.count() < 0 || options_.report_after.count() <= 0) {
    throw ValueError(
        fmt::format("CallTimeout: a timeout of {} ns, reports after {} ns; expected 0 "
                    "or more, and more than 0",
                    options_.timeout.count(), options_.report_after.count()));
  }
  const std::shared_ptr<Communicator> own = own_group();
  watch_ = std::make_shared<Watch>(*this, own, options_, std::move(all));
  const bool bare = dynamic_cast<CommunicatorDecorator*>(&this->inner()) == nullptr;
  if (size() > 1 && bare && shares_nodes()) node_calls_ = detail::NodeCalls::make(own);
}
CallTimeout::~CallTimeout() = default;

void CallTimeout::tell_failure() { watch_->tell_failure(); }
void CallTimeout::forget_failures() { watch_->forget_failures(); }

void CallTimeout::answer_end() { watch_->joint_end().hear(); }

bool CallTimeout::end_together(bool wishes) {
  /// A request that is done when all others have sent their next place.
  class AllTold final : public Request {
   public:
    explicit AllTold(detail::JointEnd& end) : end_(end) {}
    void wait() override {}
    bool done() override { return end_.all_told(); }

   private:
    detail::JointEnd& end_;
  };
  detail::JointEnd& end = watch_->joint_end();
  if (!end.arrive(wishes)) {
    watched({.kind = CallKind::receive}, std::make_unique<AllTold>(end))->wait();
  }
  return end.leave();
}

std::shared_ptr<Communicator> CallTimeout::decorate(std::shared_ptr<Communicator> group) {
  return std::shared_ptr<Communicator>(new CallTimeout(std::move(group), options_, watch_));
}

std::unique_ptr<Request> CallTimeout::do_start(const CommunicationCall& call) {
  return watched(call, start_inner(call));
}

void CallTimeout::do_run(const CommunicationCall& call) {
  auto request = node_calls_ ? node_calls_->start(call) : nullptr;
  if (!request) return do_start(call)->wait();
  watched(call, std::move(request), Medium::memory)->wait();
}

std::unique_ptr<Request> CallTimeout::watch(const CommunicationCall& call,
                                            std::unique_ptr<Request> request) {
  return watched(call, inner().watch(call, std::move(request)), Medium::memory);
}

std::unique_ptr<Request> CallTimeout::watched(const CommunicationCall& call,
                                              std::unique_ptr<Request> request, Medium medium) {
  const std::int64_t number = is_collective(call.kind) ? ++collectives_ : 0;
  return std::make_unique<WatchedRequest>(
      *this,
      detail::WatchedCall{.kind = call.kind,
                          .number = number,
                          .peer = call.peer,
                          .data = call.output.defined() ? call.output : call.input,
                          .in_memory = medium == Medium::memory},
      std::move(request));
}

}  // namespace d5
