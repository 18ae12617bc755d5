// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/overlap_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <thread>

#include "d5/core/byte_count.hpp"
#include "d5/core/clock.hpp"
#include "d5/core/entry_words.hpp"
#include "d5/core/error.hpp"
#include "d5/core/threads.hpp"
#include "d5/core/trace.hpp"
#include "d5/level3_distributed/collective.hpp"
#include "level3_distributed/communicator/of_ranks.hpp"
#include "prediction/overlap/time_shares.hpp"

namespace d5 {
namespace {

constexpr int kMostCalls = 256;     // under way at once
constexpr int kDifferentData = 32;  // buffers that they take in turn
constexpr int kMostAlone = 16;      // in a row that is timed alone
constexpr int kMostTries = 3;       // of a pair that was not covered

double seconds_of(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

/// Times of one pair, of the slowest rank.
struct PairTimes {
  double kernel_alone = 0, calls_alone = 0, kernel_beside = 0, calls_beside = 0;
  double uncovered = 0;  ///< above 0: on some rank the kernel was longer
};

/// One kernel beside one all-reduce with one set of resources.
class OverlapCellRun {
 public:
  OverlapCellRun(const OverlapKernel& kernel, const OverlapMapOptions& options,
                 const CommunicationResources& resources, Communicator& ranks)
      : kernel_(kernel),
        ranks_(ranks),
        all_reduce_(all_reduces().at(options.all_reduce.name).make(options.all_reduce.settings)),
        call_(std::make_shared<const CallOptions>(
            CallOptions{.resources = resources, .label = "beside " + kernel.name})),
        data_(kDifferentData) {
    for (Tensor& one : data_) {
      one = Tensor::zeros({DType::float32, {std::max<std::int64_t>(1, options.bytes / 4)}});
    }
    ranks_.with(nullptr, [&] { all_reduce_->prepare(ranks_); });
    settle(options.least_seconds);
  }

  /// Again where the kernel was not covered, with more calls.
  PairTimes pair() {
    for (int tries = 1;; ++tries) {
      const PairTimes times = once();
      if (times.uncovered == 0 || tries == kMostTries) return times;
      calls_ = std::min(2 * calls_, kMostCalls);
    }
  }

  [[nodiscard]] const std::string& ignored() const { return ignored_; }
  [[nodiscard]] int repetitions() const { return repetitions_; }

 private:
  using Requests = std::vector<std::unique_ptr<Request>>;

  [[nodiscard]] double slowest(double mine) { return detail::largest_of_ranks(ranks_, mine); }

  void compute() const {
    for (int i = 0; i < repetitions_; ++i) kernel_.run();
  }

  double time_kernel() {
    ranks_.barrier();
    const std::int64_t begin = Trace::now_ns();  // the kernel alone is inside
    compute();
    return slowest(seconds_of(Trace::now_ns() - begin));
  }

  Requests start(int calls) {
    Requests requests;
    for (int i = 0; i < calls; ++i) {
      requests.push_back(ranks_.with(call_, [&] {
        return all_reduce_->start(ranks_, data_[std::size_t(i % kDifferentData)]);
      }));
    }
    return requests;
  }

  /// A call's share of several in a row.
  double time_calls() {
    const int calls = std::min(calls_, kMostAlone);
    ranks_.barrier();
    const std::int64_t begin = Trace::now_ns();  // from the first start to the last end
    auto requests = start(calls);
    for (auto& request : requests) request->wait();
    const double all = seconds_of(Trace::now_ns() - begin);
    if (const auto used = requests.front()->used()) ignored_ = used->ignored;
    return slowest(all / calls);
  }

  /// How often the kernel runs in a row, and how many calls cover that.
  void settle(double least_seconds) {
    compute();
    for (; repetitions_ < 1 << 16; repetitions_ *= 2) {
      if (time_kernel() >= least_seconds) break;
    }
    calls_ = 2;
    (void)time_calls();  // makes what the first call makes
    calls_ = 8;
    const double one = time_calls();
    const double needed = std::ceil(1.5 * time_kernel() / one) + 2;
    calls_ = int(std::clamp(needed, 4.0, double(kMostCalls)));
  }

  PairTimes once() {
    PairTimes times;
    times.kernel_alone = time_kernel();
    times.calls_alone = time_calls();
    ranks_.barrier();
    const std::int64_t begin = Trace::now_ns();
    auto requests = start(calls_);
    const std::int64_t kernel_begin = Trace::now_ns();  // the kernel alone is inside
    compute();
    const std::int64_t kernel_end = Trace::now_ns();
    for (auto& request : requests) request->wait();
    std::vector<std::int64_t> ends;
    for (const auto& request : requests) {
      const std::int64_t told = request->times().ended_ns;
      ends.push_back(told != 0 ? told : Trace::now_ns());
    }
    std::ranges::sort(ends);
    times.kernel_beside = slowest(seconds_of(kernel_end - kernel_begin));
    times.calls_beside = slowest(call_beside(begin, kernel_begin, kernel_end, ends));
    times.uncovered = slowest(ends.back() < kernel_end ? 1 : 0);
    return times;
  }

  /// Of those that ended beside the kernel the mean, from the last that ended before it on; where
  /// none did, what the first after it took.
  static double call_beside(std::int64_t begin, std::int64_t kernel_begin, std::int64_t kernel_end,
                            const std::vector<std::int64_t>& ends) {
    const auto first = std::ranges::upper_bound(ends, kernel_begin);
    const auto last = std::ranges::upper_bound(ends, kernel_end);
    const std::int64_t from = first == ends.begin() ? begin : *(first - 1);
    if (first == last) return seconds_of((last == ends.end() ? ends.back() : *last) - from);
    return seconds_of(*(last - 1) - from) / double(last - first);
  }

  const OverlapKernel& kernel_;
  Communicator& ranks_;
  std::shared_ptr<AllReduce> all_reduce_;
  std::shared_ptr<const CallOptions> call_;
  std::vector<Tensor> data_;
  int repetitions_ = 1, calls_ = 1;
  std::string ignored_;
};

void check_map(const OverlapMapOptions& options, const Communicator& ranks) {
  if (ranks.size() < 2) {
    throw ValueError(
        "overlap map: a rank alone says nothing to others; start several: mpirun -np 2 d5 overlap "
        "map");
  }
  if (options.pairs < 1 || options.bytes < 1) {
    throw ValueError(
        fmt::format("overlap map: {} pairs of all-reduces of {} bytes; expected 1 or "
                    "more of each",
                    options.pairs, options.bytes));
  }
  for (const auto& resources : options.resources) expect_usable(resources);
}

Measurement cell_record(const OverlapKernel& kernel, const OverlapMapOptions& options,
                        const CommunicationResources& resources, const Communicator& ranks) {
  Measurement record{.subject = kernel.name,
                     .command = options.command,
                     .level = "prediction",
                     .metric = "kernel_slowdown",
                     .unit = "1",
                     .quantity = Quantity::ratio};
  record.conditions = {{"resources", to_words(resources)},
                       {"all_reduce", to_words(options.all_reduce)},
                       {"bytes", byte_words(std::size_t(options.bytes))},
                       {"ranks", std::to_string(ranks.size())},
                       {"medium", ranks.medium()}};
  const int cores = int(std::thread::hardware_concurrency());
  const int busy = ranks.size() * (threads() + resources.threads.value_or(0));
  if (busy > cores) {
    mistrust(record,
             fmt::format("{} threads of {} ranks shared {} cores", busy, ranks.size(), cores));
  }
  return record;
}

/// `most_seconds` as of the options, of this cell.
std::vector<Measurement> cell_records(const OverlapKernel& kernel, const OverlapMapOptions& options,
                                      const CommunicationResources& resources, double most_seconds,
                                      Communicator& ranks) {
  Measurement kernel_record = cell_record(kernel, options, resources, ranks);
  const double begin = now_seconds();
  OverlapCellRun run(kernel, options, resources, ranks);
  std::vector<double> calls;
  int uncovered = 0;
  for (int i = 0; i < options.pairs; ++i) {
    if (i >= OverlapMapOptions::kFewestPairs &&
        detail::largest_of_ranks(ranks, now_seconds() - begin) > most_seconds) {
      mistrust(kernel_record, fmt::format("{} of {} pairs: its time was over", i, options.pairs));
      break;
    }
    const PairTimes times = run.pair();
    kernel_record.samples.push_back(times.kernel_beside / times.kernel_alone);
    calls.push_back(times.calls_beside / times.calls_alone);
    if (times.uncovered > 0) ++uncovered;
  }
  kernel_record.conditions["repetitions"] = std::to_string(run.repetitions());
  if (!run.ignored().empty()) kernel_record.conditions["ignored"] = run.ignored();
  if (uncovered > 0) {
    mistrust(kernel_record, fmt::format("in {} of {} pairs all-reduces did not cover the kernel",
                                        uncovered, options.pairs));
  }
  Measurement call_record = kernel_record;
  call_record.metric = "all_reduce_slowdown";
  call_record.samples = std::move(calls);
  return {std::move(kernel_record), std::move(call_record)};
}

}  // namespace

std::vector<Measurement> overlap_map(const std::vector<OverlapKernel>& kernels,
                                     const OverlapMapOptions& options, Communicator& ranks) {
  check_map(options, ranks);
  detail::TimeShares shares(options.most_seconds, kernels.size() * options.resources.size());
  std::vector<Measurement> records;
  for (const OverlapKernel& kernel : kernels) {
    for (const CommunicationResources& resources : options.resources) {
      if (detail::any_of_ranks(ranks, options.interrupt.due())) return records;
      if (options.say) options.say(fmt::format("{}, {}", kernel.name, to_words(resources)));
      const double most_seconds = shares.next();
      if (!kernel.run) {
        records.push_back(cell_record(kernel, options, resources, ranks));
        records.back().status = Status::unsupported;
        records.back().reason = kernel.reason;
        continue;
      }
      std::ranges::move(cell_records(kernel, options, resources, most_seconds, ranks),
                        std::back_inserter(records));
    }
  }
  return records;
}

}  // namespace d5
