// SPDX-License-Identifier: Apache-2.0
#include "evaluation/accuracy/class_rank.hpp"

namespace d5::accuracy_measure {

void register_top1(Registry<AccuracyMeasureEntry>& registry) {
  registry.add("top1", {"top-1 accuracy: share of samples whose right class is the first",
                        [] { return std::make_shared<detail::ClassRank>("top1", 1); }});
}

}  // namespace d5::accuracy_measure
