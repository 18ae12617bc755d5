// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

namespace d5 {

/// Who runs networks, as one word says it:
///
///     torch+reference              d5's own executor with the operators of these, in order of
///                                  preference for each node
///     auto                         the same, each node where it is fastest
///     torch:script:KEY=VALUE...    an executor of the framework's own, for whole networks
class ExecutorWord {
 public:
  ExecutorWord(std::string text);  // NOLINT(google-explicit-constructor)
  ExecutorWord(const char* text) : ExecutorWord(std::string(text)) {}  // NOLINT
  /// The word that names them.
  explicit ExecutorWord(const std::vector<std::string>& frameworks);

  [[nodiscard]] const std::string& text() const { return text_; }
  /// One at least; "auto" is a name like others.
  [[nodiscard]] const std::vector<std::string>& frameworks() const& { return frameworks_; }
  [[nodiscard]] std::vector<std::string> frameworks() && { return std::move(frameworks_); }
  /// Whether whole networks run in an executor of the framework's own.
  [[nodiscard]] bool is_own() const { return text_.find(':') != std::string::npos; }
  /// Its name and settings. Throws: ValueError for settings without "=".
  [[nodiscard]] EntryChoice own() const;

 private:
  std::string text_;
  std::vector<std::string> frameworks_;
};

/// Those of an executor, in order of preference.
[[nodiscard]] std::vector<std::string> frameworks_of(const GraphExecutor& executor);

/// `words`, where "all" stands for every framework that can be loaded, and behind each its own
/// executors: torch, torch:torch. "auto" is not among them. As `framework_words`.
[[nodiscard]] std::vector<std::string> executor_words(const std::vector<std::string>& words);

/// The version of the first of them; empty for "auto", which chooses node by node.
/// Throws: NotFound, Unsupported for a framework that is not there.
[[nodiscard]] std::string version_of(const ExecutorWord& word);

/// The entry of "torch:NAME", whatever options follow. Throws: NotFound; Unsupported for a
/// framework that is not there; ValueError for frameworks alone, whose nodes d5's own executor
/// runs.
[[nodiscard]] const ExecutorEntry& find_executor(const ExecutorWord& word);

/// An executor by a word, in place of `options.frameworks`: d5's own with the operators of
/// "torch+reference", or "torch:NAME[:KEY=VALUE]...", a framework's own for whole graphs with its
/// options (`d5 list executors torch:NAME`).
///
///     auto executor = open_executor("torch+reference", open_model("lenet"));
///
/// Throws: NotFound, ValueError for an option; Unsupported (a framework's own executor plans no
/// memory: it has no limit and recomputes nothing), and what the executor says of the network.
[[nodiscard]] std::shared_ptr<GraphExecutor> open_executor(const ExecutorWord& word,
                                                           Network network,
                                                           ExecutorOptions options = {});

/// " --place Conv=torch --memory 512MiB --recompute auto": what a record's command says of
/// `placement`, `memory_limit` and `recompute`; nothing where none was given.
[[nodiscard]] std::string execution_line(const ExecutorOptions& options);
/// The same as conditions "placement", "memory limit" and "recompute", in which records differ.
void note_execution(Measurement& record, const ExecutorOptions& options);

}  // namespace d5
