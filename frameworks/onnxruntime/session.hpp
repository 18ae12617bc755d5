// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/core/entries/option.hpp"
#include "d5/level0_ops/operator/compiled_model.hpp"
#include "ort_api.hpp"

namespace d5::onnxruntime {

enum class Optimization { disabled, basic, extended, all };
enum class Execution { sequential, parallel };

/// Options of a session.
struct SessionChoice {
  Optimization optimization = Optimization::all;
  Execution execution = Execution::sequential;
  std::int64_t threads = 0;
  bool spinning = true;
  void declare(OptionList& options);
};

/// A session for `model`. Throws: Unsupported with ONNX Runtime's reason.
[[nodiscard]] std::shared_ptr<Session> open_session(const onnx::Model& model,
                                                    const ModelTarget& target,
                                                    const SessionChoice& choice);

}  // namespace d5::onnxruntime
