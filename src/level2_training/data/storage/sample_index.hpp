// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/level2_training/data/dataset.hpp"

namespace d5::detail {

/// Locations of a file's samples: part p of sample i is `lengths[i * parts + p]` bytes from
/// `begins[i * parts + p]` on.
///
/// It may be saved beside its file as a safetensors file (docs/reference/file_formats.md, "Index of
/// samples"). The file's size, and a CRC-32C of each part, checked when it is read, tie it to the
/// file.
struct SampleIndex {
  std::int64_t parts = 1;
  std::vector<std::int64_t> begins, lengths;
  std::vector<std::uint32_t> sums;  ///< CRC-32C; empty if they were not computed
  std::vector<std::string> names;   ///< names of the samples; empty if they have none
  std::vector<Dataset::Field> fields;

  [[nodiscard]] std::int64_t samples() const { return std::int64_t(begins.size()) / parts; }
};

/// Writes `path` + ".index". `container` is the format that can read it; the file has `bytes`
/// bytes.
void write_index(const SampleIndex& index, const std::string& path, const std::string& container,
                 std::size_t bytes);

/// Reads the index beside `path`, if there is one.
/// Throws: FormatError for an index that is broken, or belongs to another file or container.
[[nodiscard]] std::optional<SampleIndex> read_index(const std::string& path,
                                                    const std::string& container,
                                                    std::size_t bytes);

/// Use of index files.
struct IndexOptions {
  enum class Use { beside, memory, write } index = Use::beside;
  void declare(OptionList& options) {
    options.add("index", index,
                "index of a file: read from beside it if present, built in memory, or built and "
                "written beside it",
                {"beside", "memory", "write"});
  }
};

}  // namespace d5::detail
