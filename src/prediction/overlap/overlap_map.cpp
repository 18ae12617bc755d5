// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/overlap/overlap_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/entries/entry_words.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "level3_distributed/communicator/of_ranks.hpp"
#include "prediction/overlap/overlap_cell_run.hpp"

namespace d5 {
namespace {

void check_map(const OverlapMapOptions& options, const Communicator& ranks) {
  if (ranks.size() < 2) {
    throw ValueError(
        "overlap map: it needs two ranks or more; start them by mpirun -np 2 d5 overlap "
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
  record.conditions = {{"resources", identity(to_words(resources))},
                       {"all_reduce", identity(to_words(options.all_reduce))},
                       {"bytes", identity(options.bytes, "byte")},
                       {"ranks", identity(ranks.size())},
                       {"medium", identity(ranks.medium())}};
  if (kernel.flop > 0 || kernel.bytes > 0) {
    record.conditions["kernel_flop"] = aside(kernel.flop, "flop");
    record.conditions["kernel_bytes"] = aside(kernel.bytes, "byte");
  }
  const int cores = int(std::thread::hardware_concurrency());
  const int busy = ranks.size() * (threads() + resources.threads.value_or(0));
  if (busy > cores) {
    mistrust(record,
             fmt::format("{} threads of {} ranks shared {} cores", busy, ranks.size(), cores));
  }
  return record;
}

/// A kernel with one set of resources; pairs are measured one at a time.
class MapCell {
 public:
  MapCell(const OverlapKernel& kernel, const OverlapMapOptions& options,
          const CommunicationResources& resources, std::vector<Tensor>& data, Communicator& ranks)
      : kernel_(kernel_record_of(kernel, options, resources, ranks)) {
    if (kernel.run) {
      run_ = std::make_unique<detail::OverlapCellRun>(kernel, options, resources, data, ranks);
    }
  }

  void add_pair() {
    if (!run_) return;
    run_->warm_up();
    const detail::PairTimes times = run_->pair();
    kernel_.samples.push_back(times.kernel_beside / times.kernel_alone);
    calls_.push_back(times.calls_beside / times.calls_alone);
    if (times.uncovered > 0) ++uncovered_;
  }

  /// `ended`: the reason for an early end.
  void add_to(std::vector<Measurement>& records, int wanted, const std::string& ended) {
    if (!run_) return records.push_back(kernel_);
    kernel_.conditions["repetitions"] = aside(run_->repetitions());
    if (!run_->ignored().empty()) kernel_.conditions["ignored"] = finding(run_->ignored());
    if (std::ssize(calls_) < wanted) {
      mistrust(kernel_, fmt::format("{} of {} pairs: {}", calls_.size(), wanted, ended));
    }
    if (uncovered_ > 0) {
      mistrust(kernel_, fmt::format("in {} of {} pairs all-reduces did not cover the kernel",
                                    uncovered_, calls_.size()));
    }
    records.push_back(kernel_);
    records.push_back(kernel_);
    records.back().metric = "all_reduce_slowdown";
    records.back().samples = calls_;
  }

 private:
  static Measurement kernel_record_of(const OverlapKernel& kernel, const OverlapMapOptions& options,
                                      const CommunicationResources& resources,
                                      const Communicator& ranks) {
    Measurement record = cell_record(kernel, options, resources, ranks);
    if (kernel.run) return record;
    record.status = Status::unsupported;
    record.reason = kernel.reason;
    return record;
  }

  Measurement kernel_;
  std::vector<double> calls_;
  int uncovered_ = 0;
  std::unique_ptr<detail::OverlapCellRun> run_;
};

std::vector<Tensor> reduced_data(std::int64_t bytes) {
  constexpr std::size_t kBuffers = 32;  // used by all-reduces in turn
  std::vector<Tensor> data(kBuffers);
  for (Tensor& one : data) {
    one = Tensor::zeros({DType::float32, {std::max<std::int64_t>(1, bytes / 4)}});
  }
  return data;
}

}  // namespace

std::vector<Measurement> overlap_map(const std::vector<OverlapKernel>& kernels,
                                     const OverlapMapOptions& options, Communicator& ranks) {
  check_map(options, ranks);
  const double begin = now_seconds();
  std::vector<Tensor> data = reduced_data(options.bytes);
  std::vector<MapCell> cells;
  std::string ended;
  const auto goes_on = [&] {
    if (detail::any_of_ranks(ranks, options.interrupt.due())) ended = "interrupted";
    return ended.empty();
  };
  for (const OverlapKernel& kernel : kernels) {
    for (const CommunicationResources& resources : options.resources) {
      if (!goes_on()) break;
      if (options.say) options.say(fmt::format("{}, {}", kernel.name, to_words(resources)));
      cells.emplace_back(kernel, options, resources, data, ranks);
      cells.back().add_pair();
    }
  }
  for (int done = 1; done < options.pairs && ended.empty(); ++done) {
    if (options.say) options.say(fmt::format("{} of {} pairs of each", done, options.pairs));
    const double seconds = now_seconds() - begin;
    const bool is_over = options.most_seconds > 0 && seconds > options.most_seconds;
    if (done >= options.fewest_pairs && detail::any_of_ranks(ranks, is_over)) {
      ended = "its time was over";
    }
    for (MapCell& cell : cells) {
      if (!goes_on()) break;
      cell.add_pair();
    }
  }
  std::vector<Measurement> records;
  for (MapCell& cell : cells) cell.add_to(records, options.pairs, ended);
  return records;
}

}  // namespace d5
