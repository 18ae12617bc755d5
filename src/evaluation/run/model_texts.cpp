// SPDX-License-Identifier: Apache-2.0
#include "evaluation/run/model_texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/entries/path_option.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "evaluation/manifest/asset_text.hpp"

namespace d5::detail {
namespace {

using Texts = std::map<std::string, std::string>;

/// Finds texts by key, and reads all of them before the first.
class FoundTexts {
 public:
  FoundTexts(std::string what, const std::function<Texts()>& read)
      : what_(std::move(what)), read_(read) {}

  [[nodiscard]] const std::string& at(const std::string& key, const std::string& setting,
                                      const std::string& step) {
    if (!texts_) texts_ = read_();
    const auto text = texts_->find(key);
    if (text != texts_->end()) return text->second;
    std::vector<std::string> known;
    for (const auto& [other, ignored] : *texts_) known.push_back(other);
    throw_unknown_name(fmt::format("step {}: {}: {}", step, setting, what_), key, known);
  }

 private:
  std::string what_;
  const std::function<Texts()>& read_;
  std::optional<Texts> texts_;
};

}  // namespace

std::vector<EntryChoice> with_model_texts(
    std::vector<EntryChoice> steps,
    const std::function<std::vector<Option>(const std::string&)>& options_of,
    const ModelTexts& texts) {
  constexpr std::string_view kNetwork = "network:";
  FoundTexts metadata("metadata of the network", texts.metadata);
  FoundTexts files("file of the model", texts.files);
  for (EntryChoice& step : steps) {
    const std::vector<Option> options = options_of(step.name);
    for (const auto& [name, value] : std::map(step.settings.values())) {
      const bool is_file = std::ranges::any_of(options, [&name = name](const Option& option) {
        return option.name == name && is_path(option);
      });
      if (const std::string asset = asset_named(value); !asset.empty()) {
        const std::string& path = files.at(asset, name, step.name);
        step.settings.set(name, is_file ? path : read_file(path));
      } else if (value.starts_with(kNetwork) && !is_file) {
        step.settings.set(name, metadata.at(value.substr(kNetwork.size()), name, step.name));
      }
    }
  }
  return steps;
}

}  // namespace d5::detail
