// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace d5::detail {

/// Members of an object in a request of OpenAI's interface, read one by one. null is as good as
/// none. Every fault is a `CompletionFault` with the member's place.
class AskedMembers {
 public:
  /// `place` is the object's own, as "messages[0]"; empty: the request. Throws: CompletionFault for
  /// what is no object.
  explicit AskedMembers(const nlohmann::json& object, std::string place = {});

  /// Null if it is missing.
  [[nodiscard]] const nlohmann::json* find(const std::string& name);
  [[nodiscard]] std::optional<std::string> text(const std::string& name);
  [[nodiscard]] std::optional<std::int64_t> whole(const std::string& name, std::int64_t least,
                                                  std::int64_t most);
  /// `expected` are the words for the range.
  [[nodiscard]] std::optional<double> number(const std::string& name, double least, double most,
                                             const std::string& expected);
  [[nodiscard]] bool flag(const std::string& name);
  /// Takes a member that changes no answer.
  void ignore(const std::string& name) { (void)find(name); }
  /// Takes a member that d5 has not, as long as it has the value at which it does nothing.
  void expect_neutral(const std::string& name, const nlohmann::json& value);
  /// Throws: CompletionFault for a member that was not asked for, with the nearest.
  void expect_all_known() const;

  [[nodiscard]] std::string place_of(const std::string& name) const;
  [[noreturn]] void fail(const std::string& name, const std::string& expected) const;

 private:
  const nlohmann::json& object_;
  std::string place_;
  std::vector<std::string> known_;
};

}  // namespace d5::detail
