// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/core/entries/settings.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/core/statistics/statistics.hpp"

namespace d5 {

/// Length and seed of a training: the recipe's section "training".
struct TrainingOptions {
  std::int64_t epochs = 1;
  std::int64_t most_batches = 0;
  std::uint64_t seed = 0;
  std::int64_t test_batch_size = 250;
  std::int64_t test_every = 1;
  /// Computation type of the network; parameters and optimizer state stay float32.
  enum class Precision { float32, float16, bfloat16 } precision = Precision::float32;

  void declare(OptionList& options);
};

/// A recipe: the parts of a training run, which of them may be changed, and the results that are
/// acceptable. File format: docs/reference/file_formats.md, "Recipe".
///
///     name: mnist-lenet
///     fixed:
///       dataset: {name: mnist, subset: whole}
///       model: {name: lenet}
///     mutable:
///       optimizer: {name: momentum, learning_rate: 0.01}
///       training: {epochs: 8, seed: 1}
///     acceptable:
///       test_accuracy: {at_least: 0.985}
///
/// Source: the recipes of Ben-Nun et al., "A Modular Benchmarking Infrastructure for
/// High-Performance and Reproducible Deep Learning" (IPDPS 2019).
class Recipe {
 public:
  struct Value {
    std::string text;
    bool fixed = false;
    int line = 0;          ///< line in the file; 0: given by `set`
    bool is_text = false;  ///< given as a text, which is no number (`parse` with `places`)
  };
  /// Bound on a metric's statistic.
  struct Acceptable {
    enum class Bound { at_least, at_most };
    std::string metric;
    Bound bound = Bound::at_least;
    double value = 0;
    std::optional<Statistic> of = {};  ///< the statistic; empty: the metric's own
  };

  /// Search range of a value.
  struct Range {
    std::string key;  ///< in the mutable part: "optimizer.learning_rate"
    double least = 0, most = 0;
    enum class Scale { linear, logarithmic } scale = Scale::linear;
  };

  /// A text that was made of values in memory comes with `places`, what messages call each of its
  /// lines: "mutable.training.epochs". Its values in quotes are texts, which are no numbers.
  /// Throws: FormatError, NotFound, TypeError with file, line and the nearest known name.
  [[nodiscard]] static Recipe parse(const std::string& text, const std::string& file,
                                    std::vector<std::string> places = {});

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& summary() const { return summary_; }
  [[nodiscard]] const std::string& file() const { return file_; }
  /// The parsed text, and the later assignments in order; together they are the recipe.
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::vector<std::string>& places() const { return places_; }
  /// A line in messages: "recipe.yaml:9", or with its place, "recipe:mutable.training.epochs".
  [[nodiscard]] std::string place_of(int line) const;
  [[nodiscard]] const std::vector<std::string>& changes() const { return changes_; }
  /// Values by dotted key: "optimizer.learning_rate".
  [[nodiscard]] const std::map<std::string, Value, std::less<>>& values() const { return values_; }
  [[nodiscard]] const std::vector<Acceptable>& acceptable() const { return acceptable_; }

  /// For runs that are compared: acceptable bounds are reported, but fail nothing.
  void compare_only() { compared_ = true; }
  [[nodiscard]] bool is_compared() const { return compared_; }

  [[nodiscard]] const std::vector<Range>& ranges() const { return ranges_; }
  /// Reference runs by metric, one number per run.
  [[nodiscard]] const std::map<std::string, std::vector<double>, std::less<>>& reference() const {
    return reference_;
  }
  /// The text with these numbers as its reference, which replace an earlier one.
  [[nodiscard]] std::string text_with_reference(const std::string& metric,
                                                const std::vector<double>& runs) const;

  /// Applies an assignment "key=value" to the mutable part. It may also set an option that the
  /// recipe leaves at its default: of a section's entry, of a metric, of "training". A section that
  /// is fixed as a whole keeps its defaults. Throws: ValueError for a key of the fixed part;
  /// NotFound with the nearest key for any other.
  ///
  /// A new entry ("optimizer.name=adam") keeps those values of the section that it has options for,
  /// and may bring its own: "optimizer.name=adam:learning_rate=0.001". The section "distributed"
  /// may be set even if the recipe has none.
  void set(std::string_view assignment);
  /// Says that the value of `key` was given as a text, which is no number (`Value::is_text`).
  void mark_text(std::string_view key);
  /// Type of the option that a key sets, "integer" of "training.epochs"; empty if it is unknown.
  [[nodiscard]] std::string type_of(const std::string& key) const;
  /// Settings below `section` for the part that they configure, with file and line of each. File
  /// names are resolved by `files`.
  [[nodiscard]] Settings section(std::string_view section) const;
  /// A value that names a file or folder, with its location.
  struct File {
    std::string key;   ///< "model.file"
    std::string path;  ///< the text itself if nothing is found
    enum class Place { beside_recipe, current_folder, nowhere } place = Place::nowhere;
  };
  /// The model's file and the data set's, next to the recipe's own file or in the current folder.
  /// For values given by `set` the current folder comes first.
  [[nodiscard]] std::vector<File> files() const;
  /// Entry that `section` names ("optimizer": momentum), or `usual` if it names none, with its
  /// settings.
  [[nodiscard]] EntryChoice choice(std::string_view section, std::string_view usual = "") const;
  [[nodiscard]] TrainingOptions training() const;
  /// Names below `section`: the metrics of "metrics".
  [[nodiscard]] std::vector<std::string> names_below(std::string_view section) const;
  /// Values that affect the result of training; excludes its length, metrics and bounds.
  [[nodiscard]] std::map<std::string, std::string> identity() const;
  /// Checksum of `identity`; a checkpoint may be resumed under the same checksum.
  [[nodiscard]] std::string checksum() const;
  /// The command "d5 train FILE --set KEY=VALUE..." that runs it with all its changes.
  [[nodiscard]] CommandLine command() const;

 private:
  std::string name_, summary_, file_, text_;
  std::map<std::string, Value, std::less<>> values_;
  [[nodiscard]] std::string entry_of(const std::string& section) const;
  [[nodiscard]] std::vector<std::string> owners_of(const std::string& key) const;
  void expect_own_options() const;
  void expect_numbers() const;
  void set_value(const std::string& key, const std::string& text);
  void choose(const std::string& section, const std::string& words);
  void expect_settable(const std::string& key) const;
  [[nodiscard]] std::vector<std::string> settable() const;

  std::vector<Acceptable> acceptable_;
  std::vector<Range> ranges_;
  std::map<std::string, std::vector<double>, std::less<>> reference_;
  std::vector<std::string> changes_, places_;
  bool compared_ = false;
};

/// Loads a recipe from a file, or a built-in one by name ("mnist-lenet").
/// Throws: IoError, NotFound, and what `Recipe::parse` throws.
[[nodiscard]] Recipe load_recipe(const std::string& file_or_name);
/// Names of the built-in recipes.
[[nodiscard]] std::vector<std::string> carried_recipes();

}  // namespace d5
