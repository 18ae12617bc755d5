// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "d5/core/entries/registry.hpp"
#include "d5/core/files/download.hpp"
#include "d5/core/interrupts/interrupt.hpp"

namespace d5 {

/// A file of a published data set, and what it must be.
struct PublishedFile {
  std::string name;
  std::size_t bytes;  ///< as its publisher has it; mirrors may pack otherwise
  std::string sha256;
  Download::Sum sum_of = Download::Sum::file;
};

/// Where a data set comes from. Its name in the registry is that of the `DatasetEntry` that reads
/// it.
struct PublishedData {
  std::string folder;   ///< of its files, below $D5_DATA_DIR and below the cache
  std::string content;  ///< how much it is: "60,000 + 10,000 images"
  std::string licence;
  std::string source;                     ///< a page for people
  std::vector<std::string> mirrors = {};  ///< what a file's name is put behind, tried in order
  std::vector<PublishedFile> files = {};  ///< that can be fetched
  std::string by_hand = {};               ///< what to do where nothing can be
};

/// All by name.
[[nodiscard]] Registry<PublishedData>& published_data();

/// The folder where the files of `name` are: the first that there is of $D5_DATA_DIR/<its folder>
/// and the one that `fetch_data` puts them in; empty where there is neither.
[[nodiscard]] std::string found_data(const std::string& name);
/// The folder in the user's cache, made by nobody yet: $XDG_CACHE_HOME/d5/data/<its folder>.
/// Throws: NotFound; IoError where there is no cache.
[[nodiscard]] std::string cached_data(const std::string& name);

struct FetchOptions {
  std::string folder = {};  ///< where to; empty: `cached_data`
  std::string mirror = {};  ///< tried before those that are known, with "/" at its end or not
  Interrupt interrupt = {};
  /// Called with each file before it is fetched.
  std::function<void(const PublishedFile&)> on_file = {};
};
/// Fetches what is not there yet, and goes on with what was interrupted. Returns the folder.
/// Throws: NotFound; Unsupported for a set that has to be fetched by hand, with how; IoError, which
/// says which file with which checksum goes where; Interrupted.
std::string fetch_data(const std::string& name, const FetchOptions& options = {});

/// One file of a set as it lies in a folder.
struct FileState {
  enum class Is { right, unpacked, missing, wrong } is;  ///< in words: `word_of`
  std::string file;
  std::string reason;  ///< of what is wrong
};
/// "right", "unpacked", "missing", "wrong".
[[nodiscard]] std::string word_of(FileState::Is is);
/// The checksums of all files of `name` in `folder`. An unpacked file is judged where the checksum
/// is of the content.
/// Throws: NotFound, IoError, Interrupted.
[[nodiscard]] std::vector<FileState> verify_data(const std::string& name, const std::string& folder,
                                                 const Interrupt& interrupt = {});

}  // namespace d5
