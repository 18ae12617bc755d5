// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace d5::detail {

/// Reads an object of a JSON file field by field. Every error is a FormatError with file, position
/// ("measurements[3].samples[2]"), found and expected value.
class JsonReader {
 public:
  /// Parses `text`; `who` is the file's name in messages.
  JsonReader(const std::string& text, std::string who);

  [[nodiscard]] bool has(const char* name) const { return find(name, false) != nullptr; }
  /// The raw field; null if missing. It lives as long as the reader.
  [[nodiscard]] const nlohmann::json* field(const char* name) const { return find(name, false); }

  // Each function takes a fallback if the field may be missing.
  [[nodiscard]] std::string text(const char* name, std::optional<std::string> fallback = {}) const;
  [[nodiscard]] int integer(const char* name, std::optional<int> fallback = {}) const;
  /// For integers beyond `int`.
  [[nodiscard]] std::int64_t whole(const char* name, double least, double most,
                                   std::optional<double> fallback = {}) const;
  /// 2^53: integers up to here are exact in a double.
  static constexpr double kMostWhole = 9007199254740992;
  [[nodiscard]] double number(const char* name, std::optional<double> fallback = {}) const;
  /// The index of the field's value in `words`.
  [[nodiscard]] std::size_t choice(const char* name, std::span<const std::string_view> words) const;
  /// Empty if the field is missing.
  [[nodiscard]] std::vector<std::string> texts(const char* name) const;
  [[nodiscard]] std::map<std::string, std::string> texts_by_name(const char* name) const;
  [[nodiscard]] std::vector<double> numbers(const char* name) const;
  [[nodiscard]] JsonReader object(const char* name) const;
  [[nodiscard]] std::vector<JsonReader> objects(const char* name) const;

  /// Throws: FormatError, "results 'a.json': measurements[3].unit is a number, expected a text".
  [[noreturn]] void fail(const std::string& name, const std::string& given,
                         const std::string& expected) const;

 private:
  JsonReader(std::shared_ptr<const nlohmann::json> root, const nlohmann::json* here,
             std::string who, std::string place);
  [[nodiscard]] const nlohmann::json* find(const char* name, bool required) const;

  std::shared_ptr<const nlohmann::json> root_;
  const nlohmann::json* here_;
  std::string who_;
  std::string place_;
};

}  // namespace d5::detail
