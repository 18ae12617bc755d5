// SPDX-License-Identifier: Apache-2.0
#include "serving/generators/asked_completion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

#include "core/parsing/json_depth.hpp"
#include "d5/core/errors/error.hpp"
#include "serving/generators/asked_members.hpp"
#include "serving/generators/completion_fault.hpp"

namespace d5::detail {
namespace {

using nlohmann::json;

constexpr std::size_t kMostStops = 16, kMostStopBytes = 1024;
constexpr std::int64_t kMostTokens = std::int64_t{1} << 40;

json parsed(const std::string& body) {
  try {
    expect_shallow_json(body, "the body");
  } catch (const FormatError& error) {
    throw CompletionFault(error.what());
  }
  return json::parse(body, nullptr, /*allow_exceptions=*/false);
}

std::shared_ptr<TextModel> asked_model(AskedMembers& members, const TextModels& models) {
  const auto name = members.text("model");
  if (!name) members.fail("model", "the name of a model; GET /v1/models lists them");
  try {
    return models.at(*name);
  } catch (const NotFound& error) {
    throw CompletionFault(error.what(), "model", {.status = 404, .code = "model_not_found"});
  }
}

void read_stops(AskedMembers& members, GenerationLimits& limits) {
  const json* given = members.find("stop");
  if (!given) return;
  const json list = given->is_array() ? *given : json::array({*given});
  for (const json& stop : list) {
    const bool fits = stop.is_string() && !stop.get_ref<const std::string&>().empty() &&
                      stop.get_ref<const std::string&>().size() <= kMostStopBytes &&
                      list.size() <= kMostStops;
    if (!fits) {
      members.fail("stop",
                   fmt::format("at most {} texts of 1 to {} bytes", kMostStops, kMostStopBytes));
    }
    limits.stop_texts.push_back(stop);
  }
}

void read_limits(AskedMembers& members, AskedCompletion& asked) {
  constexpr std::int64_t kUsual = 16;  // OpenAI's, for completions
  GenerationLimits& limits = asked.request.limits;
  const bool is_chat = asked.form == CompletionForm::chat;
  limits.most_tokens = is_chat ? asked.model->engine->capacity() : kUsual;
  if (const auto most = members.whole("max_tokens", 1, kMostTokens)) limits.most_tokens = *most;
  if (is_chat) {
    const auto most = members.whole("max_completion_tokens", 1, kMostTokens);
    if (most) limits.most_tokens = *most;
  }
  limits.least_tokens =
      members.whole("min_tokens", 0, limits.most_tokens).value_or(limits.least_tokens);
  if (!members.flag("ignore_eos")) limits.stop_tokens = asked.model->end_tokens;
  read_stops(members, limits);
}

void read_sampling(AskedMembers& members, Sampling& sampling) {
  constexpr double kMostTemperature = 100;
  sampling.temperature =
      members.number("temperature", 0, kMostTemperature, "a number from 0 to 100").value_or(1);
  sampling.top_p =
      members.number("top_p", 1e-9, 1, "a number above 0, at most 1").value_or(sampling.top_p);
  sampling.min_p = members.number("min_p", 0, 1, "a number from 0 to 1").value_or(sampling.min_p);
  sampling.top_k = std::max<std::int64_t>(0, members.whole("top_k", -1, INT32_MAX).value_or(0));
  std::random_device random;
  sampling.seed = (std::uint64_t(random()) << 32) ^ random();
  if (const auto seed = members.whole("seed", INT64_MIN, INT64_MAX)) {
    sampling.seed = std::uint64_t(*seed);
  }
}

void read_stream(AskedMembers& members, AskedCompletion& asked) {
  asked.streams = members.flag("stream");
  const json* given = members.find("stream_options");
  if (!given) return;
  if (!asked.streams) members.fail("stream_options", "none without \"stream\": true");
  AskedMembers options(*given, "stream_options");
  asked.tells_usage = options.flag("include_usage");
  asked.tells_each_usage = options.flag("continuous_usage_stats") && asked.tells_usage;
  options.expect_neutral("include_obfuscation", false);
  options.expect_all_known();
}

/// Members that change no answer, and those that would change one.
void read_others(AskedMembers& members, CompletionForm form) {
  for (const char* name : {"user", "metadata", "service_tier", "prompt_cache_key",
                           "safety_identifier", "request_id"}) {
    members.ignore(name);
  }
  for (const char* name : {"presence_penalty", "frequency_penalty"}) {
    members.expect_neutral(name, 0);
  }
  members.expect_neutral("repetition_penalty", 1);
  members.expect_neutral("n", 1);
  members.expect_neutral("logit_bias", nullptr);
  members.expect_neutral("logprobs", form == CompletionForm::chat ? json(false) : json(nullptr));
  members.expect_neutral("store", false);
  if (form == CompletionForm::text) {
    members.expect_neutral("best_of", 1);
    members.expect_neutral("echo", false);
    members.expect_neutral("suffix", "");
    return;
  }
  members.expect_neutral("tools", nullptr);
  members.expect_neutral("tool_choice", "none");
  members.expect_neutral("parallel_tool_calls", true);
  members.expect_neutral("top_logprobs", 0);
  members.expect_neutral("response_format", json{{"type", "text"}});
  members.expect_neutral("modalities", json::array({"text"}));
}

/// A message's text: a text, or a list of parts of the type "text".
std::string content_of(AskedMembers& message) {
  const json* content = message.find("content");
  if (!content) message.fail("content", "a text");
  if (content->is_string()) return *content;
  if (!content->is_array()) message.fail("content", "a text, or a list of parts");
  std::string text;
  for (std::size_t i = 0; i < content->size(); ++i) {
    AskedMembers part((*content)[i], message.place_of(fmt::format("content[{}]", i)));
    if (part.text("type") != "text") part.fail("type", "\"text\": images and audio are not read");
    const auto words = part.text("text");
    if (!words) part.fail("text", "a text");
    part.expect_all_known();
    text += *words;
  }
  return text;
}

std::vector<ChatMessage> read_messages(AskedMembers& members) {
  const json* given = members.find("messages");
  if (!given || !given->is_array() || given->empty()) {
    members.fail("messages", "a list of one or more messages");
  }
  std::vector<ChatMessage> chat;
  for (std::size_t i = 0; i < given->size(); ++i) {
    AskedMembers message((*given)[i], fmt::format("messages[{}]", i));
    std::string role = message.text("role").value_or("");
    if (role == "developer") role = "system";  // newer models' name of it
    if (role != "system" && role != "user" && role != "assistant") {
      message.fail("role", "\"system\", \"user\" or \"assistant\"");
    }
    message.expect_neutral("tool_calls", nullptr);
    chat.push_back({.role = std::move(role), .text = content_of(message)});
    message.expect_all_known();
  }
  return chat;
}

std::vector<TokenId> ids_of(const json& list, const AskedMembers& members,
                            const Tokenizer& tokenizer) {
  std::vector<TokenId> ids;
  for (const json& id : list) {
    const bool fits = id.is_number_integer() && id.get<std::int64_t>() >= 0 &&
                      id.get<std::int64_t>() < tokenizer.vocabulary_size();
    if (!fits) {
      members.fail("prompt",
                   fmt::format("a text, or tokens from 0 to {}", tokenizer.vocabulary_size() - 1));
    }
    ids.push_back(id);
  }
  return ids;
}

std::vector<TokenId> read_prompt(AskedMembers& members, const Tokenizer& tokenizer) {
  const json* prompt = members.find("prompt");
  if (!prompt) members.fail("prompt", "a text, or a list of tokens");
  const bool holds_one = prompt->is_array() && prompt->size() == 1 && !(*prompt)[0].is_number();
  const json& one = holds_one ? (*prompt)[0] : *prompt;
  if (one.is_array()) return ids_of(one, members, tokenizer);
  if (!one.is_string()) members.fail("prompt", "one text, or one list of tokens");
  std::vector<TokenId> ids = tokenizer.frame().before;
  const std::vector<TokenId> text = tokenizer.encode(one.get_ref<const std::string&>());
  ids.insert(ids.end(), text.begin(), text.end());
  return ids;
}

void expect_room(const std::vector<TokenId>& prompt, const TextModel& model, const char* member) {
  if (prompt.empty()) {
    throw CompletionFault(fmt::format("'{}' has no tokens, expected one or more", member), member);
  }
  const std::int64_t capacity = model.engine->capacity();
  if (std::int64_t(prompt.size()) <= capacity) return;
  throw CompletionFault(
      fmt::format("'{}' has {} tokens, expected at most {}, the room of model '{}' for prompt and "
                  "answer",
                  member, prompt.size(), capacity, model.name),
      member, {.code = "context_length_exceeded"});
}

}  // namespace

AskedCompletion read_completion(const std::string& body, CompletionForm form,
                                const TextModels& models) {
  const json given = parsed(body);
  AskedMembers members(given);
  AskedCompletion asked{.form = form, .model = asked_model(members, models), .request = {}};
  read_limits(members, asked);
  read_sampling(members, asked.request.sampling);
  read_stream(members, asked);
  read_others(members, form);
  const bool is_chat = form == CompletionForm::chat;
  const TextModel& model = *asked.model;
  asked.request.prompt =
      is_chat ? model.chat->encode(read_messages(members)) : read_prompt(members, *model.tokenizer);
  members.expect_all_known();
  expect_room(asked.request.prompt, model, is_chat ? "messages" : "prompt");
  return asked;
}

}  // namespace d5::detail
