// SPDX-License-Identifier: Apache-2.0
#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "core/files/artefact_places.hpp"
#include "core/files/file_lock.hpp"
#include "core/files/utf8_names.hpp"
#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;

/// Unpacks an archive below a folder, and refuses entries outside of it.
class Unpacking {
 public:
  Unpacking(const std::string& file, std::string folder, std::uint64_t most_bytes)
      : file_(file), folder_(std::move(folder)), most_bytes_(most_bytes) {
    archive_read_support_filter_all(reader_.get());
    archive_read_support_format_tar(reader_.get());
    archive_read_support_format_zip(reader_.get());
    // In addition to `place`: guards against an archive that makes a link and writes through it.
    archive_write_disk_set_options(
        writer_.get(), ARCHIVE_EXTRACT_SECURE_NODOTDOT | ARCHIVE_EXTRACT_SECURE_SYMLINKS);
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    check(archive_read_open_filename(reader_.get(), file.c_str(), kPiece), reader_.get());
  }

  void run(const Interrupt& interrupt) {
    const detail::Utf8Names utf8;
    for (;;) {
      interrupt.check("unpacking");
      archive_entry* entry = nullptr;
      const int status = archive_read_next_header(reader_.get(), &entry);
      if (status == ARCHIVE_EOF) return;
      if (status != ARCHIVE_WARN) check(status, reader_.get());  // a name of an older code page
      place(entry);
      write(entry, interrupt);
    }
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw FormatError(fmt::format("archive '{}': {}", printable(file_), what));
  }
  void check(int status, archive* what) const {
    if (status == ARCHIVE_OK) return;
    const char* reason = archive_error_string(what);
    fail(reason ? printable(reason) : "is not a complete tar or zip archive");
  }

  /// Sets the entry's path within the folder.
  void place(archive_entry* entry) const {
    const char* given = archive_entry_pathname(entry);
    const fs::path name = given ? given : "";
    const auto kind = archive_entry_filetype(entry);
    if ((kind != AE_IFREG && kind != AE_IFDIR) || archive_entry_hardlink(entry)) {
      fail(fmt::format("'{}' is a link or a device; only files and folders are unpacked",
                       printable(name.string())));
    }
    bool leads_out = name.empty() || name.is_absolute();
    for (const auto& part : name) leads_out |= part == "..";
    if (leads_out) {
      fail(fmt::format("'{}' would be written outside of its folder", printable(name.string())));
    }
    archive_entry_set_pathname(entry, (fs::path(folder_) / name).c_str());
    archive_entry_set_perm(entry, kind == AE_IFDIR ? 0755 : 0644);
  }

  void write(archive_entry* entry, const Interrupt& interrupt) {
    const std::uint64_t most = most_bytes_ - bytes_;
    // The declared size, which may exceed the data (a file with holes), or be missing.
    std::uint64_t end = std::uint64_t(std::max<la_int64_t>(archive_entry_size(entry), 0));
    const auto expect_room = [&] {
      if (end > most) fail(fmt::format("unpacks to more than {} bytes", most_bytes_));
    };
    expect_room();
    check(archive_write_header(writer_.get(), entry), writer_.get());
    const void* piece = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    for (;;) {
      interrupt.check("unpacking");
      const int status = archive_read_data_block(reader_.get(), &piece, &size, &offset);
      if (status == ARCHIVE_EOF) break;
      check(status, reader_.get());
      if (offset < 0) fail("has a piece before the beginning of its file");
      end = std::max(end, std::uint64_t(offset) + size);
      expect_room();
      if (archive_write_data_block(writer_.get(), piece, size, offset) < ARCHIVE_OK) {
        throw IoError(fmt::format("cannot unpack to '{}': {}", printable(folder_),
                                  archive_error_string(writer_.get())));
      }
    }
    bytes_ += end;
    check(archive_write_finish_entry(writer_.get()), writer_.get());
  }

  std::string file_, folder_;
  std::uint64_t most_bytes_, bytes_ = 0;
  std::unique_ptr<archive, decltype(&archive_read_free)> reader_{archive_read_new(),
                                                                 archive_read_free};
  std::unique_ptr<archive, decltype(&archive_write_free)> writer_{archive_write_disk_new(),
                                                                  archive_write_free};
};

}  // namespace

std::string ArtefactStore::unpack(const std::string& sha256, std::uint64_t most_bytes,
                                  const Interrupt& interrupt) const {
  const detail::ArtefactPlaces places(folder_);
  const std::string file = path_of(sha256);
  if (!has(sha256)) throw IoError(fmt::format("artefact {} is missing; fetch it first", sha256));
  const fs::path folder = places.unpacked(sha256);
  const detail::FileLock lock(places.lock(sha256), interrupt);
  std::error_code ignored;
  if (fs::is_directory(folder, ignored)) return folder.string();
  const fs::path part = folder.string() + ".part";
  fs::remove_all(part, ignored);
  fs::create_directories(part, ignored);
  try {
    Unpacking(file, part.string(), most_bytes).run(interrupt);
    fs::rename(part, folder);
  } catch (...) {
    fs::remove_all(part, ignored);
    throw;
  }
  return folder.string();
}

}  // namespace d5
