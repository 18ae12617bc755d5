// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/decorators/call_watch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/core/numbers/duration.hpp"
#include "d5/level3_distributed/decorators/training_step.hpp"
#include "level3_distributed/decorators/joint_end.hpp"
#include "level3_distributed/decorators/kept_until_exit.hpp"

namespace d5::detail {
namespace {

using namespace std::chrono_literals;
constexpr auto kLongestPause = 100ms;  // between two polls of one wait
constexpr auto kFirstNotice = 500ms;
constexpr auto kBetweenListening = 5ms;
constexpr std::int64_t kNoticeNumbers = 3;  // kind, number, peer
constexpr int kUnusedTag = 1;
constexpr std::int64_t kFailed = -1;  // instead of a kind

}  // namespace

/// The messages from one rank. After the first use a receive is always posted.
struct CallWatch::Ear {
  std::shared_ptr<Communicator> from;  // kept alive for the receive
  int rank = 0, tag = 0;
  Tensor notice = Tensor::zeros(DType::int64, {kNoticeNumbers});
  std::unique_ptr<Request> request = {};
  bool heard = false;
  std::int64_t failed_after = -1;  // number of failures forgotten at its last failure
  int first_failed = -1;           // the rank that failed first
  WatchedCall call = {};

  void listen() {
    if (!request) request = from->start_receive(notice, rank, tag);
    while (request->done()) {
      const auto numbers = notice.span<std::int64_t>();
      if (numbers[0] == kFailed) {
        failed_after = numbers[1];
        first_failed = static_cast<int>(numbers[2]);
      }
      call = {static_cast<CallKind>(numbers[0]), numbers[1], static_cast<int>(numbers[2])};
      heard = true;
      request = from->start_receive(notice, rank, tag);
    }
  }
};

CallWatch::CallWatch(Communicator& group, std::shared_ptr<Communicator> notices,
                     const CallTimeoutOptions& options, std::shared_ptr<CallWatch> all)
    : group_(group),
      notices_(std::move(notices)),
      options_(options),
      all_(std::move(all)),
      end_(all_ ? nullptr : std::make_unique<JointEnd>(notices_)) {
  progressed();
}

CallWatch::~CallWatch() {
  for (auto& ear : ears_) {
    if (ear) keep_until_exit(std::move(ear));
  }
  if (unused_ear_) keep_until_exit(std::move(unused_ear_));
  for (auto& sent : told_) keep_until_exit(std::move(sent));
}

void CallWatch::progressed() {
  waited_ = 0ns;
  listening_ = false;
  last_look_ = {};
  next_report_ = options_.report_after;
}

void CallWatch::looked(const WatchedCall& call) {
  if (call.in_memory) move_transport_on();
  const auto now = std::chrono::steady_clock::now();
  const auto pause = now - std::exchange(last_look_, now);
  if (now - last_end_heard_ >= kBetweenListening) {
    last_end_heard_ = now;
    joint_end().hear();
  }
  if (pause > kLongestPause) return;  // this rank computed, or was stopped
  waited_ += pause;
  const Time period = options_.timeout.count() > 0 ? options_.timeout : next_report_;
  if (!listening_ && waited_ >= std::min<Time>(kFirstNotice, period / 4)) {
    begin_listening();
    tell(call);
    next_notice_ = waited_ + period / 4;
  } else if (listening_ && waited_ >= next_notice_) {
    tell(call);
    next_notice_ += period / 4;
  }
  if (listening_ && waited_ - last_listened_ >= kBetweenListening) listen();
  expect_all_well(call);
  if (waited_ < period) return;
  listen();
  if (options_.timeout.count() > 0) {
    const std::string after = duration_words(options_.timeout);
    progressed();
    throw CommunicationError(line(call, fmt::format("{} are over", after)));
  }
  report(call);
}

/// Polls the transport, because a library progresses its messages only during polls and other ranks
/// may wait for them. Skipped in short waits.
void CallWatch::move_transport_on() {
  constexpr int kBetween = 16;
  if (++looks_in_memory_ % kBetween != 0) return;
  if (!unused_ear_) {
    const int other = notices_->rank() == 0 ? 1 : 0;
    unused_ear_ = std::make_shared<Ear>(Ear{.from = notices_, .rank = other, .tag = kUnusedTag});
  }
  unused_ear_->listen();
}

/// Discards messages about earlier waits, and posts receives.
void CallWatch::begin_listening() {
  listening_ = true;
  listen();
  for (auto& ear : ears_) {
    if (ear) ear->heard = false;
  }
}

void CallWatch::listen() {
  last_listened_ = waited_;
  ears_.resize(static_cast<std::size_t>(group_.size()));
  for (int rank = 0; rank < group_.size(); ++rank) {
    auto& ear = ears_[static_cast<std::size_t>(rank)];
    if (rank == group_.rank()) continue;
    if (!ear) ear = std::make_shared<Ear>(Ear{.from = notices_, .rank = rank});
    ear->listen();
  }
  if (all_) all_->listen();
}

void CallWatch::expect_all_well(const WatchedCall& call) {
  const auto rank = failed();
  if (!rank) return;
  throw CommunicationError(fmt::format(
      "rank {}: in {}, of {}: rank {} failed and will not come; its own message says why",
      group_.outermost_rank(group_.rank()), place_of(call), group_.name(), *rank));
}

std::optional<int> CallWatch::failed() {
  for (const auto& ear : ears_) {
    if (!ear || ear->failed_after != failures_forgotten_) continue;
    first_failed_ = ear->first_failed;
    return group_.outermost_rank(first_failed_);
  }
  return all_ ? all_->failed() : std::nullopt;
}

void CallWatch::tell(const WatchedCall& call) {
  send(
      Tensor::vector<std::int64_t>({static_cast<std::int64_t>(call.kind), call.number, call.peer}));
}

void CallWatch::tell_failure() {
  const int first = first_failed_ < 0 ? group_.rank() : first_failed_;
  send(Tensor::vector<std::int64_t>({kFailed, failures_forgotten_, first}));
}

void CallWatch::send(const Tensor& notice) {
  std::erase_if(told_, [](const auto& sent) { return sent->done(); });
  for (int rank = 0; rank < group_.size(); ++rank) {
    if (rank != group_.rank()) told_.push_back(notices_->start_send(notice, rank));
  }
}

void CallWatch::report(const WatchedCall& call) {
  const std::string words = line(call, fmt::format("waiting for {}", duration_words(next_report_)));
  if (options_.say) {
    options_.say(words);
  } else {
    std::fprintf(stderr, "%s\n", words.c_str());
  }
  next_report_ *= 2;
  next_notice_ = waited_ + next_report_ / 4;
  for (auto& ear : ears_) {
    if (ear) ear->heard = false;
  }
}

std::string CallWatch::line(const WatchedCall& call, const std::string& words) const {
  std::string text =
      fmt::format("rank {}: {} in {} of {} x {}, of {}", group_.outermost_rank(group_.rank()),
                  words, place_of(call), call.data.defined() ? call.data.elements() : 0,
                  name_of(call.data.dtype()), group_.name());
  if (training_step() > 0) text += fmt::format(", at training step {}", training_step());
  return text + "; " + whereabouts();
}

std::string CallWatch::place_of(const WatchedCall& call) const {
  std::string text(name_of(call.kind));
  if (call.number > 0) return text + fmt::format(" number {}", call.number);
  if (call.peer == kAnyRank) return text + " from any rank";
  return text + fmt::format(" {} rank {}", call.kind == CallKind::send ? "to" : "from",
                            group_.outermost_rank(call.peer));
}

std::string CallWatch::whereabouts() const {
  std::vector<int> absent;
  std::string others;
  for (const auto& ear : ears_) {
    if (!ear) continue;
    const int rank = group_.outermost_rank(ear->rank);
    if (!ear->heard) {
      absent.push_back(rank);
    } else {
      others += fmt::format("; rank {} waits in {}", rank, place_of(ear->call));
    }
  }
  if (absent.empty()) return "all ranks wait" + others;
  return fmt::format("not there: rank {}", fmt::join(absent, ", ")) + others;
}

}  // namespace d5::detail
