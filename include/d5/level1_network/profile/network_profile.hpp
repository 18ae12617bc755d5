// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "d5/core/measuring/metric.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/core/tables/text_table.hpp"
#include "d5/level1_network/graph/execution_event.hpp"

namespace d5 {

/// Profile of an executor's runs: the time of each step.
///
/// The metric is "profiled_time": whole runs with the clock read around every step. The difference
/// from the metric "time" is the cost of profiling. On a device it waits for each step. Only the
/// first run, which discovers the steps, allocates, outside the clock.
///
///     auto profile = std::make_shared<NetworkProfile>();
///     const auto results = measure({subject}, {"time", [&] { return profile; }});
///     for (const auto& record : profile_records(*profile, results.back())) use(record);
///
/// Units: s, bytes.
class NetworkProfile final : public Metric, public ExecutionEvent {
 public:
  struct Step {
    std::string node;     ///< `StepInfo::path`
    std::string op_type;  ///< with its domain if that is not ONNX's: "com.example.Gelu"
    Pass pass = Pass::forward;
    std::string framework;  ///< the kernel's framework
    Cost cost = {};         ///< forward cost per run of the network; empty for a backward step
    std::size_t memory = 0;
    std::size_t holder = kNone;  ///< the step whose graph contains it
    /// Time per run, one value for each sample of the metric; steps of its own graphs are excluded.
    std::vector<double> seconds = {};
  };
  static constexpr std::size_t kNone = ~std::size_t{0};
  /// In the order of their first run. Empty if the subject names no executor's events.
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }

  [[nodiscard]] std::string name() const override { return "profiled_time"; }
  [[nodiscard]] std::string unit() const override { return "s"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::time; }
  [[nodiscard]] OverRanks over_ranks() const override { return OverRanks::maximum; }
  [[nodiscard]] int reruns() const override { return kAsAsked; }
  void begin(int repetitions) override;
  void end() override;
  void sample(double seconds) override { whole_.push_back(seconds); }
  void summarise(Measurement& result) const override;

  void before_run(Pass) override { open_.clear(); }
  void before_node(const StepInfo& step) override;
  void after_node(const StepInfo& step) override;
  void before_nested_node(const StepInfo& step) override { before_node(step); }
  void after_nested_node(const StepInfo& step) override { after_node(step); }

 private:
  /// A step under way.
  struct Open {
    std::size_t step;
    double begin = 0;   ///< a reading of the clock
    double within = 0;  ///< seconds spent in the steps of its graphs
  };
  [[nodiscard]] std::size_t place_of(const StepInfo& step);
  [[nodiscard]] bool is(std::size_t place, const StepInfo& step) const;

  std::vector<Step> steps_;
  /// Sums of one step.
  struct Sums {
    bool recomputed = false;
    std::size_t first_within = kNone;  ///< first step of its graphs
    double seconds = 0;                ///< since `begin`; so is `cost`
    Cost cost = {};
  };
  std::vector<Sums> sums_;
  std::map<std::tuple<std::string, Pass, bool>, std::size_t> places_;
  std::size_t last_ = kNone;  ///< the step that began last
  std::vector<Open> open_;    ///< nested, the innermost last
  std::vector<double> whole_;
  int repetitions_ = 1;
};

/// Records of `profile`, made from its own record, `profiled`. The first is "steps_share", the
/// share of all steps in whole runs. Records of level "operator" follow: by operator type, by layer
/// and by node (condition "by"; the name is under "operator", "layer", "node"), forward and
/// backward separately (condition "direction"). Each has "time", its "share" of all steps, and if
/// known "flop_rate", "bytes" (every input and output once) and "memory" (for a group the largest).
///
/// Steps of a graph that a node holds are included. The node's own row covers them as well; every
/// other sum counts each step's time once. A node within a graph has the condition "within", which
/// names the node that holds the graph.
///
/// A layer is the first two parts of a node's name without its last part. Parts are separated by
/// slashes, or else by dots: "stage1.block2" of "stage1.block2.conv1.norm".
[[nodiscard]] std::vector<Measurement> profile_records(const NetworkProfile& profile,
                                                       const Measurement& profiled);

/// Whether the record is one of `profile_records`.
[[nodiscard]] bool is_profile_record(const Measurement& record);

/// Tables for people of the costliest operator types, layers and nodes among `records`, with the
/// cost of profiling ("profiled_time" beside "time"). Throws: ValueError for a format that is not a
/// table.
[[nodiscard]] std::string profile_tables(const std::vector<Measurement>& records, Format format);

}  // namespace d5
