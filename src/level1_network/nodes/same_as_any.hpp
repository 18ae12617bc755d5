// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>

namespace d5 {

template <class T, class... Ts>
constexpr bool same_as_any = (std::same_as<T, Ts> || ...);

}  // namespace d5
