// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/serving/inference/inference_client.hpp"

namespace d5::detail {

/// Address of a server: "https", "example.org:8500".
struct InferenceAddress {
  std::string scheme, place;
};

[[nodiscard]] std::unique_ptr<InferenceClient> http_inference_client(
    const InferenceAddress& address, const InferenceClientOptions& options);

}  // namespace d5::detail
