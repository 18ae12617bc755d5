// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/compressors/parts/cast_compressor.hpp"

namespace d5::compressor {

void register_bfloat16(Registry<GradientCompressorEntry>& registry) {
  registry.add("bfloat16", GradientCompressorEntry::of<detail::CastCompressor<BFloat16>>(
                               "cast to bfloat16, summed by the all-reduce"));
}

}  // namespace d5::compressor
