// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/decorators/call_order.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "level3_distributed/decorators/kept_until_exit.hpp"

namespace d5 {
namespace {

/// The properties of a call that ranks must agree on, as numbers for a message.
struct Signature {
  std::int64_t kind = 0, type = 0, elements = 0, root = kAnyRank, reduction = 0, counts = 0;
};
constexpr int kEnd = -2;  // in place of a root: no call follows
constexpr std::int64_t kNumbers = sizeof(Signature) / sizeof(std::int64_t);

std::int64_t digest(const RankCounts& counts) {
  std::uint64_t sum = counts.size();
  for (const std::int64_t count : counts) {
    sum = (sum ^ static_cast<std::uint64_t>(count)) * 0x9E3779B97F4A7C15u;
  }
  return static_cast<std::int64_t>(sum);
}

Signature signature_of(const CommunicationCall& call) {
  Signature s{.kind = static_cast<std::int64_t>(call.kind), .root = call.peer};
  const Tensor& data = call.output.defined() ? call.output : call.input;
  if (data.defined()) s.type = static_cast<std::int64_t>(data.dtype());
  switch (call.kind) {
    case CallKind::all_reduce:
      s.reduction = static_cast<std::int64_t>(call.reduction);
      s.elements = call.output.elements();
      break;
    case CallKind::reduce_scatter:
      s.reduction = static_cast<std::int64_t>(call.reduction);
      s.elements = call.input.elements();
      s.counts = digest(call.input_counts);
      break;
    case CallKind::broadcast:
      s.elements = call.output.elements();
      break;
    case CallKind::all_gather:
      s.elements = call.output.elements();
      s.counts = digest(call.output_counts);
      break;
    default:  // this rank does not know the others' parts
      break;
  }
  return s;
}

std::string to_string(const Signature& s) {
  const auto kind = static_cast<CallKind>(s.kind);
  if (kind == CallKind::split && s.root == kEnd) return "no further call";
  std::string text(name_of(kind));
  if (s.elements > 0) text += fmt::format(" of {}", s.elements);
  if (s.type != 0) text += fmt::format(" x {}", name_of(static_cast<DType>(s.type)));
  if (s.root != kAnyRank) text += fmt::format(", root {}", s.root);
  if (kind == CallKind::all_reduce || kind == CallKind::reduce_scatter) {
    constexpr std::array kNames = {"sum", "maximum", "minimum"};
    text += fmt::format(", {}", kNames[static_cast<std::size_t>(s.reduction)]);
  }
  if (s.counts != 0) text += fmt::format(", counts {:x}", static_cast<std::uint64_t>(s.counts));
  return text;
}

}  // namespace

struct CallOrder::Compared {
  std::shared_ptr<Communicator> signatures;  // kept alive for the exchange
  CommunicationCall call;
  std::int64_t number = 0;
  Tensor mine, all;
  std::unique_ptr<Request> exchange, real;  // real: after the comparison
  std::unique_ptr<Request> begun;           // the call, if it began before
};

class CallOrder::ComparedRequest final : public Request {
 public:
  ComparedRequest(CallOrder& owner, std::shared_ptr<Compared> call)
      : owner_(owner), call_(std::move(call)) {}
  ~ComparedRequest() override {
    // The other ranks may never make a call that differs.
    if (call_->begun && (owner_.broken_ || std::uncaught_exceptions() > exceptions_)) {
      detail::keep_until_exit(std::move(call_->begun));
    }
    if (call_->real || owner_.broken_ || std::uncaught_exceptions() > exceptions_) return;
    try {
      wait();
    } catch (const Error&) {  // later calls throw it too
    }
  }

  void wait() override {
    while (!call_->real && !owner_.broken_) owner_.begin_next();
    rethrow();
    call_->real->wait();
  }
  bool done() override {
    owner_.begin_known();
    rethrow();
    return call_->real && call_->real->done();
  }
  Times times() const override { return call_->real ? call_->real->times() : Times{}; }
  std::optional<UsedResources> used() const override {
    const auto& request = call_->real ? call_->real : call_->begun;
    return request ? request->used() : std::nullopt;
  }

 private:
  void rethrow() const {
    if (!call_->real && owner_.broken_) std::rethrow_exception(owner_.broken_);
  }

  CallOrder& owner_;
  std::shared_ptr<Compared> call_;
  int exceptions_ = std::uncaught_exceptions();
};

CallOrder::CallOrder(std::shared_ptr<Communicator> inner)
    : CommunicatorDecorator(std::move(inner)), signatures_(own_group()) {}
CallOrder::~CallOrder() = default;

std::shared_ptr<Communicator> CallOrder::decorate(std::shared_ptr<Communicator> group) {
  return std::make_shared<CallOrder>(std::move(group));
}

std::unique_ptr<Request> CallOrder::do_start(const CommunicationCall& call) {
  if (!is_collective(call.kind) || size() == 1) return start_inner(call);
  return std::make_unique<ComparedRequest>(*this, compare(call));
}

void CallOrder::compare_now(const CommunicationCall& call) {
  if (size() == 1) return;
  const auto compared = compare(call);
  while (!waiting_.empty() && !broken_) begin_next();
  if (broken_) std::rethrow_exception(broken_);
}

void CallOrder::end() { compare_now({.kind = CallKind::split, .peer = kEnd}); }

std::shared_ptr<Communicator> CallOrder::do_split(int color, int order) {
  compare_now({.kind = CallKind::split});
  return CommunicatorDecorator::do_split(color, order);
}

std::unique_ptr<Request> CallOrder::watch(const CommunicationCall& call,
                                          std::unique_ptr<Request> request) {
  if (!is_collective(call.kind) || size() == 1) return request;
  return std::make_unique<ComparedRequest>(*this, compare(call, std::move(request)));
}

std::shared_ptr<CallOrder::Compared> CallOrder::compare(const CommunicationCall& call,
                                                        std::unique_ptr<Request> begun) {
  if (broken_) std::rethrow_exception(broken_);
  auto compared = std::make_shared<Compared>();
  compared->signatures = signatures_;
  compared->call = call;
  compared->begun = std::move(begun);
  compared->number = ++calls_;
  const auto numbers = std::bit_cast<std::array<std::int64_t, kNumbers>>(signature_of(call));
  compared->mine = Tensor::of<std::int64_t>({kNumbers}, numbers);
  compared->all = Tensor::empty(DType::int64, {size(), kNumbers});
  compared->exchange = signatures_->start_all_gather(compared->mine, compared->all);
  waiting_.push_back(compared);
  begin_known();
  return compared;
}

/// Waits for the next comparison and begins its call.
void CallOrder::begin_next() {
  waiting_.front()->exchange->wait();
  begin_known();
}

void CallOrder::begin_known() {
  while (!broken_ && !waiting_.empty() && waiting_.front()->exchange->done()) {
    const auto next = waiting_.front();
    try {
      expect_alike(*next);
    } catch (const CommunicationError&) {
      broken_ = std::current_exception();
      // Other ranks may have failed before making the later calls.
      for (auto& unanswered : waiting_) detail::keep_until_exit(std::move(unanswered));
      waiting_.clear();
      return;
    }
    waiting_.pop_front();
    if (next->begun) {
      next->real = std::move(next->begun);
    } else if (next->call.kind != CallKind::split) {
      next->real = start_inner(next->call);
    }
  }
}

void CallOrder::expect_alike(const Compared& call) const {
  std::map<std::string, std::vector<int>> ranks_by_call;
  const auto numbers = call.all.span<std::int64_t>();
  for (int r = 0; r < size(); ++r) {
    std::array<std::int64_t, kNumbers> of_rank{};
    std::copy_n(numbers.begin() + r * kNumbers, kNumbers, of_rank.begin());
    ranks_by_call[to_string(std::bit_cast<Signature>(of_rank))].push_back(outermost_rank(r));
  }
  if (ranks_by_call.size() == 1) return;
  std::string calls;
  for (const auto& [text, ranks] : ranks_by_call) {
    calls +=
        fmt::format("{}{} at rank {}", calls.empty() ? "" : "; ", text, fmt::join(ranks, ", "));
  }
  throw CommunicationError(
      fmt::format("rank {}: collective number {} of {} differs between the ranks: {}; all ranks of "
                  "a group must make the same calls in the same order",
                  outermost_rank(rank()), call.number, name(), calls));
}

}  // namespace d5
