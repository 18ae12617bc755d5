// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/file.hpp"

namespace d5::onnx {
namespace {

namespace fs = std::filesystem;

/// The number in "<prefix>12<suffix>".
std::optional<std::size_t> number_in(std::string_view name, std::string_view prefix,
                                     std::string_view suffix) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) return std::nullopt;
  if (name.size() <= prefix.size() + suffix.size()) return std::nullopt;
  name = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

/// Entries of `folder` named by number, in that order: input_10 after input_9.
std::map<std::size_t, std::string> numbered(const fs::path& folder, std::string_view prefix,
                                            std::string_view suffix) {
  std::map<std::size_t, std::string> result;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error) {
    throw IoError(fmt::format("cannot list '{}': {}", printable(folder.string()), error.message()));
  }
  for (const auto& entry : entries) {
    const auto number = number_in(entry.path().filename().string(), prefix, suffix);
    if (number) result.emplace(*number, entry.path().string());
  }
  return result;
}

/// input_0.pb, input_1.pb, ... without gaps, which would shift later ones.
std::vector<std::string> files(const fs::path& folder, std::string_view prefix) {
  std::vector<std::string> result;
  for (const auto& [number, path] : numbered(folder, prefix, ".pb")) {
    if (number != result.size()) {
      throw FormatError(fmt::format("'{}' lacks {}{}.pb, but has a later one",
                                    printable(folder.string()), prefix, result.size()));
    }
    result.push_back(path);
  }
  return result;
}

/// Reads lines "rtol 0.001", "atol 1e-07"; a missing file changes nothing.
void read_tolerance(const std::string& path, TestFolder& folder) {
  std::ifstream file(path);
  if (!file) return;
  std::string word;
  while (file >> word) {
    double* number = word == "rtol"   ? &folder.relative
                     : word == "atol" ? &folder.absolute
                                      : nullptr;
    if (!number || !(file >> *number) || !(*number >= 0)) {
      throw FormatError(
          fmt::format("'{}': '{}' is not a tolerance; expected rtol or atol and a number",
                      printable(path), printable(word)));
    }
  }
}

}  // namespace

TestFolder open_test_folder(const std::string& path) {
  const fs::path folder(path);
  TestFolder result;
  result.model_path = (folder / "model.onnx").string();
  if (!fs::is_directory(folder)) {
    throw IoError(fmt::format("'{}' is not a folder", printable(path)));
  }
  if (!fs::is_regular_file(result.model_path)) {
    throw IoError(
        fmt::format("'{}' is not an ONNX test folder: it has no model.onnx", printable(path)));
  }
  read_tolerance((folder / "tolerance.txt").string(), result);
  for (const auto& [number, data_set] : numbered(folder, "test_data_set_", "")) {
    result.data_sets.push_back({data_set, files(data_set, "input_"), files(data_set, "output_")});
  }
  return result;
}

}  // namespace d5::onnx
