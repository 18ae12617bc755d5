// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <glob.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "core/files/clutter.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/container.hpp"
#include "level2_training/data/storage/shard_name.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;

struct ShardName {
  std::size_t number, count;
};

/// The number in `text`, if all characters are digits.
std::optional<std::size_t> number_in(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

/// Parses `name` as a shard of "STEM.EXTENSION".
std::optional<ShardName> shard_of(std::string_view name, const std::string& stem,
                                  const std::string& extension) {
  if (!name.starts_with(stem + "-") || !name.ends_with(extension)) return {};
  name.remove_prefix(stem.size() + 1);
  if (name.size() < extension.size()) return {};
  name.remove_suffix(extension.size());
  const std::size_t of = name.find("-of-");
  if (of == name.npos) return {};
  const auto number = number_in(name.substr(0, of)), count = number_in(name.substr(of + 4));
  if (!number || !count) return {};
  return ShardName{*number, *count};
}

constexpr std::string_view kPacked = ".gz";

/// The name of a file without its extension, and the extension: ".tar", and ".tar.gz" as one.
struct FileName {
  std::string stem, ending;
};

FileName split_name(const fs::path& path) {
  const fs::path name = path.filename();
  if (name.extension() != kPacked) return {name.stem().string(), name.extension().string()};
  const fs::path packed = name.stem();
  return {packed.stem().string(), packed.extension().string() + std::string(kPacked)};
}

/// "train-00000-of-01024": TensorFlow's shards have no extension.
bool is_named_by_tensorflow(std::string_view name) {
  const std::size_t of = name.rfind("-of-");
  if (of == name.npos || of == 0) return false;
  const std::size_t begin = name.rfind('-', of - 1);
  return begin != name.npos && number_in(name.substr(begin + 1, of - begin - 1)) &&
         number_in(name.substr(of + 4));
}

/// Whether a file of that name belongs to a container.
bool ends_in(std::string_view name, std::string_view extension) {
  if (extension == "tfrecord" && is_named_by_tensorflow(name)) return true;
  if (name.ends_with(kPacked)) name.remove_suffix(kPacked.size());
  return name.size() > extension.size() && name.ends_with(extension) &&
         name[name.size() - extension.size() - 1] == '.';
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(folder.empty() ? "." : folder, error), none;
  for (; !error && entry != none; entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (!detail::is_clutter(name)) names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

/// The files that match the pattern, sorted by name.
std::vector<std::string> matches(const std::string& pattern) {
  struct Found {
    ~Found() { ::globfree(&list); }
    glob_t list{};
  } found;
  if (::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found.list) != 0) return {};
  std::vector<std::string> files(found.list.gl_pathv, found.list.gl_pathv + found.list.gl_pathc);
  // Companion files are not samples' files.
  std::erase_if(files, [](const auto& file) { return file.ends_with(detail::kIndexSuffix); });
  std::ranges::sort(files);
  return files;
}

/// The containers with files in the folder.
std::vector<std::string> containers_in(const std::string& folder) {
  std::vector<std::string> found;
  const auto names = names_in(folder);
  for (const auto& [container, entry] : containers().entries()) {
    const std::string extension = entry.make()->extension();
    const auto is_one = [&](const auto& name) { return ends_in(name, extension); };
    if (std::ranges::any_of(names, is_one)) found.push_back(container);
  }
  return found;
}

}  // namespace

std::string detail::shard_name(const std::string& path, std::size_t number, std::size_t count) {
  const auto [stem, ending] = split_name(path);
  const std::string name = fmt::format("{}-{:05}-of-{:05}{}", stem, number, count, ending);
  return (fs::path(path).parent_path() / name).string();
}

std::vector<std::string> detail::shards_of(const std::string& path) {
  const fs::path whole(path);
  const auto [stem, ending] = split_name(whole);
  std::vector<std::string> files;
  std::size_t count = 0;
  for (const auto& name : names_in(whole.parent_path())) {
    const auto shard = shard_of(name, stem, ending);
    if (!shard) continue;
    if (files.empty()) count = shard->count;
    if (shard->count != count) {
      throw FormatError(
          fmt::format("'{}' has shards of two sets, of {} and of {} files; take one "
                      "of these sets away",
                      printable(path), count, shard->count));
    }
    if (shard->number != files.size()) {
      throw FormatError(fmt::format("'{}' should have {} shards, but '{}' is missing",
                                    printable(path), count,
                                    printable(shard_name(path, files.size(), count))));
    }
    files.push_back((whole.parent_path() / name).string());
  }
  if (files.size() != count) {
    throw FormatError(fmt::format("'{}' should have {} shards, but '{}' is missing",
                                  printable(path), count,
                                  printable(shard_name(path, files.size(), count))));
  }
  return files;
}

std::string container_of(const std::string& path) {
  std::error_code ignored;
  const bool is_folder = fs::is_directory(path, ignored);
  const auto found = is_folder ? containers_in(path) : std::vector<std::string>();
  if (found.size() == 1) return found[0];
  if (found.size() > 1) {
    throw NotFound(fmt::format("folder '{}' holds files of {}; name the container", printable(path),
                               fmt::join(found, ", ")));
  }
  // "train" of "train-00000-of-01024"
  const bool has_shards = !is_folder && !fs::exists(path, ignored) &&
                          is_named_by_tensorflow(detail::shard_name(path, 0, 1)) &&
                          !detail::shards_of(path).empty();
  if (has_shards) return container_of(detail::shards_of(path).front());
  std::vector<std::string> endings;
  for (const auto& [name, entry] : containers().entries()) {
    endings.push_back("." + entry.make()->extension());
    if (!is_folder && ends_in(path, endings.back().substr(1))) return name;
  }
  throw NotFound(fmt::format("'{}' {} in none of {}; name the container ('d5 list containers')",
                             printable(path), is_folder ? "is a folder, whose files end" : "ends",
                             fmt::join(endings, ", ")));
}

std::vector<std::string> container_files(const std::string& path, std::string_view extension) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    std::vector<std::string> files;
    for (const auto& name : names_in(path)) {
      if (ends_in(name, extension)) files.push_back(fs::path(path) / name);
    }
    if (files.empty()) {
      throw NotFound(fmt::format("folder '{}' holds no file .{}; give a file, or another container",
                                 printable(path), extension));
    }
    return files;
  }
  if (fs::exists(path, ignored)) return {path};
  const bool is_pattern = path.find_first_of("*?[") != std::string::npos;
  auto files = is_pattern ? matches(path) : detail::shards_of(path);
  if (files.empty()) {
    if (is_pattern) throw NotFound(fmt::format("'{}' fits no file", printable(path)));
    throw NotFound(fmt::format("there is no '{}', nor shards of it ('{}')", printable(path),
                               printable(detail::shard_name(path, 0, 4))));
  }
  return files;
}

std::shared_ptr<const Dataset> open_container(std::string_view container, const std::string& path,
                                              const Settings& settings,
                                              const Interrupt& interrupt) {
  const std::string name = container.empty() ? container_of(path) : std::string(container);
  const auto format = containers().at(name).make(settings);
  return format->open(container_files(path, format->extension()), interrupt);
}

}  // namespace d5
