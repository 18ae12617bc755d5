// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "d5/evaluation/load/arrival_stream.hpp"

namespace d5 {

/// A request of a recorded service.
struct TracedRequest {
  double at = 0;                                      ///< arrival in s from the replay's start
  std::int64_t line = 0;                              ///< its line in the file, from 1
  std::int64_t prompt_tokens = 0, answer_tokens = 0;  ///< 0: the file has no lengths
  std::size_t first_block = 0, blocks = 0;            ///< place in `RequestTrace::blocks`
};

/// The requests of a service, as a file has them: when they came, and how long they were.
///
/// | format | first line |
/// | --- | --- |
/// | "azure" | TIMESTAMP,ContextTokens,GeneratedTokens: a date and a time of day |
/// | "burstgpt" | Timestamp,...,Request tokens,Response tokens,...: seconds |
/// | "mooncake" | {"timestamp": ms, "input_length": ..., "output_length": ..., "hash_ids": [...]} |
/// | "times" | any other: seconds in the first column, with or without a header |
///
/// A prompt is its blocks, one after the other, each of `RecordingOptions::block` tokens but the
/// last. Equal ids are equal blocks. What follows the blocks is the request's own.
/// Source: Azure Public Dataset (2023, 2024); Wang et al., "BurstGPT" (2024); Qin et al.,
/// "Mooncake" (FAST'25).
struct RequestTrace {
  std::string format = {};
  std::vector<TracedRequest> requests = {};  ///< in the order of arrival
  std::vector<std::uint64_t> blocks = {};    ///< ids, request by request
  std::int64_t left_out = 0;  ///< requests without a prompt or an answer: the service had failed

  [[nodiscard]] bool has_lengths() const { return format != "times"; }
  [[nodiscard]] std::span<const std::uint64_t> blocks_of(const TracedRequest& request) const {
    return std::span(blocks).subspan(request.first_block, request.blocks);
  }
  /// Time from a round to the next in a loop, in s: a mean gap follows the last request.
  [[nodiscard]] double round_seconds() const {
    const double length = requests.back().at - requests.front().at;
    return length + length / double(requests.size() - 1);
  }
};

/// The part of a recording that the options choose, at their speed.
///
///     const RequestTrace trace = read_trace({.file = "conversation_trace.jsonl", .most = 1000});
///
/// Lines are read as far as they are needed. Throws: IoError; FormatError with file, line and
/// column; ValueError for options that do not fit.
[[nodiscard]] RequestTrace read_trace(const RecordingOptions& options);

}  // namespace d5
