// SPDX-License-Identifier: Apache-2.0
#include "level2_training/training/older_checkpoints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

namespace fs = std::filesystem;

/// Separator between a checkpoint's name and its step.
constexpr std::string_view kStep = ".step-";

}  // namespace

std::vector<std::string> older_checkpoints(const std::string& path) {
  const fs::path target(path);
  const std::string begin = target.filename().string().append(kStep);
  struct Found {
    fs::file_time_type written;
    fs::path path;
  };
  std::vector<Found> found;
  std::error_code ignored;
  const fs::path folder = target.has_parent_path() ? target.parent_path() : ".";
  for (fs::directory_iterator entry(folder, ignored), none; !ignored && entry != none;
       entry.increment(ignored)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(begin)) continue;
    const std::string step = name.substr(begin.size());
    if (step.empty() || step.find_first_not_of("0123456789") != std::string::npos) continue;
    found.push_back({entry->last_write_time(ignored), entry->path()});
  }
  std::ranges::sort(found, [](const Found& a, const Found& b) { return a.written > b.written; });
  std::vector<std::string> result;
  for (auto& one : found) result.push_back(one.path.string());
  return result;
}

void keep_as_older(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return;
  std::string name;
  try {
    name = fmt::format("{}{}{}", path, kStep, step_in_checkpoint(path));
  } catch (const FormatError&) {
    return;
  }
  fs::remove(name, error);
  fs::create_hard_link(path, name, error);
  if (!error) return;
  // A file system without hard links gets a copy.
  fs::copy_file(path, name, error);
  if (error) {
    throw IoError(fmt::format("cannot keep checkpoint '{}' as '{}': {}", printable(path),
                              printable(name), error.message()));
  }
}

void remove_older(const std::string& path, std::int64_t most) {
  const auto found = older_checkpoints(path);
  std::error_code ignored;  // another process removed one meanwhile
  for (std::size_t i = std::size_t(most); i < found.size(); ++i) fs::remove(found[i], ignored);
}

}  // namespace d5::detail
