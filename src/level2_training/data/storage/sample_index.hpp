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

/// Where the samples of a file are: of sample i, part p is `lengths[i * parts + p]` bytes from
/// `begins[i * parts + p]` on.
///
/// It may stand beside its file, as a safetensors file of its own (docs/reference/file_formats.md,
/// "Index of samples"), tied to it by the size and by a CRC-32C of each part, checked when it is
/// read.
struct SampleIndex {
  std::int64_t parts = 1;
  std::vector<std::int64_t> begins, lengths;
  std::vector<std::uint32_t> sums;  ///< CRC-32C; empty where nobody computed them
  std::vector<std::string> names;   ///< of the samples; empty where these have none
  std::vector<Dataset::Field> fields;

  [[nodiscard]] std::int64_t samples() const { return std::int64_t(begins.size()) / parts; }
};

/// Writes `path` + ".index". `container` is who can read it; the file has `bytes` bytes.
void write_index(const SampleIndex& index, const std::string& path, const std::string& container,
                 std::size_t bytes);

/// The index beside `path`, if there is one.
/// Throws: FormatError for one that is broken, of another file or of another container.
[[nodiscard]] std::optional<SampleIndex> read_index(const std::string& path,
                                                    const std::string& container,
                                                    std::size_t bytes);

/// What is done about indices.
struct IndexOptions {
  enum class Use { beside, memory, write } index = Use::beside;
  void declare(OptionList& options) {
    options.add(
        "index", index,
        "the one beside a file, if there is one; or made anew, in memory, or written beside",
        {"beside", "memory", "write"});
  }
};

}  // namespace d5::detail
