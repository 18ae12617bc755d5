// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string_view>

#include "d5/evaluation/analysis/evaluation_choice.hpp"
#include "evaluation/analysis/cell_plot.hpp"

namespace d5 {
namespace {

/// Strips the words that always come first.
std::string reason_of(const EvaluationCell& cell) {
  constexpr std::string_view kBefore = "LoadGen: INVALID: ";
  std::string reason = cell.reason();
  for (std::size_t at = 0; (at = reason.find(kBefore, at)) != std::string::npos;) {
    reason.erase(at, kBefore.size());
  }
  return reason;
}

/// The verdict on a cell's numbers: LoadGen's, if it judges.
std::string verdict_of(const EvaluationCell& cell) {
  const Measurement* latency = cell.find("latency");
  std::string verdict = latency ? condition_of(*latency, "loadgen_result") : "";
  const Status status = cell.status();
  if (verdict.empty()) verdict = name_of(status);
  if (status == Status::mistrusted && verdict == "VALID") verdict = "VALID, but mistrusted";
  return status == Status::passed ? verdict : verdict + ": " + reason_of(cell);
}

std::string accuracy_of(const EvaluationCell& cell) {
  if (!cell.accuracy || cell.accuracy->samples.empty()) return "";
  const std::string claimed = condition_of(*cell.accuracy, "claimed");
  const std::string value =
      fmt::format("{} {:.3g}", cell.accuracy->metric, estimate(*cell.accuracy).value);
  return claimed.empty() ? value : value + " of " + claimed;
}

/// Cost of a million predictions: money if a price is known, else machine time.
std::string million_of(const EvaluationCell& cell) {
  if (const auto cost = cell.of_repetitions("cost")) {
    return detail::value_text(cost, cell.find("cost")->unit);
  }
  const auto time = cell.of_repetitions("machine_time");
  constexpr double kSecondsInHour = 3600;
  if (!time || time->value < kSecondsInHour) return detail::value_text(time, "s");
  return fmt::format("{:.3g} h", time->value / kSecondsInHour);
}

/// One line per cell, with the numbers that a choice needs first.
class SummaryAnalysis final : public Analysis {
 public:
  [[nodiscard]] AnalysisResult analyse(std::span<const AnalysedRun> runs) const override {
    using enum TextTable::Align;
    const auto cells = evaluation_cells(runs);
    const auto names = names_of(cells);
    AnalysisResult result{.table = TextTable({"what",
                                              {"accuracy", right},
                                              {"median", right},
                                              {"p99", right},
                                              {"throughput", right},
                                              {"for a million predictions", right},
                                              "verdict"})};
    for (std::size_t i = 0; i < cells.size(); ++i) {
      result.table.add({names[i], accuracy_of(cells[i]),
                        detail::value_text(cells[i].latency(0.5), "s"),
                        detail::value_text(cells[i].latency(0.99), "s"),
                        detail::value_text(cells[i].throughput(), "sample/s"), million_of(cells[i]),
                        verdict_of(cells[i])});
    }
    result.table.drop_empty_columns();
    return result;
  }
};

}  // namespace

namespace analysis {
void register_summary(Registry<AnalysisEntry>& registry) {
  registry.add("summary", AnalysisEntry::of<SummaryAnalysis>(
                              "one line per cell: accuracy, latency, throughput, cost, verdict"));
}
}  // namespace analysis
}  // namespace d5
