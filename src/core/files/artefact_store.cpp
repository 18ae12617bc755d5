// SPDX-License-Identifier: Apache-2.0
#include "d5/core/files/artefact_store.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <limits>

#include "core/files/artefact_places.hpp"
#include "core/files/artefact_quota.hpp"
#include "core/files/cache_folder.hpp"
#include "core/files/file_lock.hpp"
#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/files/download.hpp"
#include "d5/core/numbers/byte_count.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;
using detail::ArtefactPlaces;
using detail::FileLock;
using detail::is_digest;

/// A file fetched within this time may be in use: s.
constexpr std::int64_t kInUse = 3600;

void protect(const fs::path& file) { ::chmod(file.c_str(), 0444); }

void expect_space(const fs::path& folder, const Asset& asset) {
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  if (error || space.available >= asset.bytes) return;
  throw IoError(
      fmt::format("'{}' has {} bytes, but the folder of artefacts, '{}', has {} free; 'd5 artefact "
                  "gc' removes some, D5_CACHE_DIR selects another folder",
                  printable(asset.name), asset.bytes, printable(folder.string()), space.available));
}

/// Removes an abandoned partial transfer, unless another process resumes it.
void remove_partial(const ArtefactPlaces& places, const fs::path& path) {
  // The name is "<digest>.<12 digits>.part".
  const std::string sha256 = path.stem().stem().string();
  if (!is_digest(sha256) || !FileLock::if_free(places.lock(sha256))) return;
  std::error_code ignored;
  fs::remove(path, ignored);
}

/// `collect` for files last used before `before`.
std::vector<Asset> remove_oldest(const ArtefactPlaces& places,
                                 std::vector<ArtefactStore::Held> held, std::uint64_t most_bytes,
                                 const std::vector<std::string>& keep, std::int64_t before) {
  std::uint64_t total = 0;
  for (const auto& one : held) total += one.asset.bytes;
  std::vector<Asset> removed;
  std::ranges::reverse(held);
  for (auto& one : held) {
    if (total <= most_bytes || one.used >= before) break;
    const std::string& sha256 = one.asset.sha256;
    if (std::ranges::find(keep, sha256) != keep.end()) continue;
    const auto lock = FileLock::if_free(places.lock(sha256));
    if (!lock || !places.remove(sha256)) continue;
    total -= one.asset.bytes;
    removed.push_back(std::move(one.asset));
  }
  return removed;
}

std::uint64_t total_bytes(const std::vector<ArtefactStore::Held>& held) {
  std::uint64_t total = 0;
  for (const auto& one : held) total += one.asset.bytes;
  return total;
}

/// Throws: IoError if the quota leaves no room for it.
void make_room(const ArtefactStore& store, const Asset& asset) {
  const std::uint64_t most = detail::artefact_quota();
  if (most == std::numeric_limits<std::uint64_t>::max()) return;
  const auto full = [&](const char* why) {
    return IoError(fmt::format(
        "no room for '{}' ({} bytes) among the artefacts in '{}': D5_ARTEFACT_QUOTA is {}, {}",
        printable(asset.name), asset.bytes, printable(store.folder()), byte_words(most), why));
  };
  if (asset.bytes > most) throw full("which is less");
  (void)remove_oldest(ArtefactPlaces(store.folder()), store.list(), most - asset.bytes, {},
                      std::time(nullptr) - kInUse);
  if (total_bytes(store.list()) > most - asset.bytes)
    throw full("and the others were used just now");
}

}  // namespace

std::uint64_t detail::artefact_quota() {
  const char* words = std::getenv("D5_ARTEFACT_QUOTA");
  if (!words || !*words) return std::numeric_limits<std::uint64_t>::max();
  try {
    return byte_count(words);
  } catch (const ValueError& error) {
    throw ValueError(fmt::format("D5_ARTEFACT_QUOTA: {}", error.what()));
  }
}

void check_digest(const std::string& sha256, const std::string& who) {
  if (is_digest(sha256)) return;
  throw ValueError(fmt::format("{}: SHA-256 is '{}', expected 64 digits of 0-9 and a-f", who,
                               printable(sha256)));
}

std::string ArtefactStore::usual_folder() {
  const fs::path cache = detail::kept_folder();
  if (cache.empty()) {
    throw IoError("there is no folder for artefacts: set HOME, or D5_CACHE_DIR to a folder");
  }
  return (cache / "artefacts").string();
}

ArtefactStore::ArtefactStore(std::string folder) : folder_(std::move(folder)) {}

std::string ArtefactStore::path_of(const std::string& sha256) const {
  check_digest(sha256, "artefact");
  return ArtefactPlaces(folder_).file(sha256).string();
}

bool ArtefactStore::has(const std::string& sha256) const {
  std::error_code ignored;
  return fs::is_regular_file(path_of(sha256), ignored);
}

std::string ArtefactStore::fetch(const Asset& asset, const Interrupt& interrupt) const {
  check_digest(asset.sha256, fmt::format("artefact '{}'", printable(asset.name)));
  const ArtefactPlaces places(folder_);
  places.make();
  const std::string path = path_of(asset.sha256);
  Download what{
      .urls = asset.urls, .sha256 = asset.sha256, .sum_of = Download::Sum::file, .most_bytes = 0};
  what.most_bytes = asset.bytes > 0 ? asset.bytes : std::size_t{1} << 40;
  const FileLock lock(places.lock(asset.sha256), interrupt);
  const std::string fault = has(asset.sha256) ? fault_of(path, what, interrupt) : "is not there";
  if (!fault.empty()) {
    if (asset.urls.empty()) {
      throw IoError(fmt::format(
          "artefact '{}' ({}): {}, and no address is given; 'd5 artefact add FILE' puts it there",
          printable(asset.name), asset.sha256, fault));
    }
    make_room(*this, asset);
    expect_space(places.files(), asset);
    download(what, path, interrupt);
    protect(path);
  }
  const std::uint64_t bytes = places.asset(asset.sha256).bytes;
  if (asset.bytes > 0 && bytes != asset.bytes) {
    throw FormatError(fmt::format("artefact '{}' has {} bytes, expected {}; its digest is {}",
                                  printable(asset.name), bytes, asset.bytes, asset.sha256));
  }
  places.note(asset);
  return path;
}

Asset ArtefactStore::add(const std::string& file, const Interrupt& interrupt) const {
  Asset asset;
  asset.name = fs::path(file).filename().string();
  asset.sha256 = detail::sha256_of_file(file, interrupt);
  std::error_code error;
  asset.bytes = fs::file_size(file, error);
  const ArtefactPlaces places(folder_);
  places.make();
  const fs::path path = places.file(asset.sha256);
  const FileLock lock(places.lock(asset.sha256), interrupt);
  if (!has(asset.sha256) || detail::sha256_of_file(path.string(), interrupt) != asset.sha256) {
    make_room(*this, asset);
    expect_space(places.files(), asset);
    ReplacedFile copy(path.string());
    detail::Sha256 sum;
    const auto take = [&](std::string_view piece) {
      sum.add(piece);
      copy.write(piece);
    };
    detail::for_each_piece(file, take, interrupt);
    if (sum.digest() != asset.sha256) {
      throw IoError(fmt::format("'{}' changed while it was read; add it again", printable(file)));
    }
    copy.commit();
    protect(path);
  }
  places.note(asset);
  return asset;
}

void ArtefactStore::place(const std::string& sha256, const std::string& path) const {
  const std::string file = path_of(sha256);
  const std::string beside = fmt::format("{}.{}.link", path, sha256.substr(0, 12));
  ::unlink(beside.c_str());
  if (::link(file.c_str(), beside.c_str()) == 0) {
    if (::rename(beside.c_str(), path.c_str()) == 0) {
      ::unlink(beside.c_str());  // rename keeps it if both are links to one file
      return;
    }
    ::unlink(beside.c_str());
  }
  ReplacedFile copy(path);
  detail::for_each_piece(file, [&](std::string_view piece) { copy.write(piece); });
  copy.commit();
}

std::vector<ArtefactStore::Held> ArtefactStore::list() const {
  const ArtefactPlaces places(folder_);
  std::vector<Held> held;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(places.files(), none)) {
    const std::string name = entry.path().filename().string();
    if (is_digest(name)) held.push_back({places.asset(name), places.used(name)});
  }
  std::ranges::sort(held, [](const Held& a, const Held& b) {
    return a.used != b.used ? a.used > b.used : a.asset.sha256 < b.asset.sha256;
  });
  return held;
}

std::vector<ArtefactStore::Fault> ArtefactStore::verify(const Interrupt& interrupt) const {
  std::vector<Fault> faults;
  for (auto& [asset, when] : list()) {
    const std::string given = detail::sha256_of_file(path_of(asset.sha256), interrupt);
    if (given == asset.sha256) continue;
    faults.push_back({asset, fmt::format("SHA-256 is {}, expected {}", given, asset.sha256)});
  }
  return faults;
}

std::vector<Asset> ArtefactStore::collect(std::uint64_t most_bytes,
                                          const std::vector<std::string>& keep) const {
  const ArtefactPlaces places(folder_);
  std::error_code none;
  std::vector<fs::path> partial;
  for (const auto& entry : fs::directory_iterator(places.files(), none)) {
    if (entry.path().extension() == ".part") partial.push_back(entry.path());
  }
  for (const auto& path : partial) remove_partial(places, path);
  return remove_oldest(places, list(), most_bytes, keep, std::numeric_limits<std::int64_t>::max());
}

}  // namespace d5
