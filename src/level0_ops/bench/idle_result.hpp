// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/core/device.hpp"
#include "d5/level0_ops/operator_case.hpp"

namespace d5::detail {

/// Why a time of `one` in `framework` may be one of nothing done: its real outputs are zeros alone,
/// or the same for another draw of the inputs. Runs forward twice.
///
/// Empty where neither holds, and where nothing can be told: no input that has a gradient is drawn
/// (`Shape` looks at no values, `Relu {-1}` at given ones), there are no real outputs, or the
/// operator cannot run.
[[nodiscard]] std::string idle_result(const OperatorCase& one, const std::string& framework,
                                      Device device);

}  // namespace d5::detail
