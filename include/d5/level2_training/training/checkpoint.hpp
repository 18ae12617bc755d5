// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "d5/core/tensor/value.hpp"

namespace d5 {

/// A training run at one moment. File format: docs/reference/file_formats.md, "Checkpoint"; it is a
/// safetensors file with a checksum in its metadata.
struct Checkpoint {
  static constexpr int kVersion = 1;
  std::string recipe;      ///< `TrainerOptions::recipe`
  std::int64_t epoch = 0;  ///< that the next batch belongs to
  std::int64_t batch = 0;  ///< the next batch of that epoch
  std::int64_t step = 0;   ///< batches since the beginning
  /// `TrainerOptions::settings`; none where the file does not say.
  std::map<std::string, std::string> settings = {};
  std::int64_t ranks = 0;  ///< that have a part each of what was saved; 0: the file does not say
  /// "parameter/NAME", "constant/NAME", "optimizer/NAME", "metric/METRIC/NAME"
  ValueMap tensors = {};
};

/// Replaces `path` as a whole; a crash at any moment leaves the old file or the new.
/// Throws: IoError, Unsupported for a value that is no tensor or of a type that safetensors lacks.
void write_checkpoint(const Checkpoint& checkpoint, const std::string& path);

/// Throws: IoError; FormatError with the place for a file that is truncated, changed, of another
/// kind or of a newer version.
[[nodiscard]] Checkpoint read_checkpoint(const std::string& path);

/// Whether a checkpoint holds tensors of this element type.
[[nodiscard]] bool fits_checkpoint(DType dtype);

}  // namespace d5
