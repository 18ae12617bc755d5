// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "d5/core/results/measurement.hpp"

namespace d5 {

/// The record of one queried sample.
///
/// Units: nanoseconds on the monotonic clock, like `Trace::now_ns`; 0: it never happened.
struct QueryRecord {
  std::int64_t id = 0;         ///< counted from 0 in the order of issue
  std::int64_t sample = 0;     ///< number in the data set
  std::int32_t batch = 0;      ///< size of the batch that it was computed in
  std::int64_t scheduled = 0;  ///< scheduled time of issue
  std::int64_t issued = 0;     ///< actual time of issue
  std::int64_t begun = 0;      ///< start of its computation, as reported by the system
  std::int64_t first = 0;      ///< arrival of the first piece with tokens
  std::int64_t answered = 0;   ///< arrival of the first piece with tokens that is no reasoning
  std::int64_t ended = 0;      ///< arrival of the answer, on the scenario's clock
  std::int64_t tokens = 0;     ///< tokens of the answer; 0: the system reports none
  /// Passed, or failed: refused, or not answered in time.
  Status status = Status::passed;
  bool operator==(const QueryRecord&) const = default;
};

/// Kind of a piece of a generated answer.
enum class PieceKind {
  role,       ///< opens the answer, without tokens
  reasoning,  ///< tokens before the answer proper
  content,    ///< tokens of the answer
  tool        ///< tokens of a call of a tool
};

/// A piece of an answer that has tokens, as it arrived: 16 bytes, so that a million are 16 MB.
struct TokenPiece {
  std::int64_t at = 0;      ///< arrival, in ns on the scenario's clock
  std::uint32_t query = 0;  ///< `QueryRecord::id`
  std::uint32_t tokens = 0;
  bool operator==(const TokenPiece&) const = default;
};
static_assert(sizeof(TokenPiece) == 16);

/// A kept answer, to be judged later.
struct KeptAnswer {
  std::int64_t id = 0, sample = 0;
  std::vector<std::byte> bytes = {};
  bool operator==(const KeptAnswer&) const = default;
};

}  // namespace d5
