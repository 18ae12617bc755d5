// SPDX-License-Identifier: Apache-2.0
#include "evaluation/database/page_place.hpp"

#include <fmt/format.h>

#include "core/numbers/whole_number.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {

std::string limit_of(const PageAsked& page) { return fmt::format(" LIMIT {}", page.limit + 1); }

void refuse_place(const std::string& place) {
  throw ValueError(fmt::format("'{}' is no place in this list; use the `next` of an earlier page",
                               printable(place)));
}

std::int64_t row_at(const std::string& place) {
  if (place.empty()) return 0;
  const auto number = whole_number<std::int64_t>(place);
  if (!number || *number < 0) refuse_place(place);
  return *number;
}

}  // namespace d5::detail
