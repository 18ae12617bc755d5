// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/manifest/generator_manifest.hpp"

#include "d5/evaluation/generation/chat_template.hpp"
#include "d5/evaluation/manifest/manifest.hpp"

namespace d5 {

void LossClaim::declare(ManifestFields& fields) {
  fields.add("text", text, "text whose tokens after the first are predicted", {.required = true});
  fields.add("loss", loss, "claimed loss in nats a token",
             {.required = true, .range = {.least = 0}});
  fields.add("tolerance", tolerance, "allowed difference in nats a token", {.range = {.least = 0}});
  fields.add("source", source, "source of the claim: who computed it, and how", {.required = true});
}

void GeneratorManifest::declare(ManifestFields& fields) {
  ManifestIdentity::declare(fields);
  fields.add("licence", licence, "licence, as an SPDX expression", {.required = true});
  fields.add("source", source, "origin of the model, for people");
  fields.add("format", format, "file format of the model", {.words = {"gguf", "safetensors"}});
  fields.add("assets", assets,
             "files of the model: one of GGUF; or those of a folder of safetensors, by their names "
             "there",
             {.required = true});
  fields.add("chat", chat, "template of its chats; the first that fits its tokenizer if left out",
             chat_templates());
  fields.add("losses", losses, "claimed losses on texts, with their sources");
  if (chat.size() > 1) fields.expect("chat: several templates are given, expected one");
}

namespace manifest_kind {

void register_generator(Registry<ManifestKind>& registry) {
  registry.add("generator", ManifestKind::of<GeneratorManifest>(
                                "language model that generates text, and its loss on texts"));
}

}  // namespace manifest_kind
}  // namespace d5
