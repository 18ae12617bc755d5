// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "d5/evaluation/manifest/manifest.hpp"
#include "d5/evaluation/manifest/manifest_identity.hpp"

namespace d5 {

/// A machine: its properties, or, as a requirement, the minimum; empty fields match any.
struct SystemManifest : ManifestIdentity {
  static constexpr const char* kKind = "system";
  std::string architecture = {};  ///< "x86_64"
  std::int64_t cores = 0;
  std::int64_t memory_bytes = 0;
  std::vector<std::string> instruction_sets = {};  ///< "avx2"
  std::string device = {};                         ///< "cpu", "cuda:0"
  std::map<std::string, std::string> labels = {};
  double price_per_hour = 0;
  std::string currency = "USD";

  void declare(ManifestFields& fields);
};

}  // namespace d5
