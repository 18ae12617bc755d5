// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "evaluation/analysis/cell_plot.hpp"
#include "evaluation/analysis/layer_times.hpp"

namespace d5 {
namespace {

using detail::LayerTime;

struct LayersOptions {
  enum class By { node, type } by = By::node;
  enum class Sort { time, memory } sort = Sort::time;
  std::int64_t most = 20;
  void declare(OptionList& options) {
    options.add("by", by, "grouping of the nodes: each on its own, or all of a type together",
                {"node", "type"});
    options.add("sort", sort, "quantity by which rows are sorted, largest first",
                {"time", "memory"});
    options.add("most", most, "maximum number of rows to show", {.least = 1});
  }
};

/// Joins all nodes of a type. Medians do not add up to a median, so the sum has no interval.
std::vector<LayerTime> by_type(const std::vector<LayerTime>& layers) {
  std::map<std::string, LayerTime> types;
  for (const LayerTime& layer : layers) {
    const auto [place, fresh] = types.try_emplace(layer.framework + " " + layer.type, layer);
    LayerTime& sum = place->second;
    if (fresh) {
      sum.name = layer.type;
      sum.seconds.interval = {1, 0};
      continue;
    }
    sum.seconds.value += layer.seconds.value;
    sum.flop += layer.flop;
    sum.bytes += layer.bytes;
    sum.memory = std::max(sum.memory, layer.memory);
  }
  std::vector<LayerTime> result;
  for (auto& [name, layer] : types) result.push_back(std::move(layer));
  return result;
}

class LayersAnalysis final : public Analysis {
 public:
  using Options = LayersOptions;
  explicit LayersAnalysis(const Options& options) : options_(options) {}

  [[nodiscard]] AnalysisResult analyse(std::span<const AnalysedRun> runs) const override {
    using enum TextTable::Align;
    AnalysisResult result{.table = TextTable({"run",
                                              "model",
                                              "framework",
                                              "layer",
                                              "type",
                                              {"time", right},
                                              {"95% interval", right},
                                              {"share", right},
                                              {"rate", right},
                                              {"bytes", right},
                                              {"memory", right}})};
    for (const AnalysedRun& run : runs) {
      std::vector<LayerTime> layers = detail::layer_times(run);
      std::map<std::string, double> totals;
      for (const auto& layer : layers)
        totals[layer.subject + layer.framework] += layer.seconds.value;
      if (options_.by == Options::By::type) layers = by_type(layers);
      std::ranges::stable_sort(layers, std::ranges::greater(), [&](const LayerTime& layer) {
        return options_.sort == Options::Sort::time ? layer.seconds.value : layer.memory;
      });
      if (layers.size() > std::size_t(options_.most)) layers.resize(std::size_t(options_.most));
      for (const auto& layer : layers) {
        add_row(runs.size() > 1 ? run.name : "", layer, totals[layer.subject + layer.framework],
                result.table);
      }
      draw(run, layers, runs.size() > 1, result.plots);
    }
    result.table.drop_empty_columns();
    return result;
  }

 private:
  static void add_row(const std::string& run, const LayerTime& layer, double total,
                      TextTable& table) {
    const auto number = [](double value, const char* unit) {
      return value > 0 ? with_prefix(value, unit) : std::string();
    };
    table.add({run, layer.subject, layer.framework, layer.name, layer.type,
               detail::value_text(layer.seconds, "s"), detail::interval_text(layer.seconds, "s"),
               total > 0 ? fmt::format("{:.1f}%", 100 * layer.seconds.value / total) : "",
               number(layer.flop / layer.seconds.value, "flop/s"), number(layer.bytes, "byte"),
               number(layer.memory, "byte")});
  }
  void draw(const AnalysedRun& run, const std::vector<LayerTime>& layers, bool named,
            std::vector<Plot>& plots) const {
    detail::RowsPlot rows({"time"});
    for (const auto& layer : layers) rows.add(layer.name + " " + layer.framework, {layer.seconds});
    const std::string by = options_.by == Options::By::node ? "node" : "type";
    rows.draw({.name = "layers-by-" + by,
               .title = "Time by " + by + (named ? ", " + run.name : ""),
               .note = "of one run of the model",
               .x = {.label = "time", .unit = "s"}},
              plots);
  }
  Options options_;
};

}  // namespace

namespace analysis {
void register_layers(Registry<AnalysisEntry>& registry) {
  registry.add("layers",
               AnalysisEntry::of<LayersAnalysis>("time and memory of nodes, or types of nodes"));
}
}  // namespace analysis
}  // namespace d5
