// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "d5/level2_training/container.hpp"
#include "level2_training/storage/shard_name.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;

struct ShardName {
  std::size_t number, count;
};

/// All digits of `text` as a number.
std::optional<std::size_t> number_in(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

/// What `name` says if it is a shard of "STEM.EXTENSION".
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

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(folder.empty() ? "." : folder, error), none;
  for (; !error && entry != none; entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

std::string detail::shard_name(const std::string& path, std::size_t number, std::size_t count) {
  const fs::path whole(path);
  const std::string name = fmt::format("{}-{:05}-of-{:05}{}", whole.stem().string(), number, count,
                                       whole.extension().string());
  return (whole.parent_path() / name).string();
}

std::vector<std::string> detail::shards_of(const std::string& path) {
  const fs::path whole(path);
  std::vector<std::string> files;
  std::size_t count = 0;
  for (const auto& name : names_in(whole.parent_path())) {
    const auto shard = shard_of(name, whole.stem().string(), whole.extension().string());
    if (!shard) continue;
    if (files.empty()) count = shard->count;
    if (shard->count != count) {
      throw FormatError(
          fmt::format("'{}' has shards of two sets, of {} and of {} files; take one "
                      "of these sets away",
                      printable(path), count, shard->count));
    }
    if (shard->number != files.size()) {
      throw FormatError(fmt::format("'{}' is to have {} shards, but '{}' is missing",
                                    printable(path), count,
                                    printable(shard_name(path, files.size(), count))));
    }
    files.push_back((whole.parent_path() / name).string());
  }
  if (files.size() != count) {
    throw FormatError(fmt::format("'{}' is to have {} shards, but '{}' is missing", printable(path),
                                  count, printable(shard_name(path, files.size(), count))));
  }
  return files;
}

std::vector<std::string> container_files(const std::string& path, std::string_view extension) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    std::vector<std::string> files;
    for (const auto& name : names_in(path)) {
      if (name.ends_with(fmt::format(".{}", extension))) files.push_back(fs::path(path) / name);
    }
    if (files.empty()) {
      throw NotFound(fmt::format("folder '{}' holds no file .{}; give a file, or another container",
                                 printable(path), extension));
    }
    return files;
  }
  if (fs::exists(path, ignored)) return {path};
  auto files = detail::shards_of(path);
  if (files.empty()) {
    throw NotFound(fmt::format("there is no '{}', nor shards of it ('{}')", printable(path),
                               printable(detail::shard_name(path, 0, 4))));
  }
  return files;
}

std::shared_ptr<const Dataset> open_container(std::string_view container, const std::string& path,
                                              const Settings& settings,
                                              const Interrupt& interrupt) {
  const auto format = containers().at(container).make(settings);
  return format->open(container_files(path, format->extension()), interrupt);
}

}  // namespace d5
