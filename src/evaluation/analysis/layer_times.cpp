// SPDX-License-Identifier: Apache-2.0
#include "evaluation/analysis/layer_times.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>

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

/// A span of a node that a framework ran.
struct NodeSpan {
  const TraceRecord* record;
  std::string framework;
  std::vector<std::pair<std::int64_t, std::int64_t>> inner = {};  ///< spans of nodes inside it
  const NodeSpan* outer = nullptr;                                ///< the node that it is inside

  [[nodiscard]] bool contains_middle_of(const TraceRecord& other) const {
    const std::int64_t middle = other.begin_ns + (other.end_ns - other.begin_ns) / 2;
    return record->begin_ns <= middle && middle <= record->end_ns;
  }
  /// Self time in seconds: without the time in which a node inside it ran.
  [[nodiscard]] double self_seconds() {
    std::ranges::sort(inner);
    std::int64_t own = record->end_ns - record->begin_ns, covered = record->begin_ns;
    for (const auto& [begin, end] : inner) {
      const std::int64_t from = std::max(begin, covered), to = std::min(end, record->end_ns);
      if (to <= from) continue;
      own -= to - from;
      covered = to;
    }
    return double(own) * 1e-9;
  }
};

/// The node spans of a timeline. Spans that kernels record inside a node name no framework and are
/// left out.
std::vector<NodeSpan> node_spans(const Timeline& timeline) {
  std::vector<NodeSpan> spans;
  for (const TraceRecord& record : timeline.records) {
    if (record.level != "operator" || record.kind != TraceRecord::Kind::span) continue;
    std::string framework = argument_of(record, "framework");
    if (!framework.empty()) spans.push_back({&record, std::move(framework)});
  }
  return spans;
}

/// Fills `inner` and `outer` of each span: by the parents that d5 recorded, and by time for the
/// spans that a framework recorded itself, which have no parents and lie on lanes of their own. The
/// middle of a span decides, because clocks may differ by microseconds.
void find_inner(const Timeline& timeline, std::vector<NodeSpan>& spans) {
  using Id = std::pair<int, std::uint64_t>;
  std::map<Id, std::uint64_t> parents;
  for (const TraceRecord& record : timeline.records) {
    if (record.id != 0) parents[{record.rank, record.id}] = record.parent;
  }
  std::map<Id, NodeSpan*> by_id;
  std::map<std::pair<int, std::string>, std::vector<NodeSpan*>> outer;  // d5's own, sorted by begin
  std::int64_t longest = 0;                                             // longest of these spans
  const auto is_own = [](const NodeSpan& span) {
    return std::ranges::any_of(span.record->arguments,
                               [](const TraceArgument& one) { return one.name == "step"; });
  };
  for (NodeSpan& span : spans) {
    by_id[{span.record->rank, span.record->id}] = &span;
    if (!is_own(span)) continue;
    outer[{span.record->rank, span.framework}].push_back(&span);
    longest = std::max(longest, span.record->end_ns - span.record->begin_ns);
  }
  for (auto& [key, all] : outer) {
    std::ranges::sort(all, {}, [](const NodeSpan* span) { return span->record->begin_ns; });
  }
  const auto parent_of = [&](const NodeSpan& span) -> NodeSpan* {
    const int rank = span.record->rank;
    for (std::uint64_t id = span.record->parent; id != 0; id = parents[{rank, id}]) {
      if (const auto place = by_id.find({rank, id}); place != by_id.end()) return place->second;
    }
    if (is_own(span)) return nullptr;
    const auto& all = outer[{rank, span.framework}];
    const auto behind = std::ranges::upper_bound(
        all, span.record->end_ns, {}, [](const NodeSpan* one) { return one->record->begin_ns; });
    for (auto place = behind; place != all.begin();) {
      const NodeSpan* candidate = *--place;
      if (candidate->record->begin_ns + longest < span.record->begin_ns) return nullptr;
      if (candidate->contains_middle_of(*span.record)) return *place;
    }
    return nullptr;
  };
  for (NodeSpan& span : spans) {
    if (NodeSpan* parent = parent_of(span)) {
      span.outer = parent;
      parent->inner.emplace_back(span.record->begin_ns, span.record->end_ns);
    }
  }
}

/// A node's self times, one per run of the model.
void add_trace(const Timeline& timeline, std::vector<LayerTime>& layers) {
  std::map<std::pair<std::string, std::string>, std::vector<double>> seconds;
  std::vector<std::pair<std::string, std::string>> order;
  std::vector<NodeSpan> spans = node_spans(timeline);
  find_inner(timeline, spans);
  for (NodeSpan& span : spans) {
    const std::pair key(span.framework, span.record->name);
    auto& samples = seconds[key];
    if (samples.empty()) order.push_back(key);
    samples.push_back(span.self_seconds());
  }
  for (const auto& key : order) {
    layers.push_back({.subject = {},
                      .framework = key.first,
                      .name = key.second,
                      .type = key.second.substr(0, key.second.find(' ')),
                      .seconds = estimate(seconds[key])});
  }
}

/// Adds the times between consecutive spans of a trace to those of the same two layers.
void add_gaps(const Timeline& timeline, std::vector<LayerGap>& gaps,
              std::vector<std::vector<double>>& samples) {
  std::vector<NodeSpan> spans = node_spans(timeline);
  find_inner(timeline, spans);
  std::vector<const NodeSpan*> sorted;
  for (const NodeSpan& span : spans) sorted.push_back(&span);
  std::ranges::stable_sort(sorted, {}, [](const NodeSpan* span) { return span->record->begin_ns; });
  struct Line {
    const NodeSpan* last = nullptr;
    std::set<std::string> seen;  ///< layers of this run of the model; one that repeats begins a run
  };
  std::map<std::tuple<int, int, std::string, const NodeSpan*>, Line> lines;
  for (const NodeSpan* span : sorted) {
    const TraceRecord& record = *span->record;
    Line& line = lines[{record.rank, record.lane, span->framework, span->outer}];
    if (!line.seen.insert(record.name).second) {
      line = {};
      line.seen.insert(record.name);
    }
    const NodeSpan* last = std::exchange(line.last, span);
    if (!last || last->record->end_ns > record.begin_ns) continue;
    const auto same = [&](const LayerGap& gap) {
      return gap.framework == span->framework && gap.after == last->record->name &&
             gap.before == record.name;
    };
    const auto place = std::ranges::find_if(gaps, same) - gaps.begin();
    if (std::size_t(place) == gaps.size()) {
      gaps.push_back({span->framework, last->record->name, record.name, {}});
      samples.emplace_back();
    }
    samples[std::size_t(place)].push_back(double(record.begin_ns - last->record->end_ns) * 1e-9);
  }
}

}  // namespace

std::vector<LayerGap> layer_gaps(const AnalysedRun& run) {
  std::vector<LayerGap> gaps;
  std::vector<std::vector<double>> samples;
  for (const Timeline& trace : run.traces) add_gaps(trace, gaps, samples);
  for (std::size_t i = 0; i < gaps.size(); ++i) gaps[i].seconds = estimate(samples[i]);
  return gaps;
}

std::vector<LayerTime> layer_times(const AnalysedRun& run) {
  std::vector<LayerTime> layers;
  add_profile(run.results, layers);
  for (const Timeline& trace : run.traces) add_trace(trace, layers);
  return layers;
}

}  // namespace d5::detail
