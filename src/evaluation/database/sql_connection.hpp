// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

/// Bytes that are no text.
struct SqlBytes {
  std::string bytes = {};
  bool operator==(const SqlBytes&) const = default;
};
/// What stands in a row: nothing (NULL), or one of these. NaN is written as nothing.
using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string, SqlBytes>;
using SqlRow = std::vector<SqlValue>;

/// What a value is, or else nothing of its kind: "", 0, NaN.
[[nodiscard]] std::string text_of(const SqlValue& value);
[[nodiscard]] std::int64_t integer_of(const SqlValue& value);
[[nodiscard]] double number_of(const SqlValue& value);

/// What d5 writes there is of this kind. Throws: FormatError where it is of another, as in a file
/// that somebody else has written.
template <class T>
const T& as_written(const SqlValue& value) {
  if (const auto* held = std::get_if<T>(&value)) return *held;
  throw FormatError("database: a column holds values of another type than d5 writes there");
}

struct SqlTable {
  std::vector<std::string> columns = {};
  std::vector<SqlRow> rows = {};
};

/// A connection to one database, in the SQL that SQLite and PostgreSQL share: parameters are $1, $2
/// in the order of their first use, types TEXT, BIGINT, DOUBLE PRECISION and BYTEA.
///
/// Thread safety: one call at a time. Throws: all functions IoError where the database cannot be
/// reached, is locked or full; FormatError where it is damaged; ValueError for SQL that it refuses.
class SqlConnection {
 public:
  virtual ~SqlConnection() = default;

  /// Several statements without parameters.
  virtual void run(const std::string& statements) = 0;
  virtual SqlTable query(const std::string& statement, const SqlRow& parameters = {}) = 0;
  /// The same, each row as it comes: `titles` is told the columns once, before the first `row`.
  /// They make no call of this connection, and what they throw goes on.
  virtual void read(const std::string& statement, const SqlRow& parameters,
                    const std::function<void(std::vector<std::string>)>& titles,
                    const std::function<void(SqlRow)>& row) = 0;
  /// The number of rows that a statement changed.
  virtual std::int64_t change(const std::string& statement, const SqlRow& parameters = {}) = 0;
  /// Appends `count` rows, which `row` fills, one by one.
  virtual void append(const std::string& table, const std::vector<std::string>& columns,
                      std::size_t count, const std::function<void(std::size_t, SqlRow&)>& row) = 0;

  /// Begin a transaction: one that writes holds others off that write, where that is the database's
  /// way; one that reads sees one state of it, and cannot change it.
  virtual void begin_writing() = 0;
  virtual void begin_reading() = 0;
  void commit() { run("COMMIT"); }
  void roll_back() noexcept;

  /// The end of a SELECT whose rows nobody else may change until the transaction ends, without
  /// those that another holds so now; `tables` are their names in it.
  [[nodiscard]] virtual std::string and_lock_what_is_free(const std::string& tables) const = 0;
  /// What makes a table refuse to change or lose rows, and a lock that lets one process at a time
  /// bring the schema up to date, within a transaction.
  [[nodiscard]] virtual std::string append_only(const std::string& table) const = 0;
  virtual void lock_schema() = 0;
  /// From now on nothing is written by this connection.
  virtual void only_read() = 0;
  /// Whether there is a table of that name.
  virtual bool has_table(const std::string& name) = 0;
  /// Marks a new database as one of d5's; refuses one that is not empty and of somebody else.
  virtual void claim() = 0;
};

/// Does `work` in a transaction, all of it or nothing. What it threw goes on.
template <class Work>
void write_all(SqlConnection& connection, const Work& work) {
  connection.begin_writing();
  try {
    work();
    connection.commit();
  } catch (...) {
    connection.roll_back();
    throw;
  }
}

struct SqlOptions {
  enum class Missing { made, refused } missing = Missing::made;  ///< a file that is not there
  double wait_seconds = 10;                                      ///< for others that write
  /// Of a file: what was written is on the disk; or it is with the system alone, and whole only
  /// when the process that writes has closed it: for what is thrown away where that was ended
  /// before.
  enum class Sync { each_commit, none } sync = Sync::each_commit;
};

/// A file. Throws: NotFound for one that is not there and is not to be made.
[[nodiscard]] std::unique_ptr<SqlConnection> open_sqlite(const std::string& path,
                                                         const SqlOptions& options);
/// A server, by libpq's address: "postgresql://user@host/database". Throws: Unsupported where d5
/// was built without libpq.
[[nodiscard]] std::unique_ptr<SqlConnection> open_postgresql(const std::string& address,
                                                             const SqlOptions& options);

}  // namespace d5::detail
