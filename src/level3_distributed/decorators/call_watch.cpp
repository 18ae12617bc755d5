// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/decorators/call_watch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "d5/core/duration.hpp"
#include "d5/core/error.hpp"
#include "d5/level3_distributed/training_step.hpp"
#include "level3_distributed/decorators/kept_until_exit.hpp"

namespace d5::detail {
namespace {

using namespace std::chrono_literals;
constexpr auto kLongestPause = 100ms;  // between two looks of one wait
constexpr auto kFirstNotice = 500ms;
constexpr auto kBetweenListening = 5ms;
constexpr std::int64_t kNoticeNumbers = 3;  // kind, number, peer

}  // namespace

/// What one rank tells. A receive is under way all the time once somebody listened.
struct CallWatch::Ear {
  std::shared_ptr<Communicator> from;  // lives as long as the receive
  int rank = 0;
  Tensor notice = Tensor::zeros(DType::int64, {kNoticeNumbers});
  std::unique_ptr<Request> request = {};
  bool heard = false;
  WatchedCall call = {};

  void listen() {
    if (!request) request = from->start_receive(notice, rank);
    while (request->done()) {
      const auto numbers = notice.span<std::int64_t>();
      call = {static_cast<CallKind>(numbers[0]), numbers[1], static_cast<int>(numbers[2])};
      heard = true;
      request = from->start_receive(notice, rank);
    }
  }
};

CallWatch::CallWatch(Communicator& group, std::shared_ptr<Communicator> notices,
                     const CallTimeoutOptions& options)
    : group_(group), notices_(std::move(notices)), options_(options) {
  progressed();
}

CallWatch::~CallWatch() {
  for (auto& ear : ears_) {
    if (ear) keep_until_exit(std::move(ear));
  }
  for (auto& sent : told_) keep_until_exit(std::move(sent));
}

void CallWatch::progressed() {
  waited_ = 0ns;
  listening_ = false;
  last_look_ = {};
  next_report_ = options_.report_after;
}

void CallWatch::looked(const WatchedCall& call) {
  const auto now = std::chrono::steady_clock::now();
  const auto pause = now - std::exchange(last_look_, now);
  if (pause > kLongestPause) return;  // it computed, or was stopped itself
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
  if (waited_ < period) return;
  listen();
  if (options_.timeout.count() > 0) {
    const std::string after = duration_words(options_.timeout);
    progressed();
    throw CommunicationError(line(call, fmt::format("{} are over", after)));
  }
  report(call);
}

/// What was told before is of older waits.
void CallWatch::begin_listening() {
  listening_ = true;
  ears_.resize(static_cast<std::size_t>(group_.size()));
  for (int rank = 0; rank < group_.size(); ++rank) {
    auto& ear = ears_[static_cast<std::size_t>(rank)];
    if (!ear && rank != group_.rank()) {
      ear = std::make_shared<Ear>(Ear{.from = notices_, .rank = rank});
    }
  }
  listen();
  for (auto& ear : ears_) {
    if (ear) ear->heard = false;
  }
}

void CallWatch::listen() {
  last_listened_ = waited_;
  for (auto& ear : ears_) {
    if (ear) ear->listen();
  }
}

void CallWatch::tell(const WatchedCall& call) {
  std::erase_if(told_, [](const auto& sent) { return sent->done(); });
  const Tensor notice =
      Tensor::vector<std::int64_t>({static_cast<std::int64_t>(call.kind), call.number, call.peer});
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
