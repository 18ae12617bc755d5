// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/files/clutter.hpp"
#include "d5/core/errors/error.hpp"
#include "level2_training/data/encoded_files.hpp"
#include "level2_training/data/storage/tar.hpp"
#include "level2_training/data/storage/unpacked_file.hpp"

namespace d5::detail {
namespace {

constexpr std::string_view kArchive = ".tar";

class ArchiveList {
 public:
  ArchiveList(std::shared_ptr<const MappedFile> archive, const std::vector<std::string>& endings,
              const Interrupt& interrupt)
      : archive_(std::move(archive)), endings_(endings), interrupt_(interrupt) {}

  /// Adds the content of the archive `bytes`, named `place` in messages, below the folder `below`.
  void add(std::string_view bytes, const std::string& place, const std::string& below) {
    TarReader reader(bytes, place);
    for (TarReader::Member member; reader.next(member);) {
      interrupt_.check(fmt::format("listing '{}'", printable(place)));
      const std::string_view content = bytes.substr(member.begin, member.length);
      const std::string path = place + "/" + member.name;
      const std::string name = std::filesystem::path(below + member.name).lexically_normal();
      if (has_clutter(name)) continue;
      if (member.name.ends_with(kArchive) && below.empty()) {
        add(content, path, name.substr(0, name.size() - kArchive.size()) + "/");
      } else if (ends_in(member.name, endings_)) {
        files_.push_back({.path = path, .name = name, .archive = archive_, .content = content});
      }
    }
  }

  std::vector<EncodedFile> take() {
    std::ranges::sort(files_, {}, &EncodedFile::name);
    return std::move(files_);
  }

 private:
  std::shared_ptr<const MappedFile> archive_;
  const std::vector<std::string>& endings_;
  const Interrupt& interrupt_;
  std::vector<EncodedFile> files_;
};

}  // namespace

std::vector<EncodedFile> files_in_archive(const std::string& path,
                                          const std::vector<std::string>& endings,
                                          const Interrupt& interrupt) {
  const auto archive = std::make_shared<MappedFile>(path);
  expect_not_packed(archive->bytes(), path);
  ArchiveList list(archive, endings, interrupt);
  list.add(archive->bytes(), path, "");
  return list.take();
}

}  // namespace d5::detail
