// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5 {

/// The manifest of a data set that is a folder of files, one a sample, as YAML: its folders are the
/// classes, in the order of their names, which are its `labels`; without folders all files are of
/// class 0. Files whose names begin with a dot are left out. What only its author knows (task,
/// licence) is to be filled in.
///
/// `name` as a manifest's name may be; empty: the folder's. The folder is named below $D5_DATA_DIR,
/// where it is searched later, or else by its last name alone.
///
///     write_file("mine.yaml", described_folder("/data/flowers"));
///
/// Throws: IoError for no folder, or files that cannot be read; ValueError without files, and for
/// folders within folders.
[[nodiscard]] std::string described_folder(const std::string& folder, const std::string& name = "");

}  // namespace d5
