// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "level2_training/data/storage/tar.hpp"

namespace d5::detail {
namespace {

constexpr std::size_t kMostName = 100, kMostOctal = (std::size_t{1} << 33) - 1;

/// A ustar header. A name or size that does not fit goes to a preceding pax header.
std::string header_block(char type, std::string_view name, std::size_t length) {
  std::string block(TarReader::kBlock, '\0');
  const auto put = [&](std::size_t at, std::string_view text) {
    block.replace(at, text.size(), text);
  };
  put(0, name.substr(0, kMostName));
  put(100, "0000644");
  put(108, "0000000");
  put(116, "0000000");
  put(124, fmt::format("{:011o}", length <= kMostOctal ? length : 0));
  put(136, "00000000000");
  put(148, "        ");
  put(156, std::string_view(&type, 1));
  put(257, std::string_view("ustar\00000", 8));
  unsigned sum = 0;
  for (const char byte : block) sum += std::uint8_t(byte);
  put(148, fmt::format("{:06o}", sum));
  block[154] = '\0';
  return block;
}

/// "LENGTH KEYWORD=VALUE\n", where the length includes its own digits.
std::string record(std::string_view keyword, std::string_view value) {
  const std::size_t rest = keyword.size() + value.size() + 3;
  std::size_t length = rest + 1;
  while (std::to_string(length).size() + rest != length) {
    length = std::to_string(length).size() + rest;
  }
  return fmt::format("{} {}={}\n", length, keyword, value);
}

std::string pax_header(char type, const std::string& records) {
  return header_block(type, "PaxHeader", records.size()) + records + tar_padding(records.size());
}

}  // namespace

std::string tar_padding(std::size_t length) {
  return std::string((TarReader::kBlock - length % TarReader::kBlock) % TarReader::kBlock, '\0');
}

std::string tar_header(const std::string& name, std::size_t length) {
  std::string records;
  if (name.size() > kMostName) records += record("path", name);
  if (length > kMostOctal) records += record("size", std::to_string(length));
  return (records.empty() ? "" : pax_header('x', records)) + header_block('0', name, length);
}

std::string tar_global_header(const std::string& keyword, const std::string& value) {
  return pax_header('g', record(keyword, value));
}

}  // namespace d5::detail
