// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "ort_api.hpp"

namespace d5::onnxruntime {

/// Unique prefix of the file that a session's profile is written to.
[[nodiscard]] std::string profile_prefix();

/// Adds the session's profile of nodes to the current trace when that stops.
void put_on_trace(std::shared_ptr<Session> session);

}  // namespace d5::onnxruntime
