// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "d5/core/tensor/value.hpp"

namespace d5 {

/// State of a training run. File format: docs/reference/file_formats.md, "Checkpoint"; a
/// safetensors file with a checksum in its metadata.
struct Checkpoint {
  static constexpr int kVersion = 1;
  std::string recipe;      ///< `TrainerOptions::recipe`
  std::int64_t epoch = 0;  ///< epoch of the next batch
  std::int64_t batch = 0;  ///< index of the next batch in that epoch
  std::int64_t step = 0;   ///< batches since the beginning
  /// `TrainerOptions::settings`; empty if the file has none.
  std::map<std::string, std::string> settings = {};
  std::int64_t ranks = 0;  ///< number of ranks that each saved a part; 0: unknown
  /// "parameter/NAME", "constant/NAME", "optimizer/NAME", "metric/METRIC/NAME"
  ValueMap tensors = {};
};

/// Writes `path` atomically: a crash leaves either the old file or the new one.
/// Throws: IoError; Unsupported for a value that is not a tensor, or of a type that safetensors
/// lacks.
void write_checkpoint(const Checkpoint& checkpoint, const std::string& path);

/// Throws: IoError; FormatError with the position for a file that is truncated, corrupted, of
/// another kind or of a newer version.
[[nodiscard]] Checkpoint read_checkpoint(const std::string& path);

/// Whether a checkpoint holds tensors of this element type.
[[nodiscard]] bool fits_checkpoint(DType dtype);

}  // namespace d5
