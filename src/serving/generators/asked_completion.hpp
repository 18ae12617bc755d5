// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "d5/serving/generators/text_models.hpp"
#include "serving/generators/text_model.hpp"

namespace d5::detail {

/// The two addresses of OpenAI's interface that generate text.
enum class CompletionForm { text, chat };

/// A request of OpenAI's interface, ready for an engine.
struct AskedCompletion {
  CompletionForm form = CompletionForm::text;
  std::shared_ptr<TextModel> model;
  TextRequest request;
  bool streams = false;
  bool tells_usage = false;       ///< a stream tells it at its end
  bool tells_each_usage = false;  ///< in each event, too: vLLM's `continuous_usage_stats`
};

/// Reads a request's body. What d5 has not is refused by name, so that no answer differs silently
/// from what was asked. Throws: CompletionFault.
[[nodiscard]] AskedCompletion read_completion(const std::string& body, CompletionForm form,
                                              const TextModels& models);

}  // namespace d5::detail
