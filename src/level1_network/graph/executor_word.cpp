// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/graph/executor_word.hpp"

#include <fmt/ranges.h>

#include <ranges>
#include <string_view>
#include <utility>

#include "d5/core/entries/entry_words.hpp"
#include "d5/core/entries/loadable_frameworks.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"

namespace d5 {
ExecutorWord::ExecutorWord(std::string text) : text_(std::move(text)) {
  const auto names = std::string_view(text_).substr(0, text_.find(':'));
  for (const auto name : std::views::split(names, '+')) {
    frameworks_.emplace_back(name.begin(), name.end());
  }
  if (frameworks_.empty()) frameworks_.emplace_back();
}

ExecutorWord::ExecutorWord(const std::vector<std::string>& frameworks)
    : ExecutorWord(fmt::format("{}", fmt::join(frameworks, "+"))) {}

void ExecutorWord::expect_known() const {
  for (const auto& name : frameworks_) {
    if (name != "auto") expect_known_framework(name);
  }
}

EntryChoice ExecutorWord::own() const {
  return entry_of_words("executor", text_.substr(text_.find(':') + 1));
}

std::vector<std::string> frameworks_of(const GraphExecutor& executor) {
  std::vector<std::string> names;
  for (const auto part : std::views::split(executor.framework(), ',')) {
    names.emplace_back(part.begin(), part.end());
  }
  return names;
}

std::vector<std::string> executor_words(const std::vector<std::string>& words) {
  return framework_words(words, [](Framework& one) {
    std::vector<std::string> own;
    if (!one.part<OperatorRegistry>().list().empty()) own.push_back(one.name());
    for (const auto& name : one.part<ExecutorRegistry>().names()) {
      own.push_back(one.name() + ":" + name);
    }
    return own;
  });
}

std::vector<std::string> known_executor_words(const std::vector<std::string>& words) {
  auto result = executor_words(words);
  for (const ExecutorWord word : result) word.expect_known();
  return result;
}

std::string version_of(const ExecutorWord& word) {
  const std::string& first = word.frameworks().front();
  return first == "auto" ? "" : framework(first).version();
}

const ExecutorEntry& find_executor(const ExecutorWord& word) {
  if (!word.is_own()) {
    throw ValueError(
        fmt::format("'{}' does not name a framework's own executor, as torch:torch does",
                    printable(word.text())));
  }
  return framework(word.frameworks().front()).part<ExecutorRegistry>().at(word.own().name);
}

std::shared_ptr<GraphExecutor> open_executor(const ExecutorWord& word, Network network,
                                             ExecutorOptions options) {
  options.frameworks = word.frameworks();
  if (!word.is_own()) return make_executor(std::move(network), std::move(options));
  if (options.memory_limit > 0 || !options.recompute.empty()) {
    throw Unsupported(
        fmt::format("executor {} has no memory plan, so memory can be neither limited nor saved; "
                    "use framework {}, whose kernels d5's own executor runs",
                    printable(word.text()), printable(options.frameworks.front())));
  }
  if (!options.placement.empty()) {
    throw Unsupported(
        fmt::format("{} runs whole networks in one framework; placement {} is for d5's own "
                    "executor: give frameworks alone, as in torch+reference",
                    printable(word.text()), printable(to_words(options.placement))));
  }
  const ExecutorEntry& entry = find_executor(word);
  const auto& executors = framework(options.frameworks.front()).part<ExecutorRegistry>();
  if (!executors.can_compute_on(word.own().name, options.device.kind)) {
    throw Unsupported(fmt::format(
        "executor {} does not compute on {}, only on the host; use frameworks that have "
        "kernels there ('d5 list devices'), or leave the device out",
        printable(word.text()), to_string(options.device)));
  }
  return entry.make(std::move(network), options, word.own().settings);
}

std::string execution_line(const ExecutorOptions& options) {
  CommandLine line;
  line.append(to_line(options.placement));
  if (options.memory_limit > 0) line.option("--memory", byte_words(options.memory_limit));
  if (!options.recompute.empty()) {
    line.option("--recompute", fmt::format("{}", fmt::join(options.recompute, ",")));
  }
  return line.text();
}

void note_execution(Measurement& record, const ExecutorOptions& options) {
  if (!options.placement.empty())
    record.conditions["placement"] = identity(to_words(options.placement));
  if (options.memory_limit > 0) {
    record.conditions["memory limit"] = identity(options.memory_limit, "byte");
  }
  if (!options.recompute.empty()) {
    record.conditions["recompute"] = identity(fmt::format("{}", fmt::join(options.recompute, ",")));
  }
}

}  // namespace d5
