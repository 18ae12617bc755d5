// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "level2_training/data/storage/sample_index.hpp"
#include "level2_training/data/storage/unpacked_file.hpp"

namespace d5::detail {

/// Keyword of the global pax header that describes the fields of an archive's samples, as JSON.
inline constexpr const char* kFieldsKeyword = "D5.fields";

/// Splits names of files in a tar archive as WebDataset does. Files of one sample share the stem:
/// the name up to the first dot of its last component. The rest is the field, and its last part the
/// type of content: "cls" is an int64 in decimal digits, "npy" a tensor, anything else a string of
/// bytes.
struct TarName {
  std::string stem, suffix;  ///< both empty for a file that is not part of a sample
};
[[nodiscard]] TarName split_tar_name(std::string_view name);

/// File name of a field after the stem: "image.npy", "label.cls", "jpg".
[[nodiscard]] std::string suffix_of(const Dataset::Field& field);

/// Escapes any sample name as a stem, and the inverse.
[[nodiscard]] std::string stem_of(std::string_view name);
[[nodiscard]] std::string name_of_stem(std::string_view stem);

/// Finds the samples of an archive, with one part per field. Fields are those that the archive
/// declares, or those called `fields` (suffixes), or those of the first sample.
/// Throws: FormatError with file and byte if a sample lacks a field, or has another one or the same
/// one twice; Unsupported; Interrupted.
[[nodiscard]] SampleIndex index_tar(const UnpackedFile& file,
                                    const std::vector<std::string>& fields,
                                    const Interrupt& interrupt);

}  // namespace d5::detail
