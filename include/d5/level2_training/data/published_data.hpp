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

/// A file of a published data set, with its expected size and checksum.
struct PublishedFile {
  std::string name;
  std::size_t bytes;  ///< as published; mirrors may compress it differently
  std::string sha256;
  Download::Sum sum_of = Download::Sum::file;
};

/// Source of a data set. Its name in the registry is that of the `DatasetEntry` that reads it.
struct PublishedData {
  std::string folder;   ///< folder of its files, below $D5_DATA_DIR and below the cache
  std::string content;  ///< its size: "60,000 + 10,000 images"
  std::string licence;
  std::string source;                     ///< web page for people
  std::vector<std::string> mirrors = {};  ///< URL prefixes of file names, tried in order
  std::vector<PublishedFile> files = {};  ///< files that can be downloaded
  std::string by_hand = {};               ///< instructions if nothing can be downloaded
};

/// Registered sources by name.
[[nodiscard]] Registry<PublishedData>& published_data();

/// Folder with the files of `name`: the first existing one of $D5_DATA_DIR/<its folder> and the one
/// that `fetch_data` uses; empty if there is neither.
[[nodiscard]] std::string found_data(const std::string& name);
/// Folder in the user's cache, which may not exist yet: $XDG_CACHE_HOME/d5/data/<its folder>.
/// Throws: NotFound; IoError if there is no cache.
[[nodiscard]] std::string cached_data(const std::string& name);

struct FetchOptions {
  std::string folder = {};  ///< destination; empty: `cached_data`
  std::string mirror = {};  ///< tried before the known ones; a trailing "/" is optional
  Interrupt interrupt = {};
  /// Called before each download.
  std::function<void(const PublishedFile&)> on_file = {};
};
/// Downloads missing files and resumes interrupted downloads. Returns the folder.
/// Throws: NotFound; Unsupported for a data set that must be downloaded by hand, with instructions;
/// IoError with the file, its checksum and its destination; Interrupted.
std::string fetch_data(const std::string& name, const FetchOptions& options = {});

/// State of one file of a data set in a folder.
struct FileState {
  enum class Is { right, unpacked, missing, wrong } is;  ///< in words: `word_of`
  std::string file;
  std::string reason;  ///< what is wrong
};
/// Returns "right", "unpacked", "missing" or "wrong".
[[nodiscard]] std::string word_of(FileState::Is is);
/// Verifies the checksums of all files of `name` in `folder`. An unpacked file is verified if the
/// checksum is of the content.
/// Throws: NotFound, IoError, Interrupted.
[[nodiscard]] std::vector<FileState> verify_data(const std::string& name, const std::string& folder,
                                                 const Interrupt& interrupt = {});

}  // namespace d5
