// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace d5 {
namespace detail {
struct TextModel;
}

struct TextModelOptions {
  std::string framework = "reference";  ///< a word of `open_executor`
  std::int64_t slots = 4;               ///< texts that a model continues at once
  std::int64_t capacity = 1024;         ///< tokens in the cache of a slot
  std::int64_t waiting = 64;            ///< requests in line beyond the slots; others are refused
  /// An entry of `chat_templates()` as words; empty: the manifest's, or the first that fits.
  std::string chat_template = {};
};

/// Language models that a server generates text with, by OpenAI's interface.
///
///     TextModels models({.framework = "onnxruntime:session"});
///     models.add("smollm2");
///     models.add("clockwork:first=0.05:gap=0.01");
///
/// Thread safety: all functions, even `add`.
class TextModels {
 public:
  explicit TextModels(TextModelOptions options = {}) : options_(std::move(options)) {}
  ~TextModels();
  TextModels(const TextModels&) = delete;
  TextModels& operator=(const TextModels&) = delete;

  /// Opens a manifest of the kind `generator`, or a clockwork with its times as settings
  /// ("clockwork:first=0.05"). Returns its name. Throws: what opening throws; ValueError if the
  /// name is taken.
  std::string add(const std::string& word);
  std::string add(std::shared_ptr<detail::TextModel> model);
  [[nodiscard]] std::vector<std::string> names() const;
  /// Throws: NotFound, with the nearest name.
  [[nodiscard]] std::shared_ptr<detail::TextModel> at(const std::string& name) const;

 private:
  const TextModelOptions options_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<detail::TextModel>> models_;
};

}  // namespace d5
