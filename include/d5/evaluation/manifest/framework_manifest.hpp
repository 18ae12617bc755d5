// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "d5/evaluation/manifest/manifest.hpp"
#include "d5/evaluation/manifest/manifest_identity.hpp"

namespace d5 {

/// A framework, and how it runs models.
struct FrameworkManifest : ManifestIdentity {
  static constexpr const char* kKind = "framework";
  std::string word;                   ///< predictor: "torch", "onnxruntime:session"
  std::string requires_version = {};  ///< a `VersionRange`
  std::string plugin = {};            ///< path of a plug-in to load first; empty: d5's own
  std::string plugin_sha256 = {};
  std::map<std::string, std::string> options = {};  ///< options of the predictor

  void declare(ManifestFields& fields);
};

}  // namespace d5
