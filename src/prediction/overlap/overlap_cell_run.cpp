// SPDX-License-Identifier: Apache-2.0
#include "prediction/overlap/overlap_cell_run.hpp"

#include <algorithm>
#include <cmath>

#include "d5/core/trace/trace.hpp"
#include "level3_distributed/communicator/of_ranks.hpp"

namespace d5::detail {
namespace {

constexpr int kMostCalls = 256;  // concurrent calls
constexpr int kAlone = 16;       // calls in a row, timed alone
constexpr int kMostTries = 3;    // for a pair that was not covered

double in_seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

/// The mean time of the calls that ended during the kernel, from the last end before it. If none
/// did: the kernel's time plus a call's share of the time after it.
double call_beside(std::int64_t kernel_begin, std::int64_t kernel_end,
                   const std::vector<std::int64_t>& ends) {
  const auto first = std::ranges::upper_bound(ends, kernel_begin);
  const auto last = std::ranges::upper_bound(ends, kernel_end);
  const auto behind = std::max<std::ptrdiff_t>(1, ends.end() - last);
  if (first == last) {
    const std::int64_t after = std::max<std::int64_t>(0, ends.back() - kernel_end);
    return in_seconds(kernel_end - kernel_begin) + in_seconds(after) / double(behind);
  }
  const std::int64_t from = first == ends.begin() ? kernel_begin : *(first - 1);
  return in_seconds(*(last - 1) - from) / double(last - first);
}

}  // namespace

OverlapCellRun::OverlapCellRun(const OverlapKernel& kernel, const OverlapMapOptions& options,
                               const CommunicationResources& resources, std::vector<Tensor>& data,
                               Communicator& ranks)
    : kernel_(kernel),
      ranks_(ranks),
      all_reduce_(all_reduces().at(options.all_reduce.name).make(options.all_reduce.settings)),
      call_(std::make_shared<const CallOptions>(
          CallOptions{.resources = resources, .label = "beside " + kernel.name})),
      data_(data) {
  ranks_.with(nullptr, [&] { all_reduce_->prepare(ranks_); });
  settle(options.least_seconds);
}

void OverlapCellRun::warm_up() {
  compute();
  (void)time_calls();
}

PairTimes OverlapCellRun::pair() {
  for (int tries = 1;; ++tries) {
    const PairTimes times = once();
    if (times.uncovered == 0 || tries == kMostTries) return times;
    calls_ = std::min(2 * calls_, kMostCalls);
  }
}

double OverlapCellRun::slowest(double mine) { return largest_of_ranks(ranks_, mine); }

void OverlapCellRun::compute() const {
  for (int i = 0; i < repetitions_; ++i) kernel_.run();
}

double OverlapCellRun::time_kernel() {
  ranks_.barrier();
  const std::int64_t begin = Trace::now_ns();  // timed: the kernel only
  compute();
  return slowest(in_seconds(Trace::now_ns() - begin));
}

OverlapCellRun::Requests OverlapCellRun::start(int calls) {
  Requests requests;
  for (int i = 0; i < calls; ++i) {
    requests.push_back(ranks_.with(
        call_, [&] { return all_reduce_->start(ranks_, data_[next_++ % data_.size()]); }));
  }
  return requests;
}

double OverlapCellRun::time_calls() {
  ranks_.barrier();
  const std::int64_t begin = Trace::now_ns();  // timed: from the first start to the last end
  auto requests = start(kAlone);
  for (auto& request : requests) request->wait();
  const double all = in_seconds(Trace::now_ns() - begin);
  if (const auto used = requests.front()->used()) ignored_ = used->ignored;
  return slowest(all / kAlone);
}

void OverlapCellRun::settle(double least_seconds) {
  constexpr int kMostRepetitions = 1 << 16;
  compute();
  double seconds = time_kernel();
  for (; seconds < least_seconds && repetitions_ < kMostRepetitions; seconds = time_kernel()) {
    repetitions_ *= 2;
  }
  // The same length in every map of this machine, because a call without progress ends with the
  // kernel.
  const double wanted = std::ceil(repetitions_ * std::min(1.0, least_seconds / seconds));
  repetitions_ = std::max(1, static_cast<int>(wanted));
  (void)time_calls();  // one-time setup
  const double one = time_calls();
  const double needed = std::ceil(1.5 * time_kernel() / one) + 2;
  calls_ = int(std::clamp(needed, 4.0, double(kMostCalls)));
}

PairTimes OverlapCellRun::once() {
  PairTimes times;
  times.kernel_alone = time_kernel();
  times.calls_alone = time_calls();
  ranks_.barrier();
  auto requests = start(calls_);
  const std::int64_t kernel_begin = Trace::now_ns();  // timed: the kernel only
  compute();
  const std::int64_t kernel_end = Trace::now_ns();
  for (auto& request : requests) request->wait();
  std::vector<std::int64_t> ends;
  for (const auto& request : requests) {
    const std::int64_t told = request->times().ended_ns;
    ends.push_back(told != 0 ? told : Trace::now_ns());
  }
  std::ranges::sort(ends);
  times.kernel_beside = slowest(in_seconds(kernel_end - kernel_begin));
  times.calls_beside = slowest(call_beside(kernel_begin, kernel_end, ends));
  times.uncovered = slowest(ends.back() < kernel_end ? 1 : 0);
  return times;
}

}  // namespace d5::detail
