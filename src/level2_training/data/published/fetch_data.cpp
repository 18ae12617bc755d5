// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "core/files/cache_folder.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/artefact_store.hpp"
#include "d5/level2_training/data/published_data.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;

Download download_of(const PublishedData& data, const PublishedFile& file,
                     const std::string& mirror) {
  constexpr std::size_t kMostRatio = 20;  // ratio of MNIST's labels, which compress best
  Download what{.urls = {}, .sha256 = file.sha256, .sum_of = file.sum_of};
  what.most_bytes = file.bytes * (file.sum_of == Download::Sum::content ? kMostRatio : 1);
  const auto add = [&](std::string folder) {
    if (!folder.ends_with('/')) folder += '/';
    what.urls.push_back(folder + file.name);
  };
  if (!mirror.empty()) add(mirror);
  for (const auto& known : data.mirrors) add(known);
  return what;
}

/// Downloads through the store if the digest is the file's own. If it is that of the content,
/// several different files may be valid.
void fetch_file(const Download& what, const PublishedFile& file, const std::string& path,
                const Interrupt& interrupt) {
  if (file.sum_of == Download::Sum::content) return download(what, path, interrupt);
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored) && fault_of(path, what, interrupt).empty()) return;
  const ArtefactStore store;
  (void)store.fetch({.name = file.name, .urls = what.urls, .bytes = 0, .sha256 = file.sha256},
                    interrupt);
  store.place(file.sha256, path);
}

/// Instructions for users without a network.
std::string by_hand(const std::string& name, const PublishedData& data, const std::string& folder) {
  std::string text =
      fmt::format("without a network, put these files into '{}' and run 'd5 data verify {}':",
                  printable(folder), name);
  for (const auto& file : data.files) {
    text += fmt::format("\n  {} ({} bytes, SHA-256 {}{})", file.name, file.bytes,
                        file.sum_of == Download::Sum::content ? "of the uncompressed content " : "",
                        file.sha256);
  }
  return text;
}

FileState state_of(const PublishedData& data, const PublishedFile& file, const std::string& folder,
                   const Interrupt& interrupt) {
  const Download what = download_of(data, file, {});
  const auto judge = [&](const std::string& name) {
    const std::string fault = fault_of((fs::path(folder) / name).string(), what, interrupt);
    return FileState{fault.empty() ? FileState::Is::right : FileState::Is::wrong, name, fault};
  };
  std::error_code ignored;
  if (fs::is_regular_file(fs::path(folder) / file.name, ignored)) return judge(file.name);
  const std::string unpacked = fs::path(file.name).stem().string();
  if (file.name.ends_with(".gz") && fs::is_regular_file(fs::path(folder) / unpacked, ignored)) {
    if (file.sum_of == Download::Sum::content) return judge(unpacked);
    return {FileState::Is::unpacked, unpacked, "the published checksum is of the packed file"};
  }
  return {FileState::Is::missing, file.name, "is not there"};
}

}  // namespace

std::string cached_data(const std::string& name) {
  const fs::path cache = detail::user_cache();
  if (cache.empty()) {
    throw IoError("there is no cache folder: set HOME, or XDG_CACHE_HOME to a folder");
  }
  return (cache / "data" / published_data().at(name).folder).string();
}

std::string found_data(const std::string& name) {
  const std::string& folder = published_data().at(name).folder;
  std::error_code ignored;
  if (const char* shared = std::getenv("D5_DATA_DIR")) {
    const fs::path path = fs::path(shared) / folder;
    if (fs::is_directory(path, ignored)) return path.string();
  }
  const fs::path cache = detail::user_cache();
  const fs::path path = cache / "data" / folder;
  return !cache.empty() && fs::is_directory(path, ignored) ? path.string() : std::string();
}

std::string fetch_data(const std::string& name, const FetchOptions& options) {
  const PublishedData& data = published_data().at(name);
  const std::string folder = options.folder.empty() ? cached_data(name) : options.folder;
  if (data.files.empty()) {
    throw Unsupported(
        fmt::format("data set {} cannot be fetched by a program ({}): see {}; {}: '{}'", name,
                    data.licence, data.source, data.by_hand, printable(folder)));
  }
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw IoError(fmt::format("cannot make folder '{}': {}; XDG_CACHE_HOME names another place",
                              printable(folder), error.message()));
  }
  for (const auto& file : data.files) {
    if (options.on_file) options.on_file(file);
    try {
      fetch_file(download_of(data, file, options.mirror), file,
                 (fs::path(folder) / file.name).string(), options.interrupt);
    } catch (const IoError& failure) {
      throw IoError(fmt::format("{}\n{}", failure.what(), by_hand(name, data, folder)));
    }
  }
  return folder;
}

std::vector<FileState> verify_data(const std::string& name, const std::string& folder,
                                   const Interrupt& interrupt) {
  const PublishedData& data = published_data().at(name);
  std::vector<FileState> states;
  for (const auto& file : data.files) states.push_back(state_of(data, file, folder, interrupt));
  return states;
}

}  // namespace d5
