// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/executor_word.hpp"

#include <fmt/ranges.h>

#include <ranges>

#include "d5/core/byte_count.hpp"
#include "d5/core/command_line.hpp"
#include "d5/core/entry_words.hpp"
#include "d5/core/error.hpp"
#include "d5/core/loadable_frameworks.hpp"
#include "d5/level0_ops/operator_registry.hpp"

namespace d5 {
namespace {

/// Of "torch:NAME:KEY=VALUE" all behind the framework.
EntryChoice choice_in(const std::string& word) {
  return entry_of_words("executor", word.substr(word.find(':') + 1));
}

}  // namespace

std::vector<std::string> frameworks_in(const std::string& word) {
  std::vector<std::string> names(1);
  for (const char c : word.substr(0, word.find(':'))) {
    if (c == '+') {
      names.emplace_back();
    } else {
      names.back() += c;
    }
  }
  return names;
}

std::string word_of(const std::vector<std::string>& frameworks) {
  return fmt::format("{}", fmt::join(frameworks, "+"));
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

std::string version_of(const std::string& word) {
  const std::string first = frameworks_in(word).front();
  return first == "auto" ? "" : framework(first).version();
}

const ExecutorEntry& find_executor(const std::string& word) {
  if (word.find(':') == std::string::npos) {
    throw ValueError(fmt::format("'{}' names no executor of a framework's own, as torch:torch does",
                                 printable(word)));
  }
  const auto& own = framework(frameworks_in(word).front()).part<ExecutorRegistry>();
  return own.at(choice_in(word).name);
}

std::shared_ptr<GraphExecutor> open_executor(const std::string& word, Network network,
                                             ExecutorOptions options) {
  options.frameworks = frameworks_in(word);
  const auto colon = word.find(':');
  if (colon == std::string::npos) return make_executor(std::move(network), std::move(options));
  if (options.memory_limit > 0 || !options.recompute.empty()) {
    throw Unsupported(fmt::format(
        "executor {} plans no memory, so none can be limited or saved in it; use framework {}, "
        "whose kernels d5's own executor runs",
        printable(word), printable(options.frameworks.front())));
  }
  if (!options.placement.empty()) {
    throw Unsupported(
        fmt::format("{} runs whole networks in one framework; placement {} is for d5's own "
                    "executor: give frameworks alone, as in torch+reference",
                    printable(word), printable(to_words(options.placement))));
  }
  return find_executor(word).make(std::move(network), options, choice_in(word).settings);
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
