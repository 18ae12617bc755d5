// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "ort_api.hpp"

namespace d5::onnxruntime {

/// Unique prefix of the file that a session's profile is written to.
[[nodiscard]] std::string profile_prefix();

/// When the present trace stops, what the session's profile says of its nodes is put on it.
void put_on_trace(std::shared_ptr<Session> session);

}  // namespace d5::onnxruntime
