// SPDX-License-Identifier: Apache-2.0
#include "serving/generators/completion_writer.hpp"

#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

#include "serving/generators/completion_fault.hpp"

namespace d5::detail {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}
std::string stream_event(const std::string& data) { return "data: " + data + "\n\n"; }

const char* reason_of(AnswerEnd end) {
  return end == AnswerEnd::most_tokens || end == AnswerEnd::capacity ? "length" : "stop";
}

Json usage_of(const RunningCompletion& running) {
  return {{"prompt_tokens", running.prompt_tokens()},
          {"completion_tokens", running.tokens()},
          {"total_tokens", running.prompt_tokens() + running.tokens()}};
}

}  // namespace

CompletionWriter::CompletionWriter(const AskedCompletion& asked)
    : form_(asked.form),
      tells_usage_(asked.tells_usage),
      tells_each_usage_(asked.tells_each_usage),
      model_(asked.model->name),
      created_(std::time(nullptr)) {
  std::random_device random;
  id_ = fmt::format("{}-{:08x}{:08x}", form_ == CompletionForm::chat ? "chatcmpl" : "cmpl",
                    random(), random());
}

Json CompletionWriter::body(const char* object, Json choices) const {
  return {{"id", id_},
          {"object", object},
          {"created", created_},
          {"model", model_},
          {"choices", std::move(choices)}};
}

std::string CompletionWriter::chunk(Json choices, Json usage) const {
  Json all = body(form_ == CompletionForm::chat ? "chat.completion.chunk" : "text_completion",
                  std::move(choices));
  if (tells_usage_) all["usage"] = std::move(usage);
  return stream_event(text_of(all));
}

std::string CompletionWriter::event(const RunningCompletion::Text& text,
                                    const RunningCompletion& running) {
  const bool is_chat = form_ == CompletionForm::chat;
  const bool is_role = text.kind == PieceKind::role && is_chat;
  if (text.text.empty() && !is_role) return {};
  Json choice{{"index", 0}};
  if (is_chat) {
    Json delta = Json::object();
    if (!std::exchange(has_role_, true)) delta["role"] = "assistant";
    delta[text.kind == PieceKind::reasoning ? "reasoning_content" : "content"] = text.text;
    choice["delta"] = std::move(delta);
  } else {
    choice["text"] = text.text;
  }
  choice["logprobs"] = nullptr;
  choice["finish_reason"] = nullptr;
  return chunk(Json::array({choice}), tells_each_usage_ ? usage_of(running) : Json());
}

std::string CompletionWriter::last_events(const RunningCompletion::Text& text,
                                          const RunningCompletion& running) {
  std::string events = event(text, running);
  if (!text.outcome->end) {
    try {
      std::rethrow_exception(text.outcome->fault);
    } catch (const std::exception& error) {
      return events + stream_event(openai_error_text(error));
    }
  }
  Json end{{"index", 0}};
  end[form_ == CompletionForm::chat ? "delta" : "text"] =
      form_ == CompletionForm::chat ? Json::object() : Json("");
  end["logprobs"] = nullptr;
  end["finish_reason"] = reason_of(*text.outcome->end);
  events += chunk(Json::array({end}), tells_each_usage_ ? usage_of(running) : Json());
  if (tells_usage_) events += chunk(Json::array(), usage_of(running));
  return events + stream_event("[DONE]");
}

std::string CompletionWriter::whole(const std::string& content, const std::string& reasoning,
                                    AnswerEnd end, const RunningCompletion& running) const {
  const bool is_chat = form_ == CompletionForm::chat;
  Json choice{{"index", 0}};
  if (is_chat) {
    choice["message"] = {{"role", "assistant"}, {"content", content}};
    if (!reasoning.empty()) choice["message"]["reasoning_content"] = reasoning;
  } else {
    choice["text"] = reasoning + content;
  }
  choice["logprobs"] = nullptr;
  choice["finish_reason"] = reason_of(end);
  Json all = body(is_chat ? "chat.completion" : "text_completion", Json::array({choice}));
  all["usage"] = usage_of(running);
  return text_of(all);
}

}  // namespace d5::detail
