// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace d5::detail {

/// Step number in a checkpoint file; its content is not verified. Throws: IoError, FormatError.
[[nodiscard]] std::int64_t step_in_checkpoint(const std::string& path);

/// Gives the checkpoint at `path`, which is about to be replaced, a second name with its step:
/// "run.ckpt.step-1500". A file that is not a checkpoint gets none. Throws: IoError.
void keep_as_older(const std::string& path);

/// Existing names of this kind for `path`, the latest first.
[[nodiscard]] std::vector<std::string> older_checkpoints(const std::string& path);

/// Removes all such files of `path` except the `most` latest.
void remove_older(const std::string& path, std::int64_t most);

}  // namespace d5::detail
