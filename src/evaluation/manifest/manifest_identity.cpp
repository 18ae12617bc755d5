// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/manifest/manifest_identity.hpp"

#include <algorithm>
#include <cctype>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/manifest/semantic_version.hpp"
#include "evaluation/manifest/manifest_name.hpp"

namespace d5 {

namespace detail {

std::string manifest_name(std::string name, const std::string& before) {
  constexpr std::size_t kMost = 100;
  std::ranges::replace_if(
      name,
      [](unsigned char c) {
        return c >= 0x80 || (!std::isalnum(c) && c != '.' && c != '_' && c != '-');
      },
      '-');
  const bool begins = !name.empty() && std::isalnum(static_cast<unsigned char>(name.front()));
  return (begins ? name : before + name).substr(0, kMost);
}

}  // namespace detail

FieldRule name_rule() {
  return {.required = true,
          .pattern = "[A-Za-z0-9][A-Za-z0-9._-]{0,99}",
          .expected = "letters, digits, '.', '_' and '-', 100 at most"};
}

FieldRule digest_rule() {
  return {.pattern = "[0-9a-f]{64}", .expected = "64 lower-case hexadecimal digits"};
}

FieldRule range_rule() {
  FieldRule rule;
  rule.fault_of = [](const std::string& text) -> std::string {
    try {
      (void)VersionRange::parse(text);
    } catch (const FormatError& error) {
      return error.what();
    }
    return {};
  };
  return rule;
}

void ManifestIdentity::declare(ManifestFields& fields) {
  FieldRule semantic{.required = true};
  semantic.fault_of = [](const std::string& text) -> std::string {
    try {
      (void)SemanticVersion::parse(text);
    } catch (const FormatError& error) {
      return error.what();
    }
    return {};
  };
  fields.add("name", name, "name of the manifest", name_rule());
  fields.add("version", version,
             "version as MAJOR.MINOR.PATCH; its content never changes, except for a pre-release",
             semantic);
  fields.add("summary", summary, "summary in one line, for lists");
}

}  // namespace d5
