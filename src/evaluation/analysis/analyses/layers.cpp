// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

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
      const std::vector<LayerTime> in_order = layers;
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
      const std::string name = runs.size() > 1 ? ", " + run.name : "";
      draw(options_.by, layers, name, result.plots);
      if (options_.by == Options::By::node) {
        auto types = by_type(in_order);
        std::ranges::stable_sort(types, std::ranges::greater(),
                                 [](const LayerTime& type) { return type.seconds.value; });
        draw(Options::By::type, types, name, result.plots);
      }
      draw_depth(in_order, name, result.plots);
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
  static void draw(Options::By by, const std::vector<LayerTime>& layers, const std::string& run,
                   std::vector<Plot>& plots) {
    const bool one_framework = std::ranges::all_of(layers, [&](const LayerTime& layer) {
      return layer.framework == layers.front().framework;
    });
    detail::RowsPlot rows({"time"});
    for (const auto& layer : layers) {
      rows.add(layer.name + (one_framework ? "" : " " + layer.framework), {layer.seconds});
    }
    const std::string word = by == Options::By::node ? "node" : "type";
    rows.draw({.name = "layers-by-" + word,
               .title = "Time by " + word + run,
               .note = "of one run of the model",
               .x = {.label = "time", .unit = "s"}},
              plots);
  }
  /// Draws the time of each layer in the order of the model, one plot per model and framework.
  static void draw_depth(const std::vector<LayerTime>& layers, const std::string& run,
                         std::vector<Plot>& plots) {
    std::map<std::pair<std::string, std::string>, std::vector<detail::DepthBar>> bars;
    for (const auto& layer : layers) {
      bars[{layer.subject, layer.framework}].push_back(
          {layer.name, layer.type, layer.seconds.value});
    }
    for (const auto& [whose, all] : bars) {
      const auto& [subject, framework] = whose;
      const std::string words = subject + (subject.empty() ? "" : ", ") + framework;
      plots.push_back(detail::depth_plot(
          {.name = "layers-over-depth" + (bars.size() > 1 ? "-" + framework : std::string()),
           .title = "Time over depth, " + words + run,
           .note = "of one run of the model, by type",
           .x = {.label = "place in the order of layers", .scale = PlotAxis::Scale::whole},
           .y = {.label = "time", .unit = "s"}},
          all));
    }
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
