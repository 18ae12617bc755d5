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

/// Which operator costs most: what each step of an executor's runs takes.
///
/// As a metric it is "profiled_time", whole runs with the clock read around every step; beside the
/// metric "time" that tells what profiling itself costs. On a device it waits for each step. Only
/// the first run allocates, outside the clock: it tells what the steps are.
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
    std::string op_type;  ///< with its domain, if that is not ONNX's: "com.example.Gelu"
    Pass pass = Pass::forward;
    std::string framework;  ///< whose kernel ran
    Cost cost = {};         ///< of one run of the network, forward; a backward step has none
    std::size_t memory = 0;
    std::size_t holder = kNone;  ///< the step whose graph it is in
    /// Of one run, a sample of the metric each; without what the steps of its graphs took.
    std::vector<double> seconds = {};
  };
  static constexpr std::size_t kNone = ~std::size_t{0};
  /// In the order in which they first ran. Empty if the subject names no executor's events.
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
  /// A step that runs.
  struct Open {
    std::size_t step;
    double begin = 0;   ///< a reading of the clock
    double within = 0;  ///< seconds that the steps of its graphs took
  };
  [[nodiscard]] std::size_t place_of(const StepInfo& step);
  [[nodiscard]] bool is(std::size_t place, const StepInfo& step) const;

  std::vector<Step> steps_;
  /// Of each step.
  struct Sums {
    bool recomputed = false;
    std::size_t first_within = kNone;  ///< of the steps of its graphs
    double seconds = 0;                ///< since `begin`, as `cost`
    Cost cost = {};
  };
  std::vector<Sums> sums_;
  std::map<std::tuple<std::string, Pass, bool>, std::size_t> places_;
  std::size_t last_ = kNone;  ///< that began
  std::vector<Open> open_;    ///< each within the one before it
  std::vector<double> whole_;
  int repetitions_ = 1;
};

/// What `profile` found, made from its own record, `profiled`: first "steps_share", the part of
/// whole runs that all steps took; then records of level "operator", by operator type, by layer,
/// and by node (condition "by"; the name under "operator", "layer", "node"), forward and backward
/// apart (condition "direction"). Steps of graphs that a node holds are in all of them: a row of
/// the node has what it and they took, every other sum has each step's time once. Each has "time",
/// its "share" of all steps, and where they are known "flop_rate", "bytes" (every input and output
/// once) and "memory" (of a group the largest). The condition "within" of a node is the one whose
/// graph it is in.
///
/// A layer is the first two parts of a node's name without its last, parts being told by slashes,
/// or else by dots: "stage1.block2" of "stage1.block2.conv1.norm".
[[nodiscard]] std::vector<Measurement> profile_records(const NetworkProfile& profile,
                                                       const Measurement& profiled);

/// Whether `profile_records` made it.
[[nodiscard]] bool is_profile_record(const Measurement& record);

/// For people: a table each of the costliest operator types, layers and nodes among `records`, with
/// what the profile cost ("profiled_time" beside "time"). Throws: ValueError for a format that is
/// no table.
[[nodiscard]] std::string profile_tables(const std::vector<Measurement>& records, Format format);

}  // namespace d5
