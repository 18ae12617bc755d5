// SPDX-License-Identifier: Apache-2.0
#include "serving/completions/token_account.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "serving/completions/completion_client.hpp"

namespace d5::detail {
namespace {

constexpr double kMostDifference = 0.01;  // largest, of two counts
constexpr double kMostWrong = 0.01;       // largest share, of answers
constexpr double kMostBusy = 0.1;         // as of the generator's lag
constexpr double kShortest = 1;           // s

bool differ(double a, double b) { return std::abs(a - b) > kMostDifference * std::max(a, b); }

/// "512 by usage, 500 by the tokenizer" if two counts differ; else empty. `ends`: tokens without a
/// text that the usage may have, and no other count has.
std::string difference_in(const TokenAccount::Counts& counts, std::int64_t ends) {
  std::string words;
  std::optional<std::int64_t> least, most;
  const auto tell = [&](const char* way, std::int64_t count) {
    words += fmt::format("{}{} by {}", words.empty() ? "" : ", ", count, way);
  };
  const auto take = [&](std::int64_t count) {
    least = std::min(least.value_or(count), count);
    most = std::max(most.value_or(count), count);
  };
  const auto add = [&](const char* way, const std::optional<std::int64_t>& count) {
    if (!count) return;
    tell(way, *count);
    take(*count);
  };
  if (counts.by_usage) tell("the server's usage", *counts.by_usage);
  add("pieces", counts.by_pieces);
  add("the tokenizer", counts.by_tokenizer);
  add("the trace", counts.by_trace);
  if (counts.by_usage) {
    const std::int64_t usage = *counts.by_usage, others = most.value_or(usage);
    take(usage > others ? std::max(usage - ends, others) : usage);
  }
  return least && differ(double(*least), double(*most)) ? words : std::string();
}

void add(std::string& words, const std::string& more) {
  words += (words.empty() ? "" : "; ") + more;
}

void set(Conditions& conditions, const std::string& what, const TokenAccount::Counts& counts) {
  const auto one = [&](const char* way, const std::optional<std::int64_t>& count) {
    if (count) conditions[what + way] = aside(*count, "token");
  };
  one(" by usage", counts.by_usage);
  one(" by pieces", counts.by_pieces);
  one(" by tokenizer", counts.by_tokenizer);
}

void count(TokenAccount::Wrong& wrong, const std::string& words) {
  if (wrong.answers++ == 0) wrong.first = words;
}

}  // namespace

void TokenAccount::add_answer(std::optional<std::int64_t> by_usage, std::int64_t by_pieces,
                              std::int64_t most_tokens) {
  empty_answers += by_pieces == 0;
  const Counts counts{.by_usage = by_usage, .by_pieces = by_pieces};
  if (const std::string words = difference_in(counts, 1); !words.empty()) count(miscounted, words);
  const std::int64_t most = std::max(by_usage.value_or(0) - 1, by_pieces);  // the end has no text
  if (most > most_tokens) count(longer, fmt::format("{} tokens for {}", most, most_tokens));
}

std::int64_t TokenAccount::tokens_of_templates() const {
  if (!has_template || !prompts.by_usage) return 0;
  const auto own = prompts.by_tokenizer ? prompts.by_tokenizer : prompts.by_trace;
  return own ? std::max<std::int64_t>(0, *prompts.by_usage - *own) : *prompts.by_usage / 2;
}

SystemReport TokenAccount::report() const {
  SystemReport report;
  set(report.conditions, "output tokens", answers);
  set(report.conditions, "prompt tokens", prompts);
  const double busy_share = run_seconds > 0 ? busy_seconds / run_seconds : 0;
  report.conditions["client busy"] = finding(fmt::format("{:.2g}%", 100 * busy_share));
  std::string statuses;
  for (const auto& [status, count] : refusals) {
    statuses += fmt::format("{}{} of status {}", statuses.empty() ? "" : ", ", count, status);
  }
  if (!statuses.empty()) report.conditions["refused"] = finding(statuses);

  if (const std::string words = difference_in(answers, whole_answers); !words.empty()) {
    add(report.doubt, "tokens of the answers are " + words);
  }
  const double most_wrong = kMostWrong * double(whole_answers);
  if (double(miscounted.answers) > most_wrong) {
    add(report.doubt, fmt::format("{} of {} answers have another number of tokens than came, the "
                                  "first {}",
                                  miscounted.answers, whole_answers, miscounted.first));
  }
  if (empty_answers > 0) {
    report.conditions["answers without a token"] = finding(empty_answers);
  }
  if (double(empty_answers) > most_wrong) {
    add(report.doubt, fmt::format("{} of {} answers have no token", empty_answers, whole_answers));
  }
  if (longer.answers > 0) {
    add(report.doubt, fmt::format("{} of {} answers are longer than asked for (most_tokens), the "
                                  "first {}",
                                  longer.answers, whole_answers, longer.first));
  }
  const std::int64_t in_template = has_template ? prompts.by_usage.value_or(0) : 0;
  if (const std::string words = difference_in(prompts, in_template); !words.empty()) {
    add(report.doubt, "tokens of the prompts are " + words);
  }
  if (whole_answers > 0 && !answers.by_usage) {
    add(report.doubt, answers.by_tokenizer
                          ? "the server counts no tokens (usage), d5's tokenizer does"
                          : "the server counts no tokens (usage): a piece counts as one; name its "
                            "tokenizer");
  }
  if (asked_tokens && answers.by_usage && whole_answers > 0 &&
      differ(double(*asked_tokens) * double(whole_answers), double(*answers.by_usage))) {
    add(report.doubt, fmt::format("{} answers have {} tokens, {} each were asked for (ignore_eos)",
                                  whole_answers, *answers.by_usage, *asked_tokens));
  }
  if (cached > 0) report.conditions["cached prompt tokens"] = finding(cached, "token");
  if (expects_fresh && cached > shared + tokens_of_templates()) {
    const std::string although =
        prompts.by_trace ? fmt::format("prompts of the trace share {} with earlier ones", shared)
                         : "each prompt began with a nonce";
    add(report.doubt, fmt::format("the server took {} prompt tokens from its cache, although {}",
                                  cached, although));
  }
  if (garbled > 0) {
    add(report.doubt, fmt::format("{} answers have bytes that are not UTF-8", garbled));
  }
  if (run_seconds >= kShortest && busy_share > kMostBusy) {
    report.fault = fmt::format(
        "the client's thread was busy for {:.0f}% of the time, more than {:.0f}%; ask less at a "
        "time, or from another machine",
        100 * busy_share, 100 * kMostBusy);
  }
  return report;
}

}  // namespace d5::detail
