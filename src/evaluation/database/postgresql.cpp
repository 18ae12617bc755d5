// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "d5/core/errors/error.hpp"
#include "evaluation/database/libpq.hpp"
#include "evaluation/database/postgresql_values.hpp"
#include "evaluation/database/sql_connection.hpp"

namespace d5::detail {
namespace {

/// Types of the columns that d5 reads, from PostgreSQL's catalogue (pg_type.dat).
enum Type : Oid { kBytes = 17, kInt8 = 20, kInt2 = 21, kInt4 = 23, kFloat4 = 700, kFloat8 = 701 };

/// An arbitrary number, to differ from other programs' advisory locks.
constexpr std::int64_t kSchemaLock = 0x6435'6576'616c;

class PostgresqlConnection final : public SqlConnection {
 public:
  PostgresqlConnection(const std::string& address, const SqlOptions& options)
      : handle_(libpq().connectdb(address.c_str())) {
    if (!handle_ || libpq().status(handle_.get()) != CONNECTION_OK) {
      throw IoError(fmt::format("cannot open the database: {}", reason()));
    }
    libpq().setNoticeProcessor(handle_.get(), [](void*, const char*) {}, nullptr);
    if (libpq().setClientEncoding(handle_.get(), "UTF8") != 0) throw IoError(reason());
    run(fmt::format("SET lock_timeout = {}; SET search_path = d5", options.wait_milliseconds()));
  }

  void run(const std::string& statements) override {
    (void)check(libpq().exec(handle_.get(), statements.c_str()), statements);
  }

  SqlTable query(const std::string& statement, const SqlRow& parameters) override {
    const Result result = execute(statement, parameters);
    SqlTable table{titles_of(result.get())};
    const int rows = libpq().ntuples(result.get());
    for (int row = 0; row < rows; ++row) table.rows.push_back(row_of(result.get(), row));
    return table;
  }

  void read(const std::string& statement, const SqlRow& parameters,
            const std::function<void(std::vector<std::string>)>& titles,
            const std::function<void(SqlRow)>& row) override {
    const PostgresqlParameters given(parameters);
    if (libpq().sendQueryParams(handle_.get(), statement.c_str(), given.count(), nullptr,
                                given.values(), given.lengths(), given.formats(), 0) != 1) {
      throw IoError(reason());
    }
    const GivenUp rest(handle_.get());
    libpq().setSingleRowMode(handle_.get());
    for (bool is_first = true;; is_first = false) {
      const Result result(libpq().getResult(handle_.get()));
      if (!result) return;
      expect_right(result.get(), statement);
      if (is_first) titles(titles_of(result.get()));
      const int rows = libpq().ntuples(result.get());
      for (int i = 0; i < rows; ++i) row(row_of(result.get(), i));
    }
  }

  std::int64_t change(const std::string& statement, const SqlRow& parameters) override {
    const Result result = execute(statement, parameters);
    const std::string_view count = libpq().cmdTuples(result.get());
    std::int64_t changed = 0;
    std::from_chars(count.data(), count.data() + count.size(), changed);
    return changed;
  }

  void append(const std::string& table, const std::vector<std::string>& columns, std::size_t count,
              const std::function<void(std::size_t, SqlRow&)>& row) override {
    const std::string statement =
        fmt::format("COPY {} ({}) FROM STDIN", table, fmt::join(columns, ", "));
    (void)check(libpq().exec(handle_.get(), statement.c_str()), statement);
    constexpr std::size_t kPiece = std::size_t{1} << 18;
    std::string lines;
    SqlRow values;
    const auto send = [&] {
      if (libpq().putCopyData(handle_.get(), lines.data(), int(lines.size())) != 1)
        throw IoError(reason());
      lines.clear();
    };
    try {
      for (std::size_t i = 0; i < count; ++i) {
        values.clear();
        row(i, values);
        for (std::size_t k = 0; k < values.size(); ++k) {
          if (k > 0) lines += '\t';
          add_copied(lines, values[k]);
        }
        lines += '\n';
        if (lines.size() >= kPiece) send();
      }
      if (!lines.empty()) send();
    } catch (...) {
      libpq().putCopyEnd(handle_.get(), "given up");
      while (PGresult* result = libpq().getResult(handle_.get())) libpq().clear(result);
      throw;
    }
    if (libpq().putCopyEnd(handle_.get(), nullptr) != 1) throw IoError(reason());
    const Result first(libpq().getResult(handle_.get()));
    while (PGresult* result = libpq().getResult(handle_.get())) libpq().clear(result);
    expect_right(first.get(), statement);
  }

  void begin_writing() override { run("BEGIN"); }
  void begin_reading() override { run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"); }

  std::string and_lock_what_is_free(const std::string& tables) const override {
    return fmt::format(" FOR UPDATE OF {} SKIP LOCKED", tables);
  }
  std::string append_only(const std::string& table) const override {
    return fmt::format(
        "CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "RAISE EXCEPTION 'rows of % are never changed', TG_TABLE_NAME; END $$;\n"
        "CREATE TRIGGER {0}_no_change BEFORE UPDATE OR DELETE ON {0} "
        "FOR EACH ROW EXECUTE FUNCTION refuse_change();\n",
        table);
  }
  void lock_schema() override { run(fmt::format("SELECT pg_advisory_xact_lock({})", kSchemaLock)); }
  void only_read() override { run("SET default_transaction_read_only = on"); }
  bool has_table(const std::string& name) override {
    return !query(
                "SELECT 1 FROM information_schema.tables WHERE table_schema = 'd5' AND "
                "table_name = $1",
                {name})
                .rows.empty();
  }
  void claim() override {
    if (!query("SELECT 1 FROM pg_namespace WHERE nspname = 'd5'", {}).rows.empty()) return;
    write_all(*this, [&] {
      lock_schema();
      run("CREATE SCHEMA IF NOT EXISTS d5");
    });
  }

 private:
  struct Finish {
    void operator()(PGconn* connection) const { libpq().finish(connection); }
  };
  struct Clear {
    void operator()(PGresult* result) const { libpq().clear(result); }
  };
  using Result = std::unique_ptr<PGresult, Clear>;

  /// Cancels a statement whose remaining rows are not read.
  class GivenUp {
   public:
    explicit GivenUp(PGconn* connection) : connection_(connection) {}
    ~GivenUp() {
      if (libpq().transactionStatus(connection_) != PQTRANS_ACTIVE) return;
      std::array<char, 256> ignored{};
      if (PGcancel* cancel = libpq().getCancel(connection_)) {
        libpq().cancel(cancel, ignored.data(), int(ignored.size()));
        libpq().freeCancel(cancel);
      }
      while (const Result result{libpq().getResult(connection_)}) {
        const ExecStatusType status = libpq().resultStatus(result.get());
        if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT) return;  // it would never end
      }
    }
    GivenUp(const GivenUp&) = delete;
    GivenUp& operator=(const GivenUp&) = delete;

   private:
    PGconn* connection_;
  };

  /// libpq's message, which never contains the password.
  [[nodiscard]] std::string reason() const {
    std::string text = handle_ ? libpq().errorMessage(handle_.get()) : "no memory";
    while (!text.empty() && text.back() == '\n') text.pop_back();
    std::ranges::replace_if(text, [](char c) { return c == '\n' || c == '\t'; }, ' ');
    return printable_message(text);
  }

  Result execute(const std::string& statement, const SqlRow& parameters) const {
    const PostgresqlParameters given(parameters);
    return check(libpq().execParams(handle_.get(), statement.c_str(), given.count(), nullptr,
                                    given.values(), given.lengths(), given.formats(), 0),
                 statement);
  }
  Result check(PGresult* given, const std::string& statement) const {
    Result result(given);
    expect_right(result.get(), statement);
    return result;
  }
  /// Maps the classes of SQLSTATE (PostgreSQL's manual, appendix A) to d5's errors.
  void expect_right(const PGresult* result, const std::string& statement) const {
    const ExecStatusType status = libpq().resultStatus(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_SINGLE_TUPLE ||
        status == PGRES_COPY_IN)
      return;
    const char* field = result ? libpq().resultErrorField(result, PG_DIAG_SQLSTATE) : nullptr;
    const std::string_view state = field ? field : "";
    const std::string why = fmt::format("database: {}", reason());
    if (state == "55P03") {
      throw IoError("database: another program holds its lock and does not release it");
    }
    if (state.starts_with("XX")) throw FormatError(why);  // corrupted data or index
    if (state.starts_with("42")) throw ValueError(fmt::format("{}: {}", why, printable(statement)));
    if (state.starts_with("22") || state.starts_with("23") || state.starts_with("25") ||
        state.starts_with("P0")) {
      throw ValueError(why);
    }
    throw IoError(why);
  }

  static std::vector<std::string> titles_of(const PGresult* result) {
    std::vector<std::string> titles;
    for (int i = 0; i < libpq().nfields(result); ++i) titles.emplace_back(libpq().fname(result, i));
    return titles;
  }
  static SqlRow row_of(const PGresult* result, int row) {
    SqlRow values;
    for (int i = 0; i < libpq().nfields(result); ++i) values.push_back(value(result, row, i));
    return values;
  }
  static SqlValue value(const PGresult* result, int row, int column) {
    if (libpq().getisnull(result, row, column)) return std::monostate();
    const std::string_view text(libpq().getvalue(result, row, column),
                                std::size_t(libpq().getlength(result, row, column)));
    switch (libpq().ftype(result, column)) {
      case kInt2:
      case kInt4:
      case kInt8: {
        std::int64_t integer = 0;
        std::from_chars(text.data(), text.data() + text.size(), integer);
        return integer;
      }
      case kFloat4:
      case kFloat8:
        return std::strtod(text.data(), nullptr);  // accepts "Infinity", too
      case kBytes: {
        std::size_t size = 0;
        const std::unique_ptr<unsigned char, decltype(&::PQfreemem)> bytes(
            libpq().unescapeBytea(reinterpret_cast<const unsigned char*>(text.data()), &size),
            libpq().freemem);
        if (!bytes) throw MemoryError("database: no memory for a value's bytes");
        return SqlBytes{std::string(reinterpret_cast<const char*>(bytes.get()), size)};
      }
      default:
        return std::string(text);
    }
  }

  std::unique_ptr<PGconn, Finish> handle_;
};

}  // namespace

std::unique_ptr<SqlConnection> open_postgresql(const std::string& address,
                                               const SqlOptions& options) {
  return std::make_unique<PostgresqlConnection>(address, options);
}

}  // namespace d5::detail
