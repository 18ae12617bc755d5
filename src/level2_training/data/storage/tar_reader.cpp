// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "d5/core/errors/error.hpp"
#include "level2_training/data/storage/tar.hpp"

namespace d5::detail {
namespace {

/// Up to the first zero.
std::string_view text_in(std::string_view field) { return field.substr(0, field.find('\0')); }

}  // namespace

/// The parts of a header that are read.
struct TarReader::Header {
  explicit Header(std::string_view block)
      : name(text_in(block.substr(0, 100))),
        size(block.substr(124, 12)),
        sum(block.substr(148, 8)),
        type(block[156]),
        magic(block.substr(257, 6)),
        prefix(text_in(block.substr(345, 155))) {}
  std::string_view name, size, sum;
  char type;
  std::string_view magic, prefix;
};

void TarReader::fail(const std::string& what) const {
  throw FormatError(fmt::format("'{}': byte {}: {}", printable(file_), at_, what));
}

/// Reads octal digits between blanks, or a binary number if the first bit is set (GNU).
std::size_t TarReader::number(std::string_view field, const char* what) const {
  std::size_t value = 0;
  if (std::uint8_t(field[0]) == 0x80) {
    for (const char byte : field.substr(1)) {
      if (value >> 55 != 0) fail(fmt::format("its {} is above 2^63", what));
      value = value << 8 | std::uint8_t(byte);
    }
    return value;
  }
  std::string_view digits = text_in(field);
  digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
  digits = digits.substr(0, digits.find(' '));
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 8);
  const bool is_whole = error == std::errc() && end == digits.data() + digits.size();
  if (!is_whole && !digits.empty()) {
    fail(fmt::format("its {} is '{}', expected an octal number", what, printable(digits)));
  }
  return value;
}

/// Data after the header that begins at `at_`.
std::string_view TarReader::data_of(std::size_t size) const {
  const std::size_t left = bytes_.size() - at_ - kBlock;
  if (size > left) {
    fail(
        fmt::format("a member is declared to have {} bytes, but {} follow; the archive is "
                    "truncated, or damaged",
                    size, left));
  }
  return bytes_.substr(at_ + kBlock, size);
}

/// Parses a pax header: "LENGTH KEYWORD=VALUE\n"; the length is that of the whole line.
void TarReader::read_records(std::string_view text, Records& records) const {
  while (!text.empty()) {
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    const auto digits = std::size_t(end - text.data());
    if (error != std::errc() || length > text.size() || length < digits + 2 ||
        text[digits] != ' ' || text[length - 1] != '\n') {
      fail("a record of a pax header has a wrong length");
    }
    const std::string_view record = text.substr(digits + 1, length - digits - 2);
    const std::size_t equals = record.find('=');
    if (equals == record.npos) fail("a record of a pax header has no '='");
    records[std::string(record.substr(0, equals))] = record.substr(equals + 1);
    text.remove_prefix(length);
  }
}

void TarReader::check_name(const std::string& name) const {
  const bool leads_out = name.starts_with('/') || name == ".." || name.starts_with("../") ||
                         name.ends_with("/..") || name.find("/../") != name.npos;
  if (leads_out) {
    fail(fmt::format("a member is called '{}', which leads out of the archive", printable(name)));
  }
}

bool TarReader::next(Member& member) {
  Records own;
  std::string long_name;
  for (;;) {
    if (bytes_.size() - at_ < kBlock) {
      fail(
          fmt::format("ends without its block of zeros, {} bytes are left; it is truncated, or not "
                      "a tar archive",
                      bytes_.size() - at_));
    }
    const std::string_view block = bytes_.substr(at_, kBlock);
    if (block.find_first_not_of('\0') == block.npos) return false;
    const Header header(block);
    std::size_t sum = 0;
    for (std::size_t i = 0; i < kBlock; ++i) {
      sum += i >= 148 && i < 156 ? std::size_t(' ') : std::uint8_t(block[i]);
    }
    if (const std::size_t given = number(header.sum, "checksum"); given != sum) {
      fail(fmt::format(
          "a header has the checksum {}, but {} is written; it is damaged, or not a tar archive",
          sum, given));
    }
    std::size_t size = number(header.size, "size");
    const bool is_file = header.type == '0' || header.type == '\0' || header.type == '7';
    if (const auto record = own.find("size"); is_file && record != own.end()) {
      const std::string& digits = record->second;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
      if (error != std::errc() || end != digits.data() + digits.size()) {
        fail(fmt::format("its size is '{}', expected a number", printable(digits)));
      }
    }
    // Links and devices have no data, regardless of their size field.
    if (header.type >= '1' && header.type <= '6') size = 0;
    const std::string_view data = data_of(size);
    const std::size_t begin = at_ + kBlock;
    const std::size_t padded = (size + kBlock - 1) / kBlock * kBlock;
    if (header.type == 'S' || own.contains("GNU.sparse.major") || own.contains("GNU.sparse.map")) {
      throw Unsupported(
          fmt::format("'{}': byte {}: a sparse file; pack the archive without "
                      "--sparse",
                      printable(file_), at_));
    }
    if (header.type == 'x') {
      read_records(data, own);
    } else if (header.type == 'g') {
      read_records(data, globals_);
    } else if (header.type == 'L') {
      long_name = text_in(data);
    } else if (is_file) {
      member = {std::string(header.name), begin, size};
      const bool has_prefix = header.magic == std::string_view("ustar\0", 6);
      if (has_prefix && !header.prefix.empty()) {
        member.name = fmt::format("{}/{}", header.prefix, header.name);
      }
      if (!long_name.empty()) member.name = long_name;
      if (const auto record = own.find("path"); record != own.end()) member.name = record->second;
      check_name(member.name);
    } else if (header.type != 'K') {
      own.clear();
      long_name.clear();
    }
    at_ = std::min(begin + padded, bytes_.size());
    if (is_file) return true;
  }
}

}  // namespace d5::detail
