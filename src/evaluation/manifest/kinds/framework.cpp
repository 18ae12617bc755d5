// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/manifest/framework_manifest.hpp"

namespace d5 {

void FrameworkManifest::declare(ManifestFields& fields) {
  ManifestIdentity::declare(fields);
  fields.add("word", word, "of a predictor: torch, onnxruntime:session", {.required = true});
  fields.add("requires", requires_version, "versions of it that will do: '>=2.4 <3'", range_rule());
  fields.add("plugin", plugin, "path of a plug-in that brings it; empty: d5's own",
             {.is_local = [](const std::string& path) { return !path.empty(); }});
  FieldRule digest = digest_rule();
  digest.pattern += "|";
  fields.add("plugin_sha256", plugin_sha256, "of the plug-in's file", digest);
  fields.add("options", options, "of the word's entry");
}

namespace manifest_kind {

void register_framework(Registry<ManifestKind>& registry) {
  registry.add("framework", ManifestKind::of<FrameworkManifest>("what runs models, and how"));
}

}  // namespace manifest_kind
}  // namespace d5
