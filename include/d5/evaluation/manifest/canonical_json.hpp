// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5 {

/// The canonical form of `json`, which equal documents share: members sorted by name, numbers as in
/// ECMAScript, no spaces. Its SHA-256 identifies a manifest's content.
///
///     canonical_json(R"({"b": 1.50, "a": [1E1]})", "example")  // {"a":[10],"b":1.5}
///
/// `who` names the document in messages.
/// Throws: FormatError for text that is not JSON in UTF-8, a name given twice in an object,
/// integers that a double does not represent exactly, numbers beyond a double, more than 100
/// levels. Source: RFC 8785, "JSON Canonicalization Scheme".
[[nodiscard]] std::string canonical_json(const std::string& json, const std::string& who);

/// The SHA-256 of `canonical_json(json, who)`: 64 hexadecimal digits.
[[nodiscard]] std::string canonical_digest(const std::string& json, const std::string& who);

}  // namespace d5
