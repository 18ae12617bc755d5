// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace d5 {

/// Runs `work(i)` for i in [0, count) in child processes, of which there are `children` at a time,
/// and returns the lines that it answered.
///
/// A child that dies costs the item it died on: the answer is `died(reason)`, and another child
/// goes on with the next item. So does one that is silent for `most_seconds`.
/// Throws: std::system_error if there are no more processes or pipes.
[[nodiscard]] std::vector<std::string> run_isolated(
    std::size_t count, const std::function<std::string(std::size_t)>& work,
    const std::function<std::string(const std::string& reason)>& died, int most_seconds,
    std::size_t children = 1);

}  // namespace d5
