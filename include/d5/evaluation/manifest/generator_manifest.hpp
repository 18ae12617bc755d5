// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/evaluation/manifest/manifest_identity.hpp"
#include "d5/evaluation/manifest/model_manifest.hpp"

namespace d5 {

/// A claim: how well a model predicts a text.
struct LossClaim {
  std::string text;  ///< its tokens after the first are predicted
  /// Mean negative log likelihood. Units: nats a token.
  double loss = 0;
  double tolerance = 1e-3;  ///< allowed difference
  std::string source;       ///< who computed it, with which arithmetic

  void declare(ManifestFields& fields);
};

/// A language model that generates text, and what it is known to answer.
struct GeneratorManifest : ManifestIdentity {
  static constexpr const char* kKind = "generator";
  std::string licence;
  std::string source = {};      ///< origin of the model, for people
  std::string format = "gguf";  ///< format of the files
  std::vector<ManifestAsset> assets;
  /// Template of its chats, an entry of `chat_templates()`; none: the one that fits its tokenizer.
  std::vector<EntryChoice> chat = {};
  std::vector<LossClaim> losses = {};

  void declare(ManifestFields& fields);
};

}  // namespace d5
