// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/compressors/parts/cast_compressor.hpp"

namespace d5::compressor {

void register_float16(Registry<GradientCompressorEntry>& registry) {
  registry.add("float16", GradientCompressorEntry::of<detail::CastCompressor<Float16>>(
                              "cast to float16, summed by the all-reduce"));
}

}  // namespace d5::compressor
