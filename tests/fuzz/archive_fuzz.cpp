// SPDX-License-Identifier: Apache-2.0
// Archives among artefacts, tar, packed tar and zip: refused, or unpacked below their folder,
// within their limit. What is refused leaves nothing.
#include <archive.h>
#include <archive_entry.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "core/files/artefact_places.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/artefact_store.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/mutation.hpp"
#include "temporary_folder.hpp"

namespace d5::fuzz {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kMostUnpacked = 20'000;

std::string packed(int (*format)(archive*), int (*filter)(archive*)) {
  std::array<char, std::size_t{1} << 16> bytes{};
  std::size_t used = 0;
  archive* writer = archive_write_new();
  format(writer);
  filter(writer);
  archive_write_open_memory(writer, bytes.data(), bytes.size(), &used);
  for (const auto& [path, size] : {std::pair{"a/1.txt", 700}, {"a/b/2", 0}, {"long", 6000}}) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, path);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, size);
    archive_write_header(writer, entry);
    const std::string content(std::size_t(size), 'x');
    archive_write_data(writer, content.data(), content.size());
    archive_entry_free(entry);
  }
  archive_write_close(writer);
  archive_write_free(writer);
  return {bytes.data(), used};
}

const std::vector<std::string>& sound() {
  static const std::vector<std::string> archives = {
      packed(archive_write_set_format_ustar, archive_write_add_filter_none),
      packed(archive_write_set_format_pax, archive_write_add_filter_none),
      packed(archive_write_set_format_gnutar, archive_write_add_filter_gzip),
      packed(archive_write_set_format_ustar, archive_write_add_filter_xz),
      packed(archive_write_set_format_zip, archive_write_add_filter_none)};
  return archives;
}

}  // namespace

std::string name() { return "archive"; }

void prepare() { (void)sound(); }

std::string make_case(RandomStream& random) {
  std::string bytes = pick(random, sound());
  if (one_in(random, 8)) bytes += pick(random, sound());
  for (auto changes = random.below(4); changes > 0; --changes) {
    bytes = one_in(random, 2) ? with_damage(bytes, random) : with_flipped_bit(bytes, random);
  }
  return bytes;
}

std::string run_case(const std::string& bytes) {
  const testing::TemporaryFolder folder;
  const ArtefactStore store(folder / "store");
  const std::string digest(64, 'a');  // nobody asks here, and `add` waits for the disk
  d5::detail::ArtefactPlaces(store.folder()).make();
  std::ofstream(store.path_of(digest)) << bytes;
  const auto within = [&] { return folder.names() == std::vector<std::string>{"store"}; };
  try {
    std::uint64_t unpacked = 0;
    for (const auto& entry :
         fs::recursive_directory_iterator(store.unpack(digest, kMostUnpacked))) {
      if (entry.is_symlink()) return "a link was unpacked";
      if (entry.is_regular_file()) unpacked += entry.file_size();
    }
    if (unpacked > kMostUnpacked) return "more was unpacked than is allowed";
  } catch (const Error&) {
    if (!fs::is_empty(folder / "store/unpacked")) return "something is left of what was refused";
    if (!within()) return "something was written elsewhere";
    throw;
  }
  return within() ? "" : "something was written elsewhere";
}

}  // namespace d5::fuzz
