// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/serving/generators/text_models.hpp"
#include "d5/serving/http/http_message.hpp"
#include "serving/generators/asked_completion.hpp"

namespace d5::detail {

/// Answers a request of OpenAI's interface, whole or as a stream. A stream's status is chosen when
/// its first piece is there, so that what fails before is an error. A client that disconnects frees
/// its slot. `models` null: none is served.
[[nodiscard]] HttpResponse completion_answer(const HttpRequest& request, const TextModels* models,
                                             CompletionForm form);

}  // namespace d5::detail
