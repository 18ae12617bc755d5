// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/api/route.hpp"
#include "d5/serving/api/serving_context.hpp"
#include "serving/api/json_answer.hpp"
#include "serving/generators/completion_answer.hpp"

namespace d5::route {

void register_completions(Registry<RouteEntry>& registry) {
  using detail::CompletionForm;
  const auto add = [&](const char* name, const char* summary, CompletionForm form) {
    registry.add(name, {.summary = summary,
                        .role = ServingRole::run,
                        .answer = [form](const HttpRequest& request, ServingContext& context) {
                          detail::expect_query(request, {});
                          return detail::completion_answer(request, context.generators().get(),
                                                           form);
                        }});
  };
  add("POST /v1/completions", "continue a text (OpenAI)", CompletionForm::text);
  add("POST /v1/chat/completions", "answer a chat (OpenAI)", CompletionForm::chat);
}

}  // namespace d5::route
