// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "d5/evaluation/database/evaluation_database.hpp"
#include "tests/postgresql_server.hpp"
#include "tests/temporary_folder.hpp"

namespace d5::testing {

/// A database for a test, a new one each time: a file, or one on a server of the test's own.
struct AnyDatabase {
  std::string kind;
  std::string address;
  TemporaryFolder folder = {};

  [[nodiscard]] std::unique_ptr<EvaluationDatabase> open(
      EvaluationDatabase::Access access = EvaluationDatabase::Access::write) const {
    return EvaluationDatabase::open(address, {.access = access, .wait_seconds = 60});
  }
};

/// Calls `test` with a new database of each kind. Where there is no PostgreSQL it says why not.
template <class Test>
void on_each_database(const Test& test) {
  {
    AnyDatabase file{"a file", ""};
    file.address = file.folder / "results.db";
    INFO("SQLite");
    test(file);
  }
  PostgresqlServer* const server = PostgresqlServer::shared();
  if (!server) {
    WARN(PostgresqlServer::why_absent());
    return;
  }
  const AnyDatabase on_server{"a server", server->fresh()};
  INFO("PostgreSQL");
  test(on_server);
}

}  // namespace d5::testing
