// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "level3_distributed/sparse/parts/stream_message.hpp"

namespace d5::detail {

/// The split phase: sends part r of every rank's stream to rank r. Parts begin at `begins`, which
/// has one more element than there are ranks.
void exchange_parts(StreamMessages& messages, const Communicator& ranks, const SparseStream& stream,
                    const std::vector<std::int64_t>& begins);
/// This rank's part, summed in rank order, after the messages have arrived.
[[nodiscard]] SparseStream sum_of_parts(const StreamMessages& messages, const Communicator& ranks,
                                        const SparseStream& stream,
                                        const std::vector<std::int64_t>& begins);
/// The starts of equal parts.
[[nodiscard]] std::vector<std::int64_t> equal_begins(std::int64_t size, int ranks);

}  // namespace d5::detail
