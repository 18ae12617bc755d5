// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>

#include "core/numbers/whole_number.hpp"
#include "d5/core/errors/error.hpp"
#include "serving/api/job_json.hpp"

namespace d5::detail {
namespace {

std::int64_t seen_number(const HttpRequest& request) {
  const std::string* header = request.headers.find("last-event-id");
  const std::string text = header ? *header : request.asked("after");
  if (text.empty()) return 0;
  const auto number = whole_number<std::int64_t>(text);
  if (number && *number >= 0) return *number;
  throw ValueError(fmt::format("the last event's id '{}': expected a number", printable(text)));
}

/// Continues from event to event.
class EventStream {
 public:
  EventStream(JobQueue& queue, const std::string& job, std::int64_t seen, std::stop_token stop)
      : queue_(queue),
        job_(job.empty() ? job : queue.job(job).id),
        seen_(seen),
        stop_(std::move(stop)),
        waking_(stop_, [&queue] { queue.wake(); }),
        is_known_over_(!job_.empty() && is_over(queue.job(job_).state)) {}

  std::optional<std::string> next() {
    if (is_over_) return {};
    std::string text = begin_;
    begin_.clear();
    for (const JobEvent& event : queue_.events(job_, seen_)) {
      text +=
          fmt::format("id: {}\ndata: {}\n\n", event.number,
                      to_json(event).dump(-1, ' ', false, AnswerJson::error_handler_t::replace));
      seen_ = event.number;
      is_over_ = !job_.empty() && is_over(event.state);
    }
    is_over_ = is_over_ || is_known_over_;
    if (!text.empty()) return text;
    if (is_over_ || stop_.stop_requested()) return {};
    constexpr std::chrono::milliseconds kPatience{1000};
    mark_ = queue_.wait(mark_, kPatience);
    constexpr auto kSilence = std::chrono::seconds(15);
    const auto now = std::chrono::steady_clock::now();
    if (now - said_ < kSilence) return "";
    said_ = now;
    return ":\n\n";  // a comment, so that no proxy takes the silence for the end
  }

 private:
  JobQueue& queue_;
  std::string job_;
  std::int64_t seen_;
  std::int64_t mark_ = 0;  ///< number of the newest event of any job at the last look
  std::stop_token stop_;
  std::stop_callback<std::function<void()>> waking_;
  std::string begin_ = "retry: 1000\n\n";
  bool is_known_over_;    ///< it was over before the request: all its events exist
  bool is_over_ = false;  ///< everything was sent
  std::chrono::steady_clock::time_point said_ = std::chrono::steady_clock::now();
};

}  // namespace

HttpResponse job_events_answer(JobQueue& queue, const std::string& job,
                               const HttpRequest& request) {
  const auto stream = std::make_shared<EventStream>(queue, job, seen_number(request), request.stop);
  return {.headers = {{"Content-Type", "text/event-stream"}},
          .stream = [stream] { return stream->next(); }};
}

}  // namespace d5::detail
