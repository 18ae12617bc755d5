// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "d5/level1_network/graph/graph_executor.hpp"
#include "level1_network/plan/plan.hpp"

namespace d5 {

/// Purpose and constraints of a plan.
struct CompileRequest {
  std::shared_ptr<const onnx::Graph> graph;
  /// Path of a graph that a node holds: "If_0/then_branch". Its memory counts with the run's.
  std::string path = {};
  std::vector<std::pair<std::string, ValueDesc>> fed =
      {};  ///< inputs, and names bound from outside
  std::vector<std::pair<std::string, Value>> constants = {};  ///< bound values, the same in every
                                                              ///< run
  std::set<std::string, std::less<>> variables = {};  ///< initializers whose values may change
  std::map<std::string, std::string> updates = {};    ///< constants to take over results
  bool updates_in_place = false;  ///< results may be written in the constants' memory
  Mode mode = Mode::inference;
  std::string loss = {};             ///< output to backpropagate from; its gradient is one
  std::set<std::string> seeds = {};  ///< instead: outputs whose gradients are given in each run
  std::vector<Parameter>* parameters = nullptr;  ///< in the order of the arena
  std::set<std::string> gradients = {};          ///< names of further tensors with gradients
  std::vector<std::string> recompute = {};       ///< as in `ExecutorOptions`
  Device device = {};  ///< device of steps for which a framework has kernels there
  OutputPlace outputs = OutputPlace::host;
  /// Framework tried before all other candidates ("auto"), by the node's first output.
  std::map<std::string, std::string, std::less<>> kernels = {};
};

/// Compiles a graph: resolves operators, infers shapes, folds constants, and lays out all memory.
/// Throws: what operators throw for their inputs; Unsupported; MemoryError.
[[nodiscard]] std::unique_ptr<Plan> compile(const CompileRequest& request, RunState& state);

/// Memory plan of `compile`, without allocating it.
[[nodiscard]] PlannedMemory plan_memory(const CompileRequest& request, RunState& state);

}  // namespace d5
