// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "d5/level1_network/profile/network_profile.hpp"
#include "level1_network/nodes/node_names.hpp"

namespace d5 {
namespace {

using Step = NetworkProfile::Step;

/// A way of grouping steps.
struct Grouping {
  const char* by;
  std::function<std::string(const Step&)> name;
};

const std::array<Grouping, 3>& groupings() {
  static const std::array<Grouping, 3> all{{
      {"operator", [](const Step& step) { return step.op_type; }},
      {"layer", [](const Step& step) { return layer_of(step.node); }},
      {"node", [](const Step& step) { return step.node; }},
  }};
  return all;
}

/// Steps of one name and direction, in order of their first run.
struct Group {
  std::string name;
  std::vector<const Step*> steps;
};

std::vector<Group> grouped(const std::vector<Step>& steps, const Grouping& grouping) {
  std::vector<Group> groups;
  for (const Step& step : steps) {
    const std::string name = grouping.name(step);
    const auto place = std::ranges::find_if(groups, [&](const Group& group) {
      return group.name == name && group.steps.front()->pass == step.pass;
    });
    (place == groups.end() ? groups.emplace_back(Group{name, {}}) : *place).steps.push_back(&step);
  }
  return groups;
}

void add_samples(const std::vector<double>& samples, std::vector<double>& total) {
  total.resize(std::max(total.size(), samples.size()));
  std::ranges::transform(total, samples, total.begin(), std::plus<>());
}

/// Total time of `steps`, sample by sample.
std::vector<double> seconds_of(const std::vector<const Step*>& steps) {
  std::vector<double> total;
  for (const Step* step : steps) add_samples(step->seconds, total);
  return total;
}

void add(const Cost& cost, Cost& total) {
  total.flop += cost.flop;
  total.bytes_read += cost.bytes_read;
  total.bytes_written += cost.bytes_written;
}

/// The seconds of each step including its nested graphs; empty for a step without nested graphs.
std::vector<std::vector<double>> seconds_with_graphs(const std::vector<Step>& steps) {
  std::vector<std::vector<double>> within(steps.size());
  for (std::size_t i = steps.size(); i-- > 0;) {  // a graph's steps come after its holder
    if (!within[i].empty()) add_samples(steps[i].seconds, within[i]);
    if (steps[i].holder == NetworkProfile::kNone) continue;
    add_samples(within[i].empty() ? steps[i].seconds : within[i], within[steps[i].holder]);
  }
  return within;
}

/// The records of one group. Each second counts once: a node with nested graphs has a second record
/// of its time including theirs.
class GroupRecords {
 public:
  GroupRecords(const Group& group, const Grouping& grouping, const Measurement& profiled,
               const std::vector<Step>& steps, const std::vector<std::vector<double>>& with_graphs)
      : group_(group), base_(profiled), seconds_(seconds_of(group.steps)) {
    const Step& first = *group.steps.front();
    base_.level = "operator";
    base_.over_ranks = OverRanks::apart;
    for (const char* of_whole : {"profile.steps", "profile.clock seconds"})
      base_.conditions.erase(of_whole);
    base_.conditions["by"] = identity(grouping.by);
    base_.conditions[grouping.by] = identity(printable(group.name));
    base_.conditions["direction"] = identity(first.pass == Pass::forward ? "forward" : "backward");
    if (&grouping == &groupings().back()) {
      with_graphs_ = with_graphs[std::size_t(&first - steps.data())];
      base_.conditions["operator"] = identity(printable(first.op_type));
      base_.conditions["kernel"] = finding(first.framework);
      if (first.holder != NetworkProfile::kNone) {
        base_.conditions["within"] = identity(printable(steps[first.holder].node));
      }
    } else {
      base_.conditions["nodes"] = finding(group.steps.size());
    }
  }

  void append_to(std::vector<Measurement>& records, const std::vector<double>& all) const {
    Cost cost;
    double memory = 0;
    for (const Step* step : group_.steps) {
      add(step->cost, cost);
      memory = std::max(memory, double(step->memory));
    }
    const double flop = cost.flop, bytes = cost.bytes_read + cost.bytes_written;
    std::vector<double> shares, rates;
    for (std::size_t i = 0; i < seconds_.size(); ++i) {
      shares.push_back(all[i] > 0 ? seconds_[i] / all[i] : 0);
      if (flop > 0 && seconds_[i] > 0) rates.push_back(flop / seconds_[i]);
    }
    const Statistic median, single{.of = Statistic::Of::single}, mean{.of = Statistic::Of::mean};
    records.push_back(record("time", "s", Quantity::time, median, seconds_));
    // Means add up to 1 over all groups; medians do not.
    records.push_back(record("share", "1", Quantity::share, mean, std::move(shares)));
    if (!with_graphs_.empty()) {
      records.push_back(record("time_with_graphs", "s", Quantity::time, median, with_graphs_));
    }
    if (!rates.empty()) {
      records.push_back(record("flop_rate", "flop/s", Quantity::rate, median, std::move(rates)));
      records.back().direction = Direction::higher_is_better;
    }
    if (bytes > 0) records.push_back(record("bytes", "byte", Quantity::bytes, single, {bytes}));
    if (memory > 0) records.push_back(record("memory", "byte", Quantity::bytes, single, {memory}));
  }

 private:
  Measurement record(std::string metric, std::string unit, Quantity quantity, Statistic statistic,
                     std::vector<double> samples) const {
    Measurement result = base_;
    result.metric = std::move(metric);
    result.unit = std::move(unit);
    result.quantity = quantity;
    result.statistic = statistic;
    result.samples = std::move(samples);
    if (quantity != Quantity::bytes) return result;
    result.status = Status::passed;  // a count, valid even if the time is doubtful
    result.reason.clear();
    return result;
  }

  const Group& group_;
  Measurement base_;
  std::vector<double> seconds_, with_graphs_ = {};
};

/// The share of all steps in whole runs.
Measurement steps_share(const Measurement& profiled, const std::vector<double>& all) {
  Measurement record = profiled;
  record.metric = "steps_share";
  record.unit = "1";
  record.quantity = Quantity::share;
  record.direction = Direction::higher_is_better;
  record.over_ranks = OverRanks::apart;
  record.conditions["by"] = identity("run");
  std::ranges::transform(all, profiled.samples, record.samples.begin(), std::divides<>());
  return record;
}

}  // namespace

std::vector<Measurement> profile_records(const NetworkProfile& profile,
                                         const Measurement& profiled) {
  std::vector<const Step*> steps;
  for (const Step& step : profile.steps()) steps.push_back(&step);
  const std::vector<double> all = seconds_of(steps);
  if (steps.empty()) return {};
  std::vector<Measurement> records = {steps_share(profiled, all)};
  const auto with_graphs = seconds_with_graphs(profile.steps());
  for (const Grouping& grouping : groupings()) {
    for (const Group& group : grouped(profile.steps(), grouping)) {
      GroupRecords(group, grouping, profiled, profile.steps(), with_graphs).append_to(records, all);
    }
  }
  return records;
}

bool is_profile_record(const Measurement& record) { return record.conditions.contains("by"); }

}  // namespace d5
