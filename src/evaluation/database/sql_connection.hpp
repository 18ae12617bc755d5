// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
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
/// A value in a row: NULL, or one of these. NaN is written as NULL.
using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string, SqlBytes>;
using SqlRow = std::vector<SqlValue>;

/// The value, or an empty one of its kind: "", 0, NaN.
[[nodiscard]] std::string text_of(const SqlValue& value);
[[nodiscard]] std::int64_t integer_of(const SqlValue& value);
[[nodiscard]] double number_of(const SqlValue& value);

/// Checks that a value has the kind that d5 writes there. Throws: FormatError if it has another, as
/// in a file that another program wrote.
template <class T>
const T& as_written(const SqlValue& value) {
  if (const auto* held = std::get_if<T>(&value)) return *held;
  throw FormatError("database: a column holds values of another type than d5 writes there");
}

struct SqlTable {
  std::vector<std::string> columns = {};
  std::vector<SqlRow> rows = {};
};

/// A connection to one database, in the common SQL of SQLite and PostgreSQL: parameters are $1, $2
/// in the order of their first use, types are TEXT, BIGINT, DOUBLE PRECISION and BYTEA.
///
/// Thread safety: one call at a time. Throws: all functions IoError if the database cannot be
/// reached, is locked or full; FormatError if it is damaged; ValueError for SQL that it refuses.
class SqlConnection {
 public:
  virtual ~SqlConnection() = default;

  /// Runs several statements without parameters.
  virtual void run(const std::string& statements) = 0;
  virtual SqlTable query(const std::string& statement, const SqlRow& parameters = {}) = 0;
  /// The same, row by row: `titles` receives the columns once, before the first `row`. They must
  /// not call this connection; their exceptions are passed on.
  virtual void read(const std::string& statement, const SqlRow& parameters,
                    const std::function<void(std::vector<std::string>)>& titles,
                    const std::function<void(SqlRow)>& row) = 0;
  /// Returns the number of rows that a statement changed.
  virtual std::int64_t change(const std::string& statement, const SqlRow& parameters = {}) = 0;
  /// Appends `count` rows, which `row` fills one by one.
  virtual void append(const std::string& table, const std::vector<std::string>& columns,
                      std::size_t count, const std::function<void(std::size_t, SqlRow&)>& row) = 0;

  /// Begin a transaction. A writing one locks out other writers, if the database does so; a reading
  /// one sees one state and cannot change it.
  virtual void begin_writing() = 0;
  virtual void begin_reading() = 0;
  void commit() { run("COMMIT"); }
  void roll_back() noexcept;

  /// The end of a SELECT that locks its rows until the transaction ends, and skips rows that
  /// another transaction has locked; `tables` are their names in it.
  [[nodiscard]] virtual std::string and_lock_what_is_free(const std::string& tables) const = 0;
  /// SQL that makes a table refuse changed and deleted rows; and a lock that lets one process at a
  /// time bring the schema up to date, within a transaction.
  [[nodiscard]] virtual std::string append_only(const std::string& table) const = 0;
  virtual void lock_schema() = 0;
  /// Makes this connection read-only from now on.
  virtual void only_read() = 0;
  /// Whether there is a table of that name.
  virtual bool has_table(const std::string& name) = 0;
  /// Marks a new database as d5's; refuses one that is neither empty nor d5's.
  virtual void claim() = 0;
};

/// Runs `work` in a transaction, completely or not at all. Its exceptions are passed on.
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
  enum class Missing {
    made,
    refused
  } missing = Missing::made;  ///< what to do about a missing file
  double wait_seconds = 10;   ///< for other writers
  /// At most eleven days: libraries take 32 bits.
  [[nodiscard]] int wait_milliseconds() const { return int(std::min(1e6, wait_seconds) * 1e3); }
  /// For a file: whether writes are flushed to the disk, or stay with the system, where they are
  /// complete only once the writing process has closed the file. The latter is for files that are
  /// thrown away if the process ends early.
  enum class Sync { each_commit, none } sync = Sync::each_commit;
};

/// Opens a file. Throws: NotFound for a missing one with `Missing::refused`.
[[nodiscard]] std::unique_ptr<SqlConnection> open_sqlite(const std::string& path,
                                                         const SqlOptions& options);
/// Opens a server, by libpq's address: "postgresql://user@host/database". Throws: Unsupported if d5
/// was built without libpq.
[[nodiscard]] std::unique_ptr<SqlConnection> open_postgresql(const std::string& address,
                                                             const SqlOptions& options);

}  // namespace d5::detail
