// SPDX-License-Identifier: Apache-2.0
// Server-sent events. A client finds the same ones wherever their stream is cut; a server goes on
// behind the last one that a client says it has seen. A case is that word, a line's end, a stream.
#include <fmt/format.h>

#include "core/numbers/whole_number.hpp"
#include "d5/core/errors/error.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/mutation.hpp"
#include "serving/api/job_json.hpp"
#include "serving/client/event_lines.hpp"

namespace d5::fuzz {
namespace {

using Events = std::vector<std::pair<std::string, std::string>>;  // id, data

/// In pieces of `most`.
Events events_of(std::string_view stream, std::size_t most) {
  d5::detail::EventLines lines;
  Events events;
  for (; !stream.empty(); stream.remove_prefix(std::min(most, stream.size()))) {
    lines.add(stream.substr(0, most), [&](const std::string& id, const std::string& data) {
      events.emplace_back(id, data);
    });
  }
  return events;
}

/// A queue with one job that is over, and its events.
struct OverJob {
  std::unique_ptr<JobQueue> queue = JobQueue::open(":memory:");
  std::string id = queue->submit({.manifest = "{}", .key = "k"}).job.id;
  OverJob() { queue->cancel(id); }
};
OverJob& over_job() {
  static OverJob job;
  return job;
}

/// The events for a client that has seen `word`.
Events told_behind(const std::string& word) {
  HttpRequest request;
  request.headers.add("Last-Event-ID", word);
  const HttpResponse answer =
      d5::detail::job_events_answer(*over_job().queue, over_job().id, request);
  std::string stream;
  while (const auto piece = answer.stream()) stream += *piece;
  return events_of(stream, stream.size());
}

}  // namespace

std::string name() { return "event_stream"; }

void prepare() { (void)over_job(); }

std::string make_case(RandomStream& random) {
  std::string stream =
      "retry: 1000\n\nid: 1\ndata: {\"a\":\ndata:  1}\n\n:\n\nid:2\r\ndata\r\n\r\n";
  for (auto changes = random.below(4); changes > 0; --changes) stream = with_damage(stream, random);
  std::string word = one_in(random, 2) ? std::to_string(some_integer(random)) : some_text(random);
  std::erase(word, '\n');
  return word + "\n" + stream;
}

std::string run_case(const std::string& bytes) {
  const std::size_t line = std::min(bytes.find('\n'), bytes.size());
  const std::string word = bytes.substr(0, line),
                    stream = bytes.substr(std::min(line + 1, bytes.size()));
  const Events whole = events_of(stream, stream.size() + 1);
  for (const std::size_t most : {1, 2, 5}) {
    if (events_of(stream, most) != whole) return fmt::format("other events in pieces of {}", most);
  }
  const Events all = told_behind("0"), rest = told_behind(word);
  const auto seen = word.empty() ? 0 : d5::detail::whole_number<std::int64_t>(word).value();
  const auto is_new = [&](const auto& event) { return std::stoll(event.first) > seen; };
  const auto expected = std::size_t(std::ranges::count_if(all, is_new));
  if (rest.size() != expected || !std::ranges::all_of(rest, is_new)) return "it goes on elsewhere";
  return {};
}

}  // namespace d5::fuzz
