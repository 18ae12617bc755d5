// SPDX-License-Identifier: Apache-2.0
#include "serving/generators/completion_answer.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/core/interrupts/interrupt.hpp"
#include "serving/generators/completion_fault.hpp"
#include "serving/generators/completion_writer.hpp"
#include "serving/generators/running_completion.hpp"

namespace d5::detail {
namespace {

using Text = RunningCompletion::Text;

constexpr double kLook = 0.1;  ///< s from one look at the client's connection to the next

/// The next text, however long it takes. Throws: Interrupted if the server stops;
/// CommunicationError if the client is gone.
Text wait_for_text(RunningCompletion& running, const HttpRequest& request) {
  for (;;) {
    if (auto text = running.next(kLook)) return std::move(*text);
    if (request.stop.stop_requested()) throw Interrupted("the server ends");
    if (request.is_gone && request.is_gone()) throw CommunicationError("the client is gone");
  }
}

/// Throws: what an answer failed with.
void expect_no_fault(const Text& text) {
  if (text.outcome && !text.outcome->end) std::rethrow_exception(text.outcome->fault);
}

/// A stream of events on its way.
class CompletionStreaming {
 public:
  CompletionStreaming(const AskedCompletion& asked, std::unique_ptr<RunningCompletion> running)
      : writer_(asked), running_(std::move(running)) {}

  /// Waits for the first event. Throws: as `wait_for_text`; what the answer fails with before it.
  void begin(const HttpRequest& request) {
    while (first_.empty()) {
      const Text text = wait_for_text(*running_, request);
      expect_no_fault(text);
      first_ = event_of(text);
    }
  }
  /// As `HttpResponse::stream`.
  std::optional<std::string> next() {
    if (!first_.empty()) return std::exchange(first_, {});
    if (is_over_) return std::nullopt;
    for (;;) {
      const auto text = running_->next(kLook);
      if (!text) return std::string();
      if (std::string event = event_of(*text); !event.empty()) return event;
    }
  }

 private:
  std::string event_of(const Text& text) {
    is_over_ = text.outcome.has_value();
    return is_over_ ? writer_.last_events(text, *running_) : writer_.event(text, *running_);
  }
  CompletionWriter writer_;
  std::unique_ptr<RunningCompletion> running_;
  std::string first_;
  bool is_over_ = false;
};

HttpResponse whole_answer(const AskedCompletion& asked, RunningCompletion& running,
                          const HttpRequest& request) {
  std::string content, reasoning;
  Text text;
  while (!text.outcome) {
    text = wait_for_text(running, request);
    expect_no_fault(text);
    (text.kind == PieceKind::reasoning ? reasoning : content) += text.text;
  }
  return HttpResponse::json(
      CompletionWriter(asked).whole(content, reasoning, *text.outcome->end, running));
}

HttpResponse answer_of(const HttpRequest& request, const TextModels* models, CompletionForm form) {
  if (!models || models->names().empty()) {
    throw CompletionFault(
        "this server generates no text; 'd5 serve --generator NAME' starts one that does", {},
        {.status = 404});
  }
  AskedCompletion asked = read_completion(request.body, form, *models);
  auto running = std::make_unique<RunningCompletion>(asked.model, std::move(asked.request));
  if (!asked.streams) return whole_answer(asked, *running, request);
  const auto streaming = std::make_shared<CompletionStreaming>(asked, std::move(running));
  streaming->begin(request);
  HttpResponse response;
  response.headers.add("Content-Type", "text/event-stream");
  response.stream = [streaming] { return streaming->next(); };
  return response;
}

}  // namespace

HttpResponse completion_answer(const HttpRequest& request, const TextModels* models,
                               CompletionForm form) {
  try {
    return answer_of(request, models, form);
  } catch (const std::exception& error) {
    return openai_error(error);
  }
}

}  // namespace d5::detail
