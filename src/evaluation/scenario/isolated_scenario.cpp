// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/isolated_scenario.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "d5/core/error.hpp"
#include "evaluation/load/verdict.hpp"

namespace d5 {
namespace {

/// A file in memory that a process and its child share: both read and write numbers as they are.
class SharedFile {
 public:
  SharedFile() {
    const int descriptor = memfd_create("d5 scenario", MFD_CLOEXEC);
    if (descriptor >= 0) file_.reset(fdopen(descriptor, "w+b"));
    if (!file_) {
      throw IoError(fmt::format("isolated scenario: no file in memory: {}", std::strerror(errno)));
    }
  }
  void flush() { std::fflush(file_.get()); }
  void rewind() { std::rewind(file_.get()); }

  template <class T>
  void write(const T* values, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(&count, sizeof count);
    put(values, count * sizeof(T));
  }
  /// Anything that has data() and size().
  template <class Values>
  void write(const Values& values) {
    write(values.data(), values.size());
  }
  template <class Values>
  void read(Values& values) {
    std::size_t count = 0;
    get(&count, sizeof count);
    values.resize(count);
    get(values.data(), count * sizeof(*values.data()));
  }
  template <class T>
  void write_one(const T& value) {
    write(&value, 1);
  }
  template <class T>
  void read_one(T& value) {
    std::vector<T> values;
    read(values);
    value = values.at(0);
  }

 private:
  void put(const void* bytes, std::size_t count) {
    if (count && std::fwrite(bytes, 1, count, file_.get()) != count) {
      throw IoError("isolated scenario: its records do not fit into memory");
    }
  }
  void get(void* bytes, std::size_t count) {
    if (count && std::fread(bytes, 1, count, file_.get()) != count) {
      throw IoError("isolated scenario: its records were cut short");
    }
  }
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
};

void write_result(const ScenarioResult& result, SharedFile& file) {
  file.write(result.queries);
  file.write_one(result.samples_per_query);
  file.write_one(result.latency_from);
  file.write_one(result.percentile);
  file.write_one(result.answers.size());
  for (const KeptAnswer& answer : result.answers) {
    file.write_one(answer.id);
    file.write_one(answer.sample);
    file.write(answer.bytes);
  }
  file.write_one(result.status);
  file.write(result.reason);
  file.write_one(result.conditions.size());
  for (const auto& [name, value] : result.conditions) {
    file.write(name);
    file.write(value);
  }
  file.flush();
}

ScenarioResult read_result(SharedFile& file) {
  file.rewind();
  ScenarioResult result;
  std::size_t count = 0;
  file.read(result.queries);
  file.read_one(result.samples_per_query);
  file.read_one(result.latency_from);
  file.read_one(result.percentile);
  file.read_one(count);
  result.answers.resize(count);
  for (KeptAnswer& answer : result.answers) {
    file.read_one(answer.id);
    file.read_one(answer.sample);
    file.read(answer.bytes);
  }
  file.read_one(result.status);
  file.read(result.reason);
  file.read_one(count);
  for (std::string name; count-- > 0;) {
    file.read(name);
    file.read(result.conditions[name]);
  }
  result.measurements = detail::measurements_of(result);
  return result;
}

}  // namespace

ScenarioResult run_isolated(const std::function<std::unique_ptr<SystemUnderTest>()>& make_system,
                            const EntryChoice& scenario, const ScenarioOptions& options,
                            const Isolation& isolation) {
  const auto made = scenarios().at(scenario.name).make(scenario.settings);
  SharedFile file;
  Measurement record;
  record.level = "evaluation";
  const auto ended = isolated(isolation, record, [&] {
    const auto system = make_system();
    write_result(made->run(*system, options), file);
    return std::vector{record};
  });
  if (ended.at(0).status == Status::passed) return read_result(file);
  ScenarioResult result;
  result.status = ended[0].status;
  result.reason = ended[0].reason;
  result.measurements = detail::measurements_of(result);
  return result;
}

}  // namespace d5
