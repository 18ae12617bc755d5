// SPDX-License-Identifier: Apache-2.0
#include "core/files/zip.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <memory>

#include "core/files/utf8_names.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

struct ReadEnd {
  void operator()(archive* reader) const { archive_read_free(reader); }
};

constexpr std::size_t kPiece = std::size_t{1} << 20;
constexpr std::time_t kFirstDay = 315532800;  // 1980-01-01, the first date of the zip format

}  // namespace

std::vector<ZipMember> read_zip(std::string_view bytes, const std::string& file,
                                std::size_t most_bytes, const Interrupt& interrupt) {
  const Utf8Names utf8;
  const std::unique_ptr<archive, ReadEnd> reader(archive_read_new());
  const auto fail = [&] {
    const char* const reason = archive_error_string(reader.get());
    throw FormatError(fmt::format(
        "'{}', byte {} of the archive: {}; it is damaged, or not a zip archive", printable(file),
        archive_filter_bytes(reader.get(), 0), printable(reason ? reason : "no details")));
  };
  archive_read_support_format_zip_seekable(reader.get());  // reads the central directory
  if (archive_read_open_memory(reader.get(), bytes.data(), bytes.size()) != ARCHIVE_OK) fail();
  std::vector<ZipMember> members;
  std::size_t total = 0;
  archive_entry* entry = nullptr;
  for (;;) {
    const int status = archive_read_next_header(reader.get(), &entry);
    if (status == ARCHIVE_EOF) return members;
    // A warning means a name in an older code page, which is returned as raw bytes.
    if (status != ARCHIVE_OK && status != ARCHIVE_WARN) fail();
    const char* name = archive_entry_pathname_utf8(entry);
    if (!name) name = archive_entry_pathname(entry);
    ZipMember& member = members.emplace_back();
    member.name = name ? name : "";
    for (;;) {
      interrupt.check(fmt::format("unpacking '{}'", printable(file)));
      const std::size_t done = member.bytes.size();
      if (total + kPiece > most_bytes) {
        throw MemoryError(fmt::format("'{}' unpacks to more than the memory budget of {} bytes",
                                      printable(file), most_bytes));
      }
      member.bytes.resize(done + kPiece);
      const auto count = archive_read_data(reader.get(), member.bytes.data() + done, kPiece);
      if (count < 0) fail();
      member.bytes.resize(done + std::size_t(count));
      total += std::size_t(count);
      if (count == 0) break;
    }
    member.bytes.shrink_to_fit();
  }
}

ZipWriter::ZipWriter(Compression compression) : archive_(archive_write_new()) {
  auto* const writer = static_cast<archive*>(archive_);
  const auto write = [](archive*, void* to, const void* bytes, std::size_t count) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(bytes), count);
    return la_ssize_t(count);
  };
  check(archive_write_set_format_zip(writer));
  check(compression == Compression::none ? archive_write_zip_set_compression_store(writer)
                                         : archive_write_zip_set_compression_deflate(writer));
  check(archive_write_set_bytes_in_last_block(writer, 1));  // no padding as on tapes
  check(archive_write_open(writer, &bytes_, nullptr, write, nullptr));
}

ZipWriter::~ZipWriter() { archive_write_free(static_cast<archive*>(archive_)); }

void ZipWriter::check(int status) const {
  if (status == ARCHIVE_OK) return;
  throw IoError(fmt::format("cannot write a zip archive: {}",
                            archive_error_string(static_cast<archive*>(archive_))));
}

void ZipWriter::add(const std::string& name, std::string_view bytes) {
  const Utf8Names utf8;
  auto* const writer = static_cast<archive*>(archive_);
  const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(),
                                                                       archive_entry_free);
  archive_entry_update_pathname_utf8(entry.get(), name.c_str());
  archive_entry_set_size(entry.get(), la_int64_t(bytes.size()));
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_mtime(entry.get(), kFirstDay, 0);
  check(archive_write_header(writer, entry.get()));
  while (!bytes.empty()) {
    const auto count = archive_write_data(writer, bytes.data(), bytes.size());
    if (count <= 0) check(ARCHIVE_FATAL);
    bytes.remove_prefix(std::size_t(count));
  }
}

std::string ZipWriter::finish() {
  check(archive_write_close(static_cast<archive*>(archive_)));
  return std::move(bytes_);
}

}  // namespace d5::detail
