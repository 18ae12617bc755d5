// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/evaluation/manifest/manifest_fields.hpp"

namespace d5 {

/// What every manifest says of itself. `name@version` stands for one content for ever; one that
/// still changes has a pre-release version, such as 1.1.0-dev.
struct ManifestIdentity {
  std::string name, version;
  std::string summary = {};  ///< one line, for lists

  void declare(ManifestFields& fields);
  [[nodiscard]] std::string reference() const { return name + "@" + version; }
};

/// A rule that some fields share.
[[nodiscard]] FieldRule name_rule();    ///< a name of a manifest
[[nodiscard]] FieldRule digest_rule();  ///< a SHA-256
[[nodiscard]] FieldRule range_rule();   ///< a `VersionRange`

}  // namespace d5
