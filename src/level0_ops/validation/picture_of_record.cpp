// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/validation/picture_of_record.hpp"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>

#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/image/image.hpp"
#include "d5/level0_ops/validation/heatmap.hpp"

namespace d5::detail {
namespace {

/// A part of a file name made from `text`; a checksum replaces invalid characters and the rest of a
/// long text.
std::string file_word(const std::string& text) {
  constexpr std::size_t kMost = 100;
  std::string word;
  bool lossless = text.size() <= kMost;
  for (const char c : text.substr(0, kMost)) {
    const bool kept = std::isalnum(static_cast<unsigned char>(c)) ||
                      std::string_view(".,=-").find(c) != std::string_view::npos;
    word += kept ? c : '_';
    lossless = lossless && (kept || c == ' ');
  }
  return lossless ? word : word + "-" + sha256(text).substr(0, 8);
}

}  // namespace

void add_heatmap(Measurement& record, const Tensor& values, const std::string& folder,
                 std::string_view what) {
  if (values.elements() == 0) return;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw IoError(
        fmt::format("'{}': no folder for pictures: {}", printable(folder), error.message()));
  }
  const std::string device = record.device == "cpu" ? "" : "-" + file_word(record.device);
  const std::string name =
      fmt::format("{}-{}{}-{}-{}.png", file_word(record.subject), file_word(record.framework),
                  device, file_word(record.conditions.at("tensor").text()), what);
  const std::string path = (std::filesystem::path(folder) / name).string();
  const std::string png = encode_png(heatmap(values));
  write_file(path, png);
  record.artefacts.push_back({.name = path, .sha256 = sha256(png)});
}

}  // namespace d5::detail
