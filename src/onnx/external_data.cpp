// SPDX-License-Identifier: Apache-2.0
#include "onnx/external_data.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>
#include <vector>

#include "d5/core/errors/error.hpp"

namespace d5::onnx::detail {
namespace {

namespace fs = std::filesystem;

struct Location {
  std::string file;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
};

std::string who(const ::onnx::TensorProto& tensor) {
  return fmt::format("external data of tensor '{}'", printable(tensor.name()));
}

Location location_of(const ::onnx::TensorProto& tensor, const Source& source) {
  Location result;
  const auto number = [&](const auto& entry) {
    const std::string& text = entry.value();
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
      source.fail(fmt::format("{}: {} is '{}', expected a number of bytes", who(tensor),
                              printable(entry.key()), printable(text)));
    }
    return value;
  };
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") result.file = entry.value();
    if (entry.key() == "offset") result.offset = number(entry);
    if (entry.key() == "length") result.length = number(entry);
  }
  return result;
}

bool lies_in(const fs::path& file, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first ==
         folder.end();
}

/// Folders that links may lead to, as real paths: the folder in the model's path, and the folder of
/// its real file if the model is a link. In Hugging Face's cache, `snapshots/REVISION/model.onnx`
/// and the data beside it are links to files in `blobs`. A model written into a snapshot may have
/// its data there as well.
std::vector<fs::path> allowed_folders(const Source& source) {
  std::error_code error;
  std::vector<fs::path> folders{fs::canonical(*source.folder, error)};
  if (error) return {};
  const fs::path model = fs::canonical(source.file, error);
  if (!error) folders.push_back(model.parent_path());
  for (fs::path at = folders.front(); at.has_relative_path(); at = at.parent_path()) {
    if (at.parent_path().filename() != "snapshots") continue;
    const fs::path blobs = at.parent_path().parent_path() / "blobs";
    if (fs::is_directory(blobs, error)) folders.push_back(blobs);
    break;
  }
  return folders;
}

/// The real path of the file. Throws if it is outside the allowed folders.
std::string resolve(const ::onnx::TensorProto& tensor, const std::string& file,
                    const Source& source) {
  if (!source.folder) {
    source.fail(who(tensor) +
                ": there is no folder to find it in when a model is read from memory; "
                "load it from its file");
  }
  const fs::path name(file);
  const bool climbs = std::find(name.begin(), name.end(), fs::path("..")) != name.end();
  if (file.empty() || file.find('\0') != std::string::npos || name.is_absolute() || climbs) {
    source.fail(
        fmt::format("{}: location is '{}', expected a path inside the model's folder, "
                    "relative and without '..'",
                    who(tensor), printable(file)));
  }
  const auto folders = allowed_folders(source);
  fs::path real;
  std::error_code error = std::make_error_code(std::errc::no_such_file_or_directory);
  // The data of a linked model may be only beside the link's target.
  for (std::size_t i = 0; i < std::min<std::size_t>(folders.size(), 2) && error; ++i) {
    real = fs::canonical(folders[i] / name, error);
  }
  if (error) {
    throw IoError(fmt::format("'{}': {}: cannot read '{}': {}", printable(source.file), who(tensor),
                              printable(file), error.message()));
  }
  if (std::ranges::none_of(folders, [&](const auto& folder) { return lies_in(real, folder); })) {
    source.fail(fmt::format(
        "{}: '{}' is a link that leads out of the model's folder, to '{}'; put the file itself "
        "there",
        who(tensor), printable(file), printable(real.string())));
  }
  return real.string();
}

[[noreturn]] void fail(const std::string& path) {
  throw IoError(fmt::format("cannot read '{}': {}", printable(path), std::strerror(errno)));
}

}  // namespace

bool is_external(const ::onnx::TensorProto& tensor) {
  return tensor.data_location() == ::onnx::TensorProto::EXTERNAL;
}

ExternalData::ExternalData(const ::onnx::TensorProto& tensor, const Source& source,
                           std::size_t bytes) {
  try {
    check(tensor, source, bytes);
  } catch (...) {
    if (fd_ >= 0) ::close(fd_);
    throw;
  }
}

ExternalData::~ExternalData() { ::close(fd_); }

void ExternalData::check(const ::onnx::TensorProto& tensor, const Source& source,
                         std::size_t bytes) {
  const Location location = location_of(tensor, source);
  path_ = resolve(tensor, location.file, source);
  offset_ = location.offset;
  // Nonblocking: opening a pipe without a writer would never return.
  fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat status{};
  if (fd_ < 0 || ::fstat(fd_, &status) != 0) fail(path_);
  if (!S_ISREG(status.st_mode)) {
    source.fail(fmt::format("{}: '{}' is not a regular file", who(tensor), printable(path_)));
  }
  if (location.length && *location.length != bytes) {
    source.fail(fmt::format("{}: length is {}, expected {} bytes for its type and dimensions",
                            who(tensor), *location.length, bytes));
  }
  const auto size = std::uint64_t(status.st_size);
  if (offset_ > size || bytes > size - offset_) {
    source.fail(fmt::format("{}: {} bytes from byte {} on, but '{}' has {} bytes", who(tensor),
                            bytes, offset_, printable(location.file), size));
  }
}

void ExternalData::read(std::span<std::uint8_t> into) const {
  std::uint64_t offset = offset_;
  while (!into.empty()) {
    const ssize_t n = ::pread(fd_, into.data(), into.size(), off_t(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = EIO;  // the file was truncated
    if (n <= 0) fail(path_);
    into = into.subspan(std::size_t(n));
    offset += std::uint64_t(n);
  }
}

}  // namespace d5::onnx::detail
