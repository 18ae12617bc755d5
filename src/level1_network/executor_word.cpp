// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/executor_word.hpp"

#include <fmt/ranges.h>

#include "d5/core/framework.hpp"

namespace d5 {

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

std::string version_of(const std::string& word) {
  const std::string first = frameworks_in(word).front();
  return first == "auto" ? "" : framework(first).version();
}

std::shared_ptr<GraphExecutor> open_executor(const std::string& word, Network network,
                                             ExecutorOptions options) {
  options.frameworks = frameworks_in(word);
  const auto colon = word.find(':');
  if (colon == std::string::npos) return make_executor(std::move(network), std::move(options));
  const auto& own = framework(options.frameworks.front()).part<ExecutorRegistry>();
  return own.at(word.substr(colon + 1)).make(std::move(network), options);
}

}  // namespace d5
