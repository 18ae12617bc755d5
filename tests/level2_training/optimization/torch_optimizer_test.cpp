// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include "d5/level2_training/optimization/optimizer.hpp"
#include "tests/level2_training/scripted_executor.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

namespace fs = std::filesystem;
constexpr int kSteps = 1000;
constexpr std::size_t kElements = 29;  // in the script's three parameters

/// The record of one case: the first parameters, then gradients and parameters of every step, and
/// what is watched besides.
std::vector<double> read_doubles(const fs::path& path) {
  std::vector<double> values(fs::file_size(path) / sizeof(double));
  std::ifstream(path, std::ios::binary)
      .read(reinterpret_cast<char*>(values.data()),
            std::streamsize(values.size() * sizeof(double)));
  return values;
}

/// A case of the script, and d5's optimizer on the way that it went.
template <class T>
class Follower {
 public:
  Follower(std::vector<double> record, std::string watched, const std::string& name,
           const Settings& settings)
      : record_(std::move(record)), watched_(std::move(watched)), width_(watched_ == "-" ? 2 : 3) {
    REQUIRE(record_.size() == (1 + width_ * kSteps) * kElements);
    const auto part = [&](std::size_t begin, std::size_t end) {
      return std::vector<T>(record_.begin() + std::ptrdiff_t(begin),
                            record_.begin() + std::ptrdiff_t(end));
    };
    const auto a = part(0, 12), b = part(12, 17), c = part(17, 29);
    auto executor = std::make_unique<test::ScriptedExecutor>(
        std::vector<std::pair<std::string, Tensor>>{
            {"a", Tensor::of<T>({3, 4}, std::span<const T>(a))},
            {"b", Tensor::of<T>({5}, std::span<const T>(b))},
            {"c", Tensor::of<T>({2, 3, 2}, std::span<const T>(c))}},
        [this](Network& network, std::int64_t step) {
          const double* from = row(1 + width_ * std::size_t(step));
          for (Parameter& parameter : network.parameters()) {
            for (T& value : parameter.gradient.template span<T>()) value = T(*from++);
          }
          return 0.0;
        });
    optimizer_ = optimizers().at(name).make(std::move(executor), "loss", settings);
  }

  struct Difference {
    double roundings = 0;  ///< in units of epsilon times the step's number, elements being about 1
    double share = 0;      ///< relative to the largest element of its parameter
  };
  /// The largest of any element in any step.
  Difference largest_difference() {
    Difference largest;
    // Not max(): it would lose a NaN.
    const auto take = [](double& most, double value) {
      if (!(value <= most)) most = value;
    };
    for (std::size_t step = 1; step <= kSteps; ++step) {
      optimizer_->step({});
      const double* expected = row(width_ * (step - 1) + 2);
      double difference = difference_of(values(), expected);
      take(largest.share, share_of(values(), expected));
      if (width_ == 3) difference = std::max(difference, watched(row(width_ * step)));
      const double rounding = double(std::numeric_limits<T>::epsilon()) * double(step);
      take(largest.roundings, difference / rounding);
    }
    return largest;
  }

 private:
  const double* row(std::size_t number) const { return record_.data() + number * kElements; }
  Network& network() { return optimizer_->executor().network(); }
  std::vector<T> values() {
    std::vector<T> result;
    for (const Parameter& parameter : network().parameters()) {
      const auto values = parameter.value.template span<T>();
      result.insert(result.end(), values.begin(), values.end());
    }
    return result;
  }
  static double difference_of(const std::vector<T>& values, const double* expected) {
    double largest = 0;
    for (const T value : values) {
      const double difference =
          std::abs(double(value) - *expected) / std::max(1.0, std::abs(*expected));
      if (!(difference <= largest)) largest = difference;
      ++expected;
    }
    return largest;
  }
  double share_of(const std::vector<T>& values, const double* expected) {
    double largest = 0;
    std::size_t i = 0;
    for (const Parameter& parameter : network().parameters()) {
      double off = 0, size = 0;
      for (std::int64_t e = 0; e < parameter.value.elements(); ++e, ++i) {
        off = std::max(off, std::abs(double(values[i]) - expected[i]));
        size = std::max(size, std::abs(expected[i]));
      }
      largest = std::max(largest, off / size);
    }
    return largest;
  }
  double watched(const double* expected) {
    if (watched_ == "tests") {
      const std::vector<T> trained = values();
      optimizer_->begin_test();
      const double difference = difference_of(values(), expected);
      optimizer_->end_test();
      REQUIRE(values() == trained);  // to the bit
      return difference;
    }
    const ValueMap state = optimizer_->state();
    std::vector<T> slots;
    for (const char* name : {"a", "b", "c"}) {
      const auto slot = state.at(watched_ + "/" + name).tensor().template span<T>();
      slots.insert(slots.end(), slot.begin(), slot.end());
    }
    return difference_of(slots, expected);
  }

  std::vector<double> record_;
  std::string watched_;
  std::size_t width_;
  std::shared_ptr<Optimizer> optimizer_;
};

/// Allowed difference per step, in roundings of elements of about 1.
double roundings_a_step(const std::string& name, bool is_float32) {
  // Fourth roots of sums, by another program's eigenvectors. A root of condition number k is known
  // to k / 4 roundings (Higham, "Functions of Matrices", 2008, theorem 3.1): eigenvalues lie five
  // powers of ten apart. Both programs compute the roots of float32 in float64.
  if (name == "shampoo") return is_float32 ? 8 : 1e5 / 4;
  // Both round every operation, in another order; the rates make less than one rounding of these.
  return 1;
}

/// The table in docs/reference/level2.md.
class Table {
 public:
  void add(const std::string& name, bool is_float32, double share, double roundings) {
    Row& row = rows_[name][is_float32 ? 0 : 1];
    row.share = std::max(row.share, share), row.roundings = std::max(row.roundings, roundings);
  }
  void print() const {
    std::printf("| optimizer | float32 | | float64 | |\n| --- | --- | --- | --- | --- |\n");
    for (const auto& [name, row] : rows_) {
      std::printf("| `%s` | %.1e | %.2f | %.1e | %.2f |\n", name.c_str(), row[0].share,
                  row[0].roundings, row[1].share, row[1].roundings);
    }
  }

 private:
  struct Row {
    double share = 0, roundings = 0;
  };
  std::map<std::string, std::array<Row, 2>> rows_;
};

}  // namespace

TEST_CASE("optimizers follow torch's step by step") {
  const char* python = std::getenv("D5_PYTHON");
  const char* source = std::getenv("D5_SOURCE_DIR");
  if (!python || !source) {
    WARN("skipped: needs D5_PYTHON and D5_SOURCE_DIR");
    return;
  }
  const testing::TemporaryFolder folder;
  const std::string command = std::string(python) + " " + source +
                              "/tests/level2_training/torch_trajectories.py " +
                              folder.path().string() + " " + std::to_string(kSteps);
  const int status = std::system(command.c_str());
  if (WIFEXITED(status) && WEXITSTATUS(status) == 3) {
    WARN("skipped: this Python has no torch");
    return;
  }
  REQUIRE(status == 0);

  Table table;
  std::set<std::string> followed;
  std::ifstream index(folder / "index.txt");
  for (std::string line; std::getline(index, line);) {
    CAPTURE(line);
    std::istringstream words(line);
    std::string file, type, watched, name, word;
    words >> file >> type >> watched >> name;
    Settings settings("optimizer " + name);
    while (words >> word)
      settings.set(word.substr(0, word.find('=')), word.substr(word.find('=') + 1));
    auto record = read_doubles(folder / file);
    const auto follow = [&]<class T>(T) {
      const auto largest =
          Follower<T>(std::move(record), watched, name, settings).largest_difference();
      CHECK(largest.roundings < roundings_a_step(name, type == "float32"));
      table.add(name, type == "float32", largest.share, largest.roundings);
    };
    type == "float32" ? follow(0.0f) : follow(0.0);
    followed.insert(name);
  }
  if (std::getenv("D5_TEST_TABLE")) table.print();
  for (const std::string& name : optimizers().names()) {
    // It asks for several gradients a step, and has a test in a closed loop.
    if (name == "stochastic_lbfgs") continue;
    CAPTURE(name);
    CHECK(followed.contains(name));  // each new rule needs a case
  }
}
