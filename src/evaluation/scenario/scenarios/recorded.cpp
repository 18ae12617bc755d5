// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "core/entries/path_option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/evaluation/load/request_trace.hpp"
#include "d5/evaluation/load/scenario.hpp"
#include "evaluation/load/drawn_prompts.hpp"
#include "evaluation/load/load_run.hpp"
#include "evaluation/load/nanoseconds.hpp"

namespace d5::scenario {
namespace {

/// Arrival times of a real service, and where the file has them, lengths of prompts and answers.
struct RecordedOptions {
  RecordingOptions recording = {};
  enum class Lengths { possible, recorded, own } lengths = Lengths::possible;
  void declare(OptionList& options) {
    options.add("file", recording.file,
                "CSV file with ascending seconds in its first column, or a trace of requests: "
                "Azure's or BurstGPT's CSV, Mooncake's JSONL",
                detail::path_text());
    options.add("lengths", lengths,
                "lengths of prompts and answers: those of the trace where it has some and the "
                "system keeps them; always those; or the samples' own",
                {"possible", "recorded", "own"});
    options.add("rate", recording.rate,
                "mean rate of the replayed part in queries/s, to which its times are scaled; 0: as "
                "recorded",
                {.least = 0});
    options.add("speed", recording.speed, "speed of the replay; 2: in half the time", {.above = 0});
    options.add("from", recording.from, "first second of the recording", {.least = 0});
    options.add("to", recording.to, "last second of the recording; 0: its end", {.least = 0});
    options.add("most", recording.most, "number of first requests that are replayed; 0: all",
                {.least = 0});
    options.add("block", recording.block, "tokens of a block that an id of a Mooncake trace names",
                {.least = 1, .most = 1e6});
    options.add("loop", recording.loop, "repeat the recording until the run ends");
  }
};

/// The requests of a trace in their order, drawn ahead of their moments.
class Replay {
 public:
  Replay(const detail::TraceOfTurns& recorded, const RecordingOptions& options, std::uint64_t seed,
         bool draws)
      : trace_(recorded.trace),
        turns_(recorded.turns),
        round_seconds_(options.loop ? trace_.round_seconds() : 0),
        draws_(draws),
        prompts_(recorded, seed, options.block) {
    draw();
  }
  [[nodiscard]] bool is_over() const { return place_ == trace_.requests.size(); }
  /// The present request's moment in s, and its text; null: the sample's own.
  [[nodiscard]] double at() const {
    return trace_.requests[place_].at + double(round_) * round_seconds_;
  }
  [[nodiscard]] const DrawnText* text() const { return text_; }
  /// Whether its prompt begins with what was said before in its conversation.
  [[nodiscard]] bool goes_on() const {
    const auto turn = turns_.find(trace_.requests[place_].line);
    return turn && turns_.at(*turn).before;
  }
  void advance() {
    if (++place_ == trace_.requests.size() && round_seconds_ > 0) {
      place_ = 0;
      ++round_;
    }
    if (!is_over()) draw();
  }

 private:
  void draw() {
    if (draws_) text_ = &prompts_.draw(trace_.requests[place_], round_);
  }

  const RequestTrace& trace_;
  const detail::RecordedTurns& turns_;
  double round_seconds_;  ///< from a round to the next; 0: a single round
  bool draws_;
  detail::DrawnPrompts prompts_;
  std::size_t place_ = 0;
  std::int64_t round_ = 0;
  const DrawnText* text_ = nullptr;
};

/// What was asked for in a run.
struct AskedLengths {
  std::int64_t prompts = 0, shared = 0;  ///< tokens
  std::int64_t continued = 0;            ///< requests that go on with a conversation
  std::vector<std::int64_t> answers = {};

  void add(const DrawnText& text) {
    prompts += std::int64_t(text.prompt.size());
    shared += text.shared_tokens;
    answers.push_back(text.answer_tokens);
  }
  /// Doubts answers of other lengths. One in a hundred may be: a server may end some itself.
  void compare(const ScenarioResult& result, SystemReport& report) const {
    constexpr double kMostOthers = 0.01;
    std::int64_t whole = 0, others = 0;
    std::string first;
    for (const QueryRecord& query : result.queries) {
      if (query.status != Status::passed || query.tokens == 0) continue;
      ++whole;
      const std::int64_t asked = answers[std::size_t(query.id)];
      if (query.tokens == asked) continue;
      if (others++ == 0) first = fmt::format("query {}: {} of {}", query.id, query.tokens, asked);
    }
    if (others > 0) report.conditions["answers of other lengths"] = finding(others);
    if (double(others) <= kMostOthers * double(whole)) return;
    report.doubt = fmt::format(
        "{} of {} answers have another number of tokens than was recorded ({}): they ended before, "
        "by themselves or where the system's room ends; 'ignore_eos' keeps a server going that "
        "knows it",
        others, whole, first);
  }
};

/// Queries at recorded times; where the file has lengths and the system keeps them, with prompts
/// and answers of these lengths.
class Recorded final : public Scenario {
 public:
  using Options = RecordedOptions;
  explicit Recorded(const Options& options) : options_(options) {}

  ScenarioResult run(SystemUnderTest& system, const ScenarioOptions& options) override {
    const detail::TraceOfTurns recorded = detail::read_trace_of_turns(needed_of(options));
    const RequestTrace& trace = recorded.trace;
    const bool draws = draws_for(system, trace, options);
    Replay replay(recorded, options_.recording, options.seed, draws);
    AskedLengths asked;
    detail::LoadRun run(system, options, {});
    for (; !replay.is_over(); replay.advance()) {
      const std::int64_t moment = run.start() + detail::nanoseconds(replay.at());
      if (!run.goes_on(moment) || !run.wait_for_turn(moment)) break;
      if (replay.text()) asked.add(*replay.text());
      asked.continued += replay.goes_on();
      run.ask(moment, {}, replay.text());
    }
    return run.end([&](const ScenarioResult& result) {
      SystemReport report;
      if (!trace.has_lengths()) return report;
      report.conditions["trace"] = setting(trace.format);
      report.conditions["lengths"] = setting(draws ? "recorded" : "own");
      if (trace.left_out > 0) {
        report.conditions["left out"] =
            finding(fmt::format("{} requests without a prompt or an answer", trace.left_out));
      }
      if (!draws) return report;
      report.conditions["prompt tokens asked"] = aside(asked.prompts, "token");
      report.conditions["prompt tokens shared"] = aside(asked.shared, "token");
      if (!recorded.turns.empty()) {
        report.conditions["turns that go on"] = finding(asked.continued);
      }
      asked.compare(result, report);
      return report;
    });
  }
  /// A hundred requests, or all that `most` keeps; fewer where the file has fewer.
  [[nodiscard]] Length usual_length() const override {
    RecordingOptions recording = options_.recording;
    if (recording.loop) return {};
    if (recording.most == 0) recording.most = Length().queries;
    recording.rate = 0;  // a single request has none
    try {
      return {.queries = std::int64_t(read_trace(recording).requests.size())};
    } catch (const Error&) {  // `run` says what is wrong
      return {};
    }
  }

 private:
  /// The recording, as far as a run of that length needs it.
  [[nodiscard]] RecordingOptions needed_of(const ScenarioOptions& options) const {
    RecordingOptions recording = options_.recording;
    const bool is_counted = options.mode == ScenarioOptions::Mode::performance &&
                            options.least_seconds == 0 && !recording.loop && recording.rate == 0;
    if (is_counted && (recording.most == 0 || recording.most > options.least_queries)) {
      recording.most = options.least_queries;
    }
    return recording;
  }
  /// Whether texts of the trace's lengths are asked for. Throws: Unsupported if they must and
  /// cannot be.
  [[nodiscard]] bool draws_for(const SystemUnderTest& system, const RequestTrace& trace,
                               const ScenarioOptions& options) const {
    if (options_.lengths == Options::Lengths::own) return false;
    std::string reason;
    if (!trace.has_lengths()) {
      reason = fmt::format("{} has times alone", printable(options_.recording.file));
    } else if (!system.keeps_lengths()) {
      reason = fmt::format(
          "{} answers samples and keeps no lengths of texts, as openai:URL and "
          "clockwork do",
          printable(system.name()));
    } else if (options.mode == ScenarioOptions::Mode::accuracy) {
      reason = "answers to drawn prompts are neither right nor wrong";
    }
    if (reason.empty()) return true;
    if (options_.lengths == Options::Lengths::possible) return false;
    throw Unsupported(fmt::format(
        "scenario recorded: lengths are 'recorded', but {}; 'own' takes the times alone", reason));
  }

  Options options_;
};

}  // namespace

void register_recorded(Registry<ScenarioEntry>& registry) {
  registry.add("recorded",
               ScenarioEntry::of<Recorded>("requests of a real service: their times and lengths"));
}

}  // namespace d5::scenario
