// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "d5/abi.h"

namespace d5::detail {

/// The communicator of a group, for operators written against `d5/abi.h`. Throws: NotFound for an
/// unknown group.
using FindCommunicator =
    std::function<std::shared_ptr<const d5_communicator>(const std::string& group)>;

/// Sets the source of communicators, which a higher level provides. Thread safety: both functions.
void set_operator_communicators(FindCommunicator find);
/// Throws: Unsupported if no source is set; exceptions of the source.
[[nodiscard]] std::shared_ptr<const d5_communicator> operator_communicator(
    const std::string& group);

}  // namespace d5::detail
