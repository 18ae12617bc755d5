// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/entries/option.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "level1_network/validation/network_sides.hpp"
#include "level1_network/validation/reduced_folder.hpp"

namespace d5 {
namespace {

/// Writes the smallest network so far at intervals, so that a killed process loses little.
class SaveNowAndThen {
 public:
  SaveNowAndThen(const ReductionSubject& subject, const std::string& folder)
      : subject_(subject), folder_(folder) {}
  void operator()(const ReducedNetwork& smallest) {
    constexpr double kSeconds = 10;
    if (now_seconds() - last_ < kSeconds) return;
    save_reduction(smallest, subject_, folder_);
    last_ = now_seconds();
  }

 private:
  const ReductionSubject& subject_;
  const std::string& folder_;
  double last_ = now_seconds();
};

Measurement record_of(const ReducedNetwork& small, const NetworkCheckOptions& options) {
  Measurement record;
  record.metric = "reduced_nodes";
  record.unit = "1";
  record.quantity = Quantity::count;
  record.statistic = {.of = Statistic::Of::single};
  record.conditions["nodes before"] = finding(small.nodes_before);
  if (small.difference.kind == DifferenceKind::none) {
    record.status = Status::passed;
    record.samples = {0};
    return record;
  }
  record.samples = {double(small.network.graph().nodes.size())};
  record.conditions["tries"] = finding(small.tries);
  record.conditions["seconds"] = finding(small.seconds, "s");
  record.conditions["folder"] = finding(options.reduce);
  record.status = Status::failed;
  record.reason = small.difference.words;
  if (small.differing_runs < small.runs) {
    record.reason += fmt::format("; it is intermittent: in {} of {} runs of the whole network",
                                 small.differing_runs, small.runs);
  }
  if (!small.is_smallest) {
    record.reason += "; it ended early, there may be fewer nodes: the same command continues";
    if (small.difference.kind == DifferenceKind::ended) {
      record.reason += ", with " + option_word("isolate", "S") + " tries that hang end sooner";
    }
  }
  return record;
}

}  // namespace

Measurement reduce_to_folder(const NetworkSides& sides, const std::string& word,
                             const NetworkCheckOptions& options) {
  using Passes = ReductionOptions::Passes;
  ReductionOptions how{.passes = options.backward ? Passes::both : Passes::forward,
                       .slower = options.slower,
                       .most_seconds = options.reduce_seconds,
                       .interrupt = options.interrupt,
                       .isolation = options.isolation,
                       .on_try = options.on_reduction};
  const ReductionSubject subject{.word = word,
                                 .version = version_of(word),
                                 .against = options.against,
                                 .of = digest_of(sides.network, sides.inputs, how)};
  const auto kept = kept_reduction(options.reduce, subject);
  if (kept) how.from = &*kept;
  how.on_smaller = SaveNowAndThen(subject, options.reduce);
  const ReducedNetwork small =
      reduce_network(sides.network, sides.subject, sides.reference, sides.inputs, how);
  if (small.difference.kind != DifferenceKind::none) {
    save_reduction(small, subject, options.reduce);
  }
  return record_of(small, options);
}

}  // namespace d5
