// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/evaluation/manifest/manifest_fields.hpp"

namespace d5 {

/// Fields of every manifest. `name@version` stands for one content for ever; content that still
/// changes has a pre-release version, such as 1.1.0-dev.
struct ManifestIdentity {
  std::string name, version;
  std::string summary = {};  ///< one line, for lists
  /// Folder of its file, where its relative paths begin; no field, and no part of its content.
  std::string beside = {};

  void declare(ManifestFields& fields);
  [[nodiscard]] std::string reference() const { return name + "@" + version; }
};

/// Rules that several fields share.
[[nodiscard]] FieldRule name_rule();    ///< a name of a manifest
[[nodiscard]] FieldRule digest_rule();  ///< a SHA-256
[[nodiscard]] FieldRule range_rule();   ///< a `VersionRange`

}  // namespace d5
