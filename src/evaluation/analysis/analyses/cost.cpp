// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <utility>

#include "d5/evaluation/analysis/evaluation_choice.hpp"
#include "evaluation/analysis/cell_plot.hpp"

namespace d5 {
namespace {

struct CostOptions {
  double price = 0;
  std::string currency = "USD";
  void declare(OptionList& options) {
    options.add("price", price,
                "price of an hour of the machine; 0: the records' condition price_per_hour",
                {.least = 0});
    options.add("currency", currency, "currency of the price, by ISO 4217");
  }
};

/// Cost of a million predictions, in the currency of the price.
class CostAnalysis final : public Analysis {
 public:
  using Options = CostOptions;
  explicit CostAnalysis(Options options) : options_(std::move(options)) {}

  [[nodiscard]] AnalysisResult analyse(std::span<const AnalysedRun> runs) const override {
    using enum TextTable::Align;
    const auto cells = evaluation_cells(runs);
    const auto names = names_of(cells);
    AnalysisResult result{.table = TextTable({"what",
                                              {"throughput", right},
                                              {"cost of a million predictions", right},
                                              {"95% interval", right}})};
    std::set<std::string> currencies;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto cost = choice_number(cells[i], "cost", options_.price);
      if (!cost) continue;
      const std::string currency = currency_of(cells[i], options_.price, options_.currency);
      currencies.insert(currency);
      result.table.add({names[i], detail::value_text(cells[i].throughput(), "sample/s"),
                        detail::value_text(cost, currency), detail::interval_text(cost, currency)});
    }
    detail::draw_cells(
        {.name = "evaluation-cost",
         .title = "Cost of a million predictions",
         .x = {.label = "cost", .unit = fmt::format("{}", fmt::join(currencies, ", "))}},
        {"cost"}, cells,
        [price = options_.price](const EvaluationCell& cell) {
          return std::vector{choice_number(cell, "cost", price)};
        },
        result.plots);
    return result;
  }

 private:
  Options options_;
};

}  // namespace

namespace analysis {
void register_cost(Registry<AnalysisEntry>& registry) {
  registry.add("cost", AnalysisEntry::of<CostAnalysis>(
                           "cost of a million predictions, from the price per hour"));
}
}  // namespace analysis
}  // namespace d5
