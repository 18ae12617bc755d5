// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/predictor/text_predictor.hpp"

#include "d5/core/errors/error.hpp"

namespace d5 {

const ValueMap& TextPredictor::predict(const ValueMap&) {
  throw Unsupported(name() +
                    " answers prompts with text and takes no tensors; evaluate a model whose "
                    "manifest says 'format: none', or choose another framework");
}

}  // namespace d5
