// SPDX-License-Identifier: Apache-2.0
#include "evaluation/analysis/layer_times.hpp"

#include <array>
#include <map>

namespace d5::detail {
namespace {

void take_number(const Measurement& record, LayerTime& layer) {
  if (record.samples.empty()) return;
  const Estimate number = estimate(record);
  if (record.metric == "time") layer.seconds = number;
  if (record.metric == "bytes") layer.bytes = number.value;
  if (record.metric == "memory") layer.memory = number.value;
  if (record.metric == "flop_rate") layer.flop = number.value;  // a rate until everything is read
}

void add_profile(const Results& results, std::vector<LayerTime>& layers) {
  std::map<std::array<std::string, 4>, std::size_t> places;
  const std::size_t first = layers.size();
  for (const Measurement& record : results.measurements) {
    if (condition_of(record, "by") != "node") continue;
    const std::string node = condition_of(record, "node");
    const std::string direction = condition_of(record, "direction");
    const auto [place, fresh] =
        places.try_emplace({record.subject, record.framework, node, direction}, layers.size());
    if (fresh) {
      layers.push_back({.subject = record.subject,
                        .framework = record.framework,
                        .name = direction == "backward" ? node + " backward" : node,
                        .type = condition_of(record, "operator"),
                        .seconds = {}});
    }
    take_number(record, layers[place->second]);
  }
  for (std::size_t i = first; i < layers.size(); ++i) layers[i].flop *= layers[i].seconds.value;
}

std::string argument_of(const TraceRecord& record, const std::string& name) {
  for (const auto& argument : record.arguments) {
    const auto* text = std::get_if<std::string>(&argument.value);
    if (text && argument.name == name) return *text;
  }
  return {};
}

/// A node's spans, one per run of the model.
void add_trace(const Timeline& timeline, std::vector<LayerTime>& layers) {
  std::map<std::pair<std::string, std::string>, std::vector<double>> seconds;
  std::vector<std::pair<std::string, std::string>> order;
  for (const TraceRecord& record : timeline.records) {
    if (record.level != "operator" || record.kind != TraceRecord::Kind::span) continue;
    const std::pair key(argument_of(record, "framework"), record.name);
    auto& samples = seconds[key];
    if (samples.empty()) order.push_back(key);
    samples.push_back(double(record.end_ns - record.begin_ns) * 1e-9);
  }
  for (const auto& key : order) {
    layers.push_back({.subject = {},
                      .framework = key.first,
                      .name = key.second,
                      .type = key.second.substr(0, key.second.find(' ')),
                      .seconds = estimate(seconds[key])});
  }
}

}  // namespace

std::vector<LayerTime> layer_times(const AnalysedRun& run) {
  std::vector<LayerTime> layers;
  add_profile(run.results, layers);
  for (const Timeline& trace : run.traces) add_trace(trace, layers);
  return layers;
}

}  // namespace d5::detail
