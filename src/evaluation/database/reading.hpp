// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "evaluation/database/sql_connection.hpp"

namespace d5::detail {

/// A transaction whose reads all see the same state.
class Reading {
 public:
  explicit Reading(SqlConnection& connection) : connection_(connection) {
    connection_.begin_reading();
  }
  ~Reading() { connection_.roll_back(); }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

 private:
  SqlConnection& connection_;
};

}  // namespace d5::detail
