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

/// A word that names the executor of networks:
///
///     torch+reference              d5's own executor with these frameworks' operators, in order of
///                                  preference for each node
///     auto                         d5's own executor, each node in its fastest framework
///     torch:script:KEY=VALUE...    a framework's own executor for whole networks
class ExecutorWord {
 public:
  ExecutorWord(std::string text);  // NOLINT(google-explicit-constructor)
  ExecutorWord(const char* text) : ExecutorWord(std::string(text)) {}  // NOLINT
  /// The word that names these frameworks.
  explicit ExecutorWord(const std::vector<std::string>& frameworks);

  [[nodiscard]] const std::string& text() const { return text_; }
  /// At least one; "auto" counts as a name.
  [[nodiscard]] const std::vector<std::string>& frameworks() const& { return frameworks_; }
  [[nodiscard]] std::vector<std::string> frameworks() && { return std::move(frameworks_); }
  /// Whether it names a framework's own executor for whole networks.
  [[nodiscard]] bool is_own() const { return text_.find(':') != std::string::npos; }
  /// Throws: as `expect_known_framework` for each of them.
  void expect_known() const;
  /// Name and settings of the framework's own executor. Throws: ValueError for settings without
  /// "=".
  [[nodiscard]] EntryChoice own() const;

 private:
  std::string text_;
  std::vector<std::string> frameworks_;
};

/// Frameworks of an executor, in order of preference.
[[nodiscard]] std::vector<std::string> frameworks_of(const GraphExecutor& executor);

/// Expands `words`: "all" becomes every framework that can be loaded, each followed by its own
/// executors (torch, torch:torch); "auto" is not included. Compare `framework_words`.
[[nodiscard]] std::vector<std::string> executor_words(const std::vector<std::string>& words);
/// The same. Throws: as `ExecutorWord::expect_known`.
[[nodiscard]] std::vector<std::string> known_executor_words(const std::vector<std::string>& words);

/// Version of the first framework; empty for "auto", which chooses node by node. Throws: NotFound;
/// Unsupported for a framework that is not available.
[[nodiscard]] std::string version_of(const ExecutorWord& word);

/// The registered entry for "torch:NAME"; options after the name are ignored. Throws: NotFound;
/// Unsupported for a framework that is not available; ValueError for a word that names frameworks
/// only.
[[nodiscard]] const ExecutorEntry& find_executor(const ExecutorWord& word);

/// Makes the executor that a word names; the word replaces `options.frameworks`. "torch+reference"
/// is d5's own executor with these frameworks' operators. "torch:NAME[:KEY=VALUE]..." is a
/// framework's own executor for whole graphs, with its options (`d5 list executors torch:NAME`).
///
///     auto executor = open_executor("torch+reference", open_model("lenet"));
///
/// Throws: NotFound; ValueError for an option; Unsupported, as a framework's own executor has no
/// memory plan, so no memory limit and no recomputation, and computes on devices only if it says so
/// (`ExecutorRegistry::computes_on`); what the executor throws for the network.
[[nodiscard]] std::shared_ptr<GraphExecutor> open_executor(const ExecutorWord& word,
                                                           Network network,
                                                           ExecutorOptions options = {});

/// Options `placement`, `memory_limit` and `recompute` as a record's command has them: " --place
/// Conv=torch --memory 512MiB --recompute auto"; empty if none is set.
[[nodiscard]] std::string execution_line(const ExecutorOptions& options);
/// Adds the same to a record, as its conditions "placement", "memory limit" and "recompute".
void note_execution(Measurement& record, const ExecutorOptions& options);

}  // namespace d5
