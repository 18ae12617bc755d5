// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::detail {

/// Where a rank keeps its part of a checkpoint: rank 0 in FILE itself, rank 1 in "FILE.rank-1".
[[nodiscard]] std::string part_of_rank(const std::string& file, int rank);

/// This rank's part of the newest checkpoint that all ranks have a part of: FILE's, or an older one
/// where a job was killed between their writes. `file` may be empty on some ranks, or on all, which
/// resume nothing: then so is what it returns. Where another number of ranks wrote it, all have
/// rank 0's part, if that `suits_any_ranks`. A collective.
/// Throws: FormatError, on every rank, if there is no such checkpoint.
[[nodiscard]] std::string common_checkpoint(const std::string& file, Communicator& ranks,
                                            bool suits_any_ranks);

}  // namespace d5::detail
