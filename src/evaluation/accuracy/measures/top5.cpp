// SPDX-License-Identifier: Apache-2.0
#include "evaluation/accuracy/class_rank.hpp"

namespace d5::accuracy_measure {

void register_top5(Registry<AccuracyMeasureEntry>& registry) {
  registry.add("top5",
               {"top-5 accuracy: share of samples whose right class is among the first five",
                [] { return std::make_shared<detail::ClassRank>("top5", 5); }});
}

}  // namespace d5::accuracy_measure
