// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/manifest/framework_manifest.hpp"

namespace d5 {

void FrameworkManifest::declare(ManifestFields& fields) {
  ManifestIdentity::declare(fields);
  fields.add("word", word, "predictor: torch, onnxruntime:session", {.required = true});
  fields.add("requires", requires_version, "range of supported versions: '>=2.4 <3'", range_rule());
  fields.add("plugin", plugin, "path of a plug-in that has it; empty: d5's own",
             {.is_local = [](const std::string& path) { return !path.empty(); }});
  FieldRule digest = digest_rule();
  digest.pattern += "|";
  fields.add("plugin_sha256", plugin_sha256, "digest of the plug-in's file", digest);
  fields.add("options", options, "options of the predictor");
}

namespace manifest_kind {

void register_framework(Registry<ManifestKind>& registry) {
  registry.add("framework",
               ManifestKind::of<FrameworkManifest>("framework that runs models, and its options"));
}

}  // namespace manifest_kind
}  // namespace d5
