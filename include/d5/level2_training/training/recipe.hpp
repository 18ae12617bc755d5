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

/// How long a recipe trains, and from which seed: its section "training".
struct TrainingOptions {
  std::int64_t epochs = 1;
  std::int64_t most_batches = 0;
  std::uint64_t seed = 0;
  std::int64_t test_batch_size = 250;
  std::int64_t test_every = 1;
  /// What the network computes in; parameters, and what an optimizer remembers, stay float32.
  enum class Precision { float32, float16, bfloat16 } precision = Precision::float32;

  void declare(OptionList& options);
};

/// What a training run consists of, which parts of it may be changed, and which results are good
/// enough. File format: docs/reference/file_formats.md, "Recipe".
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
    int line = 0;  ///< 0: `set` gave it
  };
  /// A bound on the number that stands for a metric's samples.
  struct Acceptable {
    enum class Bound { at_least, at_most };
    std::string metric;
    Bound bound = Bound::at_least;
    double value = 0;
    std::optional<Statistic> of = {};  ///< which number that is; nothing: the metric's own
  };

  /// Within which a value is tuned.
  struct Range {
    std::string key;  ///< of the mutable part: "optimizer.learning_rate"
    double least = 0, most = 0;
    enum class Scale { linear, logarithmic } scale = Scale::linear;
  };

  /// Throws: FormatError, NotFound with file, line and the nearest known name.
  [[nodiscard]] static Recipe parse(const std::string& text, const std::string& file);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& summary() const { return summary_; }
  [[nodiscard]] const std::string& file() const { return file_; }
  /// What was parsed, and the assignments made since, in their order: together the recipe.
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::vector<std::string>& changes() const { return changes_; }
  /// Values by dotted key: "optimizer.learning_rate".
  [[nodiscard]] const std::map<std::string, Value, std::less<>>& values() const { return values_; }
  [[nodiscard]] const std::vector<Acceptable>& acceptable() const { return acceptable_; }

  /// What is accepted is said of results, and fails none: for runs that are compared.
  void compare_only() { compared_ = true; }
  [[nodiscard]] bool is_compared() const { return compared_; }

  [[nodiscard]] const std::vector<Range>& ranges() const { return ranges_; }
  /// What runs of it gave when it was written, a number a run, by metric.
  [[nodiscard]] const std::map<std::string, std::vector<double>, std::less<>>& reference() const {
    return reference_;
  }
  /// The text with these numbers for its reference, in place of any that it has.
  [[nodiscard]] std::string text_with_reference(const std::string& metric,
                                                const std::vector<double>& runs) const;

  /// Changes a value of the mutable part, given as "key=value", or gives one that the recipe leaves
  /// at its default: any option of the section's entry, of a metric, of "training". A section that
  /// is fixed whole keeps its defaults, too. Throws: ValueError for a key of the fixed part,
  /// NotFound with the nearest key for any other.
  ///
  /// Another entry ("optimizer.name=adam") keeps those of the section's values that it has options
  /// for, and may come with its own: "optimizer.name=adam:learning_rate=0.001". The section
  /// "distributed" may be set where the recipe has none.
  void set(std::string_view assignment);
  /// The values below `section`, for the part that they configure, with file and line of each.
  /// Names of files are those that `files` finds.
  [[nodiscard]] Settings section(std::string_view section) const;
  /// A value that names a file or folder, and where that is.
  struct File {
    std::string key;   ///< "model.file"
    std::string path;  ///< the text itself where nothing is found
    enum class Place { beside_recipe, current_folder, nowhere } place = Place::nowhere;
  };
  /// The model's file and the data set's: beside the recipe's own file, or in the current folder.
  /// What `set` gave is looked for in the current folder first.
  [[nodiscard]] std::vector<File> files() const;
  /// The entry that `section` names ("optimizer": momentum), `usual` if it names none, and what is
  /// set for it.
  [[nodiscard]] EntryChoice choice(std::string_view section, std::string_view usual = "") const;
  [[nodiscard]] TrainingOptions training() const;
  /// The names below `section`: the metrics of "metrics".
  [[nodiscard]] std::vector<std::string> names_below(std::string_view section) const;
  /// The values that change a run: neither how long it is, nor what is measured or accepted.
  [[nodiscard]] std::map<std::string, std::string> identity() const;
  /// Of these: a checkpoint may be continued under the same checksum.
  [[nodiscard]] std::string checksum() const;
  /// "d5 train FILE --set KEY=VALUE...": what runs it with all its changes.
  [[nodiscard]] CommandLine command() const;

 private:
  std::string name_, summary_, file_, text_;
  std::map<std::string, Value, std::less<>> values_;
  void set_value(const std::string& key, const std::string& text);
  void choose(const std::string& section, const std::string& words);
  void expect_settable(const std::string& key) const;
  [[nodiscard]] std::vector<std::string> settable() const;

  std::vector<Acceptable> acceptable_;
  std::vector<Range> ranges_;
  std::map<std::string, std::vector<double>, std::less<>> reference_;
  std::vector<std::string> changes_;
  bool compared_ = false;
};

/// Reads a recipe: a file, or the name of one that d5 carries ("mnist-lenet").
/// Throws: IoError, NotFound, and what `Recipe::parse` throws.
[[nodiscard]] Recipe load_recipe(const std::string& file_or_name);
/// The names of the recipes that d5 carries.
[[nodiscard]] std::vector<std::string> carried_recipes();

}  // namespace d5
