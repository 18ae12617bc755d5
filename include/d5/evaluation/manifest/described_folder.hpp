// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5 {

/// Writes the manifest (YAML) of a data set for a folder of files, one per sample. Its sub-folders
/// are the classes, in the order of their names, which become `labels`; without sub-folders all
/// files belong to class 0. Files whose names begin with a dot are left out. Files that all end
/// with .txt are samples of modality text. Fill in what only the author knows (task, licence).
///
/// `name`: a valid manifest name; empty: the folder's. The folder is named relative to
/// $D5_DATA_DIR, or else to the working directory if it is below it, where the manifest then
/// belongs, or else by its whole path.
///
///     write_file("mine.yaml", described_folder("/data/flowers"));
///
/// Throws: IoError if there is no folder, or files cannot be read; ValueError without files, and
/// for nested folders.
[[nodiscard]] std::string described_folder(const std::string& folder, const std::string& name = "");

}  // namespace d5
