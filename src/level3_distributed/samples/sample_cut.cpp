// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/samples/sample_cut.hpp"

namespace d5 {
namespace sample_cut {
void register_all(Registry<SampleCutEntry>& registry);
}

Registry<SampleCutEntry>& sample_cuts() {
  static Registry<SampleCutEntry> registry("sample cut", sample_cut::register_all);
  return registry;
}

}  // namespace d5
