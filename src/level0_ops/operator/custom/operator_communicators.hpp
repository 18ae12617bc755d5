// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "d5/abi.h"

namespace d5::detail {

/// The ranks of a group, for operators written against `d5/abi.h`.
/// Throws: NotFound for a name that no group has.
using FindCommunicator =
    std::function<std::shared_ptr<const d5_communicator>(const std::string& group)>;

/// From now on operators that ask for a group get what `find` gives: a higher level knows ranks.
/// Thread safety: both.
void set_operator_communicators(FindCommunicator find);
/// Throws: Unsupported where nobody has set one; what that throws.
[[nodiscard]] std::shared_ptr<const d5_communicator> operator_communicator(
    const std::string& group);

}  // namespace d5::detail
