// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/published/archive_files.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "core/files/utf8_names.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;

class Reader {
 public:
  explicit Reader(const std::string& path)
      : path_(path), archive_(archive_read_new(), archive_read_free) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) {
      throw IoError(fmt::format("'{}' is not a file", printable(path)));
    }
    archive_read_support_format_tar(archive_.get());
    archive_read_support_filter_gzip(archive_.get());
    check(archive_read_open_filename(archive_.get(), path.c_str(), kPiece));
  }

  /// The next regular file; null at the end.
  archive_entry* next() {
    for (;;) {
      archive_entry* entry = nullptr;
      const int status = archive_read_next_header(archive_.get(), &entry);
      if (status == ARCHIVE_EOF) return nullptr;
      if (status != ARCHIVE_WARN) check(status);  // a name of an older code page
      if (archive_entry_filetype(entry) == AE_IFREG) return entry;
    }
  }

  std::string content(const std::string& name, std::size_t most_bytes, const Interrupt& interrupt) {
    std::string bytes, piece(kPiece, '\0');
    for (;;) {
      interrupt.check(fmt::format("reading '{}'", printable(path_)));
      const la_ssize_t got = archive_read_data(archive_.get(), piece.data(), piece.size());
      if (got == 0) return bytes;
      if (got < 0) check(int(got));
      if (std::size_t(got) > most_bytes - bytes.size()) {
        fail(fmt::format("{} has more than {} bytes", printable(name), most_bytes));
      }
      bytes.append(piece, 0, std::size_t(got));
    }
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw FormatError(fmt::format("'{}', byte {}: {}; fetch it again", printable(path_),
                                  archive_filter_bytes(archive_.get(), -1), what));
  }
  void check(int status) const {
    if (status == ARCHIVE_OK) return;
    const char* reason = archive_error_string(archive_.get());
    fail(reason ? printable(reason) : "is not a complete tar archive");
  }

  std::string path_;
  std::unique_ptr<archive, decltype(&archive_read_free)> archive_;
};

}  // namespace

void read_archive(const std::string& path, std::size_t most_bytes,
                  const std::function<bool(const std::string& name)>& wanted,
                  const ArchiveVisit& visit, const Interrupt& interrupt) {
  const Utf8Names utf8;
  Reader reader(path);
  while (archive_entry* entry = reader.next()) {
    interrupt.check(fmt::format("reading '{}'", printable(path)));
    const char* whole = archive_entry_pathname(entry);
    const std::string name = std::filesystem::path(whole ? whole : "").filename().string();
    if (wanted(name)) visit(name, reader.content(name, most_bytes, interrupt));
  }
}

}  // namespace d5::detail
