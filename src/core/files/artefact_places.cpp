// SPDX-License-Identifier: Apache-2.0
#include "core/files/artefact_places.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/parsing/json_reader.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"

namespace d5::detail {

namespace fs = std::filesystem;

bool is_digest(std::string_view text) {
  constexpr std::size_t kDigits = 64;
  return text.size() == kDigits && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

void ArtefactPlaces::make() const {
  for (const char* part : {"sha256", "about", "locks"}) {
    std::error_code error;
    fs::create_directories(folder_ / part, error);
    if (error) {
      throw IoError(fmt::format("cannot make folder '{}': {}", printable((folder_ / part).string()),
                                error.message()));
    }
  }
}

void ArtefactPlaces::note(const Asset& asset) const {
  // The content never changes, so the modification time can store the time of the last use.
  ::utimensat(AT_FDCWD, file(asset.sha256).c_str(), nullptr, 0);
  const fs::path path = about(asset.sha256);
  std::error_code ignored;
  if (asset.urls.empty() && fs::exists(path, ignored)) return;
  const nlohmann::json json = {{"name", asset.name}, {"urls", asset.urls}};
  write_file(path.string(), json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
}

Asset ArtefactPlaces::asset(const std::string& sha256) const {
  Asset asset;
  asset.sha256 = sha256;
  std::error_code absent;
  if (const auto bytes = fs::file_size(file(sha256), absent); !absent) asset.bytes = bytes;
  try {
    constexpr std::size_t kMostBytes = std::size_t{1} << 20;
    const std::string path = about(sha256).string();
    const JsonReader json(read_file(path, kMostBytes), path);
    asset.name = json.text("name", "");
    asset.urls = json.texts("urls");
  } catch (const Error&) {
  }
  return asset;
}

std::int64_t ArtefactPlaces::used(const std::string& sha256) const {
  struct stat status{};
  return ::stat(file(sha256).c_str(), &status) == 0 ? std::int64_t(status.st_mtime) : 0;
}

bool ArtefactPlaces::remove(const std::string& sha256) const {
  std::error_code error;
  if (!fs::remove(file(sha256), error)) return false;
  fs::remove(about(sha256), error);
  fs::remove_all(unpacked(sha256), error);
  return true;
}

}  // namespace d5::detail
