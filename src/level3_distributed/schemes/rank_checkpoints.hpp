// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::detail {

/// The file of a rank's part of a checkpoint: FILE itself for rank 0, "FILE.rank-1" for rank 1.
[[nodiscard]] std::string part_of_rank(const std::string& file, int rank);

/// This rank's part of the newest checkpoint that all ranks have: FILE's, or an older one if a job
/// was killed between the writes. Returns an empty name where `file` is empty (nothing to resume).
/// If another number of ranks wrote it, all ranks get rank 0's part, provided that it
/// `suits_any_ranks`. A collective.
/// Throws: FormatError, on every rank, if there is no such checkpoint.
[[nodiscard]] std::string common_checkpoint(const std::string& file, Communicator& ranks,
                                            bool suits_any_ranks);

}  // namespace d5::detail
