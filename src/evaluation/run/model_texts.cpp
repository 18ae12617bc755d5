// SPDX-License-Identifier: Apache-2.0
#include "evaluation/run/model_texts.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>

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

std::vector<EntryChoice> with_model_texts(std::vector<EntryChoice> steps, const ModelTexts& texts) {
  constexpr std::string_view kNetwork = "network:";
  FoundTexts metadata("metadata of the network", texts.metadata);
  FoundTexts files("file of the model", texts.files);
  for (EntryChoice& step : steps) {
    for (const auto& [name, value] : std::map(step.settings.values())) {
      if (const std::string asset = asset_named(value); !asset.empty()) {
        step.settings.set(name, read_file(files.at(asset, name, step.name)));
      } else if (value.starts_with(kNetwork)) {
        step.settings.set(name, metadata.at(value.substr(kNetwork.size()), name, step.name));
      }
    }
  }
  return steps;
}

}  // namespace d5::detail
