// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sqlite3.h>

#include <filesystem>
#include <map>
#include <new>
#include <utility>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "evaluation/database/sql_connection.hpp"
#include "evaluation/database/sqlite_values.hpp"

namespace d5::detail {
namespace {

/// "d5ev": the application id in the first page of a d5 file.
constexpr int kApplication = 0x64356576;

class SqliteConnection final : public SqlConnection {
 public:
  SqliteConnection(const std::string& path, const SqlOptions& options)
      : path_(path), wait_seconds_(options.wait_seconds) {
    const bool made = options.missing == SqlOptions::Missing::made;
    std::error_code ignored;
    if (!made && !std::filesystem::exists(path, ignored)) {
      throw NotFound(fmt::format("there is no database '{}'", printable(path)));
    }
    if (std::filesystem::is_directory(path, ignored)) {
      throw IoError(
          fmt::format("'{}' is a folder; name a file in it, such as d5.db", printable(path)));
    }
    sqlite3* opened = nullptr;
    const int status = sqlite3_open_v2(
        path.c_str(), &opened, SQLITE_OPEN_READWRITE | (made ? SQLITE_OPEN_CREATE : 0), nullptr);
    handle_.reset(opened);
    check(status, "open");
    sqlite3_extended_result_codes(opened, 1);
    sqlite3_busy_timeout(opened, options.wait_milliseconds());
    // A file may come from elsewhere: its triggers and views must not call functions with side
    // effects.
    run("PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF");
    if (options.sync == SqlOptions::Sync::none) {
      journal_ = "MEMORY";
      // Small pages, because the file is sent elsewhere, and most of its tables have a row or none.
      run("PRAGMA page_size = 1024; PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY");
    } else {
      run("PRAGMA synchronous = FULL");
    }
  }

  void run(const std::string& statements) override {
    check(sqlite3_exec(handle_.get(), statements.c_str(), nullptr, nullptr, nullptr), statements);
  }

  SqlTable query(const std::string& statement, const SqlRow& parameters) override {
    const Use prepared = prepare(statement, parameters);
    SqlTable table{titles_of(prepared.get())};
    while (step(prepared, statement)) table.rows.push_back(row_of(prepared.get()));
    return table;
  }

  void read(const std::string& statement, const SqlRow& parameters,
            const std::function<void(std::vector<std::string>)>& titles,
            const std::function<void(SqlRow)>& row) override {
    const Use prepared = prepare(statement, parameters);
    // ATTACH and the like count as reading, but return nothing.
    if (sqlite3_stmt_readonly(prepared.get()) == 0 || sqlite3_column_count(prepared.get()) == 0) {
      throw ValueError(
          fmt::format("database: '{}' is no query; a statement may only read, as SELECT",
                      printable(statement)));
    }
    titles(titles_of(prepared.get()));
    while (step(prepared, statement)) row(row_of(prepared.get()));
  }

  std::int64_t change(const std::string& statement, const SqlRow& parameters) override {
    const Use prepared = prepare(statement, parameters);
    while (step(prepared, statement)) continue;
    return sqlite3_changes64(handle_.get());
  }

  void append(const std::string& table, const std::vector<std::string>& columns, std::size_t count,
              const std::function<void(std::size_t, SqlRow&)>& row) override {
    std::string places;
    for (std::size_t i = 1; i <= columns.size(); ++i) {
      places += fmt::format("{}${}", i > 1 ? ", " : "", i);
    }
    const std::string statement =
        fmt::format("INSERT INTO {} ({}) VALUES ({})", table, fmt::join(columns, ", "), places);
    const Use prepared = prepare(statement, {});
    SqlRow values;
    for (std::size_t i = 0; i < count; ++i) {
      values.clear();
      row(i, values);
      bind(prepared.get(), values);
      (void)step(prepared, statement);
      sqlite3_reset(prepared.get());
    }
  }

  void begin_writing() override { run("BEGIN IMMEDIATE"); }
  void begin_reading() override { run("BEGIN"); }

  std::string and_lock_what_is_free(const std::string&) const override { return {}; }
  std::string append_only(const std::string& table) const override {
    std::string statements;
    for (const char* action : {"UPDATE", "DELETE"}) {
      statements += fmt::format(
          "CREATE TRIGGER {0}_no_{1} BEFORE {1} ON {0} BEGIN "
          "SELECT RAISE(ABORT, 'rows of {0} are never changed'); END;\n",
          table, action);
    }
    return statements;
  }
  void lock_schema() override {}  // a writer is alone anyway
  void only_read() override { run("PRAGMA query_only = ON"); }
  bool has_table(const std::string& name) override {
    return !query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = $1", {name})
                .rows.empty();
  }
  void claim() override {
    const auto number = [&](const char* pragma) {
      return std::get<std::int64_t>(query(pragma, {}).rows.at(0).at(0));
    };
    // In this order, because another process may be creating the same file.
    const bool empty = number("SELECT COUNT(*) FROM sqlite_master") == 0;
    const std::int64_t application = number("PRAGMA application_id");
    if (application == kApplication) return;
    if (application != 0 || !empty) {
      throw FormatError(fmt::format("'{}' is a database, but none of d5's; choose another file",
                                    printable(path_)));
    }
    run_alone(fmt::format("PRAGMA journal_mode = {}; PRAGMA application_id = {}", journal_,
                          kApplication));
  }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

  /// A prepared statement, which is cached after its use.
  class Use {
   public:
    Use(SqliteConnection& connection, std::string text, Statement statement)
        : connection_(connection), text_(std::move(text)), statement_(std::move(statement)) {}
    ~Use() { connection_.keep(text_, std::move(statement_)); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    [[nodiscard]] sqlite3_stmt* get() const { return statement_.get(); }

   private:
    SqliteConnection& connection_;
    std::string text_;
    Statement statement_;
  };
  void keep(const std::string& text, Statement statement) noexcept {
    constexpr std::size_t kMost = 128;
    sqlite3_reset(statement.get());
    sqlite3_clear_bindings(statement.get());
    try {
      if (kept_.size() >= kMost) kept_.clear();
      kept_.insert_or_assign(text, std::move(statement));
    } catch (const std::bad_alloc&) {  // then it is prepared again
    }
  }
  Statement take_kept(const std::string& text) {
    const auto kept = kept_.extract(text);
    return kept ? std::move(kept.mapped()) : nullptr;
  }

  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  };

  /// Retries, because SQLite locks the file to begin a log, and gives up at once if another has it.
  void run_alone(const std::string& statements) const {
    constexpr int kLookMilliseconds = 10;
    const double end = now_seconds() + wait_seconds_;
    while (true) {
      const int status = sqlite3_exec(handle_.get(), statements.c_str(), nullptr, nullptr, nullptr);
      if ((status & 0xff) != SQLITE_BUSY || now_seconds() > end) return check(status, statements);
      sqlite3_sleep(kLookMilliseconds);
    }
  }

  [[noreturn]] void fail(int status, const std::string& statement) const {
    const std::string reason = printable_message(sqlite3_errmsg(handle_.get()));
    const std::string who = fmt::format("database '{}'", printable(path_));
    switch (status & 0xff) {
      case SQLITE_BUSY:
      case SQLITE_LOCKED:
        throw IoError(who + ": another program holds its lock and does not release it");
      case SQLITE_FULL:
        throw IoError(fmt::format("{}: the disk is full; earlier results are intact", who));
      case SQLITE_CORRUPT:
      case SQLITE_NOTADB:
        throw FormatError(
            fmt::format("{}: {}; 'sqlite3 FILE .recover' saves what is left", who, reason));
      case SQLITE_ERROR:
      case SQLITE_RANGE:
        throw ValueError(fmt::format("{}: {}: {}", who, reason, printable(statement)));
      case SQLITE_CONSTRAINT:
        throw ValueError(fmt::format("{}: {}", who, reason));
      default:
        throw IoError(fmt::format("{}: {}", who, reason));
    }
  }
  void check(int status, const std::string& statement) const {
    if (status != SQLITE_OK) fail(status, statement);
  }

  Use prepare(const std::string& statement, const SqlRow& parameters) {
    Statement prepared = take_kept(statement);
    if (!prepared) prepared = newly_prepared(statement);
    bind(prepared.get(), parameters);
    return {*this, statement, std::move(prepared)};
  }
  Statement newly_prepared(const std::string& statement) const {
    sqlite3_stmt* prepared = nullptr;
    const char* rest = nullptr;
    check(sqlite3_prepare_v2(handle_.get(), statement.c_str(), int(statement.size()), &prepared,
                             &rest),
          statement);
    Statement result(prepared);
    if (!prepared || std::string(rest).find_first_not_of(" \t\r\n;") != std::string::npos) {
      throw ValueError(fmt::format("'{}' is not one SQL statement", printable(statement)));
    }
    return result;
  }
  void bind(sqlite3_stmt* statement, const SqlRow& values) const {
    check(bind_values(statement, values), sqlite3_sql(statement));
  }
  bool step(const Use& statement, const std::string& text) const {
    const int status = sqlite3_step(statement.get());
    if (status == SQLITE_ROW) return true;
    if (status != SQLITE_DONE) fail(status, text);
    return false;
  }

  std::string path_;
  double wait_seconds_;
  const char* journal_ = "WAL";
  std::unique_ptr<sqlite3, Close> handle_;
  std::map<std::string, Statement> kept_;  ///< by their text, none of them in use
};

}  // namespace

std::unique_ptr<SqlConnection> open_sqlite(const std::string& path, const SqlOptions& options) {
  return std::make_unique<SqliteConnection>(path, options);
}

}  // namespace d5::detail
