// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "level3_distributed/sparse/parts/stream_message.hpp"

namespace d5::detail {

/// The first half of algorithms that split: part r of every rank's stream goes to rank r. Parts
/// begin at `begins`, of which there is one more than ranks.
void exchange_parts(StreamMessages& messages, const Communicator& ranks, const SparseStream& stream,
                    const std::vector<std::int64_t>& begins);
/// Once the messages are there: this rank's part, added in the order of ranks.
[[nodiscard]] SparseStream sum_of_parts(const StreamMessages& messages, const Communicator& ranks,
                                        const SparseStream& stream,
                                        const std::vector<std::int64_t>& begins);
/// Equal parts.
[[nodiscard]] std::vector<std::int64_t> equal_begins(std::int64_t size, int ranks);

}  // namespace d5::detail
