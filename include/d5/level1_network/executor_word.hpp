// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "d5/core/measurement.hpp"
#include "d5/level1_network/graph_executor.hpp"

namespace d5 {

/// The frameworks that a word names, in order of preference for each node: of "torch+reference"
/// both, of "torch:NAME" the first; "auto" is a name like others.
[[nodiscard]] std::vector<std::string> frameworks_in(const std::string& word);
/// The word that names them.
[[nodiscard]] std::string word_of(const std::vector<std::string>& frameworks);

/// Those of an executor, in order of preference.
[[nodiscard]] std::vector<std::string> frameworks_of(const GraphExecutor& executor);

/// `words`, where "all" stands for every framework that can be loaded, and behind each its own
/// executors: torch, torch:torch. "auto" is not among them. As `framework_words`.
[[nodiscard]] std::vector<std::string> executor_words(const std::vector<std::string>& words);

/// The version of the first of them; empty for "auto", which chooses node by node.
/// Throws: NotFound, Unsupported for a framework that is not there.
[[nodiscard]] std::string version_of(const std::string& word);

/// The entry of "torch:NAME", whatever options follow. Throws: NotFound; Unsupported for a
/// framework that is not there; ValueError for frameworks alone, whose nodes d5's own executor
/// runs.
[[nodiscard]] const ExecutorEntry& find_executor(const std::string& word);

/// An executor by a word, in place of `options.frameworks`: d5's own with the operators of
/// "torch+reference", or "torch:NAME[:KEY=VALUE]...", a framework's own for whole graphs with its
/// options (`d5 list executors torch:NAME`).
///
///     auto executor = open_executor("torch+reference", open_model("lenet"));
///
/// Throws: NotFound, ValueError for an option; Unsupported (a framework's own executor plans no
/// memory: it has no limit and recomputes nothing), and what the executor says of the network.
[[nodiscard]] std::shared_ptr<GraphExecutor> open_executor(const std::string& word, Network network,
                                                           ExecutorOptions options = {});

/// " --place Conv=torch --memory 512MiB --recompute auto": what a record's command says of
/// `placement`, `memory_limit` and `recompute`; nothing where none was given.
[[nodiscard]] std::string execution_line(const ExecutorOptions& options);
/// The same as conditions "placement", "memory limit" and "recompute", in which records differ.
void note_execution(Measurement& record, const ExecutorOptions& options);

}  // namespace d5
