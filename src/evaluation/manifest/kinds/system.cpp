// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/manifest/system_manifest.hpp"

namespace d5 {

void SystemManifest::declare(ManifestFields& fields) {
  ManifestIdentity::declare(fields);
  fields.add("architecture", architecture,
             "architecture of the processor: x86_64, aarch64; empty: any");
  fields.add("cores", cores, "minimum number of cores; 0: any", {.range = {.least = 0}});
  fields.add("memory_bytes", memory_bytes, "minimum memory; 0: any", {.range = {.least = 0}});
  fields.add("instruction_sets", instruction_sets,
             "instruction sets of the processor: avx2, avx512f");
  fields.add("device", device, "device that runs the work: cpu, cuda:0; empty: any");
  fields.add("labels", labels, "labels that the owner has given the machine");
  fields.add("price_per_hour", price_per_hour, "price of an hour; 0: unknown",
             {.range = {.least = 0}});
  fields.add("currency", currency, "currency of the price, by ISO 4217",
             {.pattern = "[A-Z]{3}", .expected = "three letters such as USD"});
}

namespace manifest_kind {

void register_system(Registry<ManifestKind>& registry) {
  registry.add("system", ManifestKind::of<SystemManifest>(
                             "machine: its properties, or minimum requirements, and its price"));
}

}  // namespace manifest_kind
}  // namespace d5
