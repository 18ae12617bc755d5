// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/load/query_summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "evaluation/load/load_record.hpp"

namespace d5 {
namespace {

using detail::kNanosecond;
using detail::latency_begin;

/// Calls `f(records of a query)` for each.
template <class F>
void for_each_query(const ScenarioResult& result, const F& f) {
  const std::span records(result.queries);
  const auto size = std::size_t(result.samples_per_query);
  for (std::size_t i = 0; i < records.size(); i += size) {
    f(records.subspan(i, std::min(size, records.size() - i)));
  }
}

/// Calls `f(query, its pieces)` for each query, in the order of issue; queries without pieces have
/// an empty span.
template <class F>
void for_each_answer(const ScenarioResult& result, const F& f) {
  std::span<const TokenPiece> rest(result.pieces);
  for (const QueryRecord& query : result.queries) {
    const auto end = std::ranges::find_if(
        rest, [&](const TokenPiece& piece) { return std::int64_t(piece.query) != query.id; });
    const auto count = std::size_t(end - rest.begin());
    f(query, rest.first(count));
    rest = rest.subspan(count);
  }
}

/// Tokens of an answer with a time of their own. The system may count one more: the token that ends
/// the answer has no text, and no piece brings it.
std::int64_t timed_tokens(const QueryRecord& query, std::span<const TokenPiece> pieces) {
  std::int64_t in_pieces = 0;
  for (const TokenPiece& piece : pieces) in_pieces += piece.tokens;
  return query.tokens == in_pieces + 1 ? in_pieces : query.tokens;
}

/// Time per output token, in s; NaN if it is undefined.
double tpot_of(const QueryRecord& query, std::span<const TokenPiece> pieces) {
  if (pieces.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  const std::int64_t after = timed_tokens(query, pieces) - std::int64_t(pieces.front().tokens);
  if (after < 1) return std::numeric_limits<double>::quiet_NaN();
  return double(pieces.back().at - pieces.front().at) * kNanosecond / double(after);
}

}  // namespace

TokenTimes token_times(const ScenarioResult& result) {
  TokenTimes times;
  for_each_answer(result, [&](const QueryRecord& query, std::span<const TokenPiece> pieces) {
    if (pieces.empty()) return;
    const std::int64_t begin = latency_begin(result, query);
    times.ttft.push_back(double(query.first - begin) * kNanosecond);
    if (query.answered) times.ttfa.push_back(double(query.answered - begin) * kNanosecond);
    if (const double tpot = tpot_of(query, pieces); !std::isnan(tpot)) times.tpot.push_back(tpot);
    std::int64_t stall = 0;
    for (std::size_t i = 1; i < pieces.size(); ++i) {
      stall = std::max(stall, pieces[i].at - pieces[i - 1].at);
    }
    if (pieces.size() > 1) times.stall.push_back(double(stall) * kNanosecond);
  });
  return times;
}

std::vector<bool> kept_limits(const ScenarioResult& result) {
  const auto [ttft, tpot, latency] = result.limits;
  std::vector<bool> kept;
  for_each_answer(result, [&](const QueryRecord& query, std::span<const TokenPiece> pieces) {
    const auto within = [&](double limit, std::int64_t end) {
      return limit <= 0 || (end > 0 && double(end - latency_begin(result, query)) <= limit * 1e9);
    };
    const double per_token = tpot_of(query, pieces);
    const bool is_steady =
        tpot <= 0 || (!pieces.empty() && (std::isnan(per_token) || per_token <= tpot));
    kept.push_back(query.ended > 0 && query.status == Status::passed && within(ttft, query.first) &&
                   within(latency, query.ended) && is_steady);
  });
  return kept;
}

std::vector<TokenGap> token_gaps(const ScenarioResult& result) {
  std::vector<TokenGap> gaps;
  std::size_t answers = 0;
  for_each_answer(result, [&](const QueryRecord&, std::span<const TokenPiece> pieces) {
    for (std::size_t i = 1; i < pieces.size(); ++i) {
      const double gap = double(pieces[i].at - pieces[i - 1].at) * kNanosecond;
      gaps.push_back({gap / double(pieces[i].tokens), pieces[i].tokens, answers});
    }
    if (pieces.size() > 1) ++answers;
  });
  std::ranges::sort(gaps, {}, &TokenGap::seconds);
  return gaps;
}

double token_quantile(std::span<const TokenGap> gaps, double q) {
  std::int64_t all = 0, within = 0;
  for (const TokenGap& gap : gaps) all += gap.tokens;
  for (const TokenGap& gap : gaps) {
    within += gap.tokens;
    if (double(within) >= q * double(all)) return gap.seconds;
  }
  return gaps.empty() ? std::numeric_limits<double>::quiet_NaN() : gaps.back().seconds;
}

std::vector<double> query_latencies(const ScenarioResult& result) {
  std::vector<double> latencies;
  for_each_query(result, [&](std::span<const QueryRecord> query) {
    std::int64_t end = 0;
    for (const QueryRecord& sample : query) {
      if (!sample.ended || sample.status != Status::passed) return;  // a refusal is no answer
      end = std::max(end, sample.ended);
    }
    latencies.push_back(double(end - latency_begin(result, query[0])) * kNanosecond);
  });
  return latencies;
}

std::vector<double> query_lags(const ScenarioResult& result) {
  std::vector<double> lags;
  for_each_query(result, [&](std::span<const QueryRecord> query) {
    lags.push_back(double(query[0].issued - query[0].scheduled) * kNanosecond);
  });
  return lags;
}

double throughput(const ScenarioResult& result) {
  std::int64_t answered = 0, end = 0;
  for (const QueryRecord& query : result.queries) {
    if (!query.ended || query.status != Status::passed) continue;
    ++answered;
    end = std::max(end, query.ended);
  }
  if (answered == 0) return std::numeric_limits<double>::quiet_NaN();
  return double(answered) /
         (double(end - latency_begin(result, result.queries.front())) * kNanosecond);
}

}  // namespace d5
