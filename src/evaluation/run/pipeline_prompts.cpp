// SPDX-License-Identifier: Apache-2.0
#include "evaluation/run/pipeline_prompts.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

std::string PipelinePrompts::text(std::int64_t sample) const {
  PipelineItem item{.sample = sample};
  pipeline_.prepare(item);
  if (const auto text = item.fields.find("text"); text != item.fields.end()) {
    return text->second.tensor().data<std::string>()[0];
  }
  const auto tokens = item.fields.find("tokens");
  if (tokens == item.fields.end()) {
    std::string names;
    for (const auto& [name, value] : item.fields) names += (names.empty() ? "" : ", ") + name;
    throw NotFound(fmt::format(
        "a data set of prompts has a field 'text' or 'tokens', this one has: {}; its manifest may "
        "say 'modality: text', or 'reader: text'",
        names));
  }
  const Tensor& bytes = tokens->second.tensor();
  std::string text;
  for (std::int64_t i = 0; i < bytes.elements(); ++i) {
    const std::int64_t byte = bytes.data<std::int64_t>()[i];
    if (byte < 0 || byte > 255) {
      throw ValueError(
          fmt::format("sample {}: token {} is {}, expected a byte, 0 to 255", sample, i, byte));
    }
    text += char(byte);
  }
  return text;
}

}  // namespace d5::detail
