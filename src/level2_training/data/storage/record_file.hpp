// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "d5/core/interrupts/interrupt.hpp"
#include "level2_training/data/storage/sample_index.hpp"
#include "level2_training/data/storage/unpacked_file.hpp"

namespace d5::detail {

/// A TFRecord file: records of a length (uint64), its masked CRC-32C, data, their masked CRC-32C. A
/// file that is compressed as a whole, by gzip or zlib, is decompressed into memory.
/// Source: TensorFlow, "TFRecord and tf.train.Example", "TFRecords format details".
class RecordFile {
 public:
  static constexpr std::int64_t kBefore = 12, kBehind = 4;  ///< bytes around a record's data

  /// Throws: IoError; FormatError for a broken compressed stream; MemoryError if its content
  /// exceeds the memory budget; Interrupted.
  RecordFile(const std::string& path, const Interrupt& interrupt);
  [[nodiscard]] const std::string& path() const { return file_.path(); }
  /// Unpacked.
  [[nodiscard]] std::string_view bytes() const { return file_.bytes(); }
  /// Locates the records' data in one pass over the lengths, and verifies the lengths' checksums.
  /// Throws: FormatError with the byte, Interrupted.
  [[nodiscard]] SampleIndex index(const Interrupt& interrupt) const;
  /// Fault of the record with that data; empty if there is none.
  [[nodiscard]] std::string flaw(std::int64_t begin, std::int64_t length) const;

 private:
  UnpackedFile file_;
};

/// A record in the file's format.
[[nodiscard]] std::string framed_record(std::string_view data);

}  // namespace d5::detail
