// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>

#include "core/tensor/shape_text.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/subset.hpp"
#include "d5/level2_training/data/tensor_dataset.hpp"
#include "level2_training/data/batch_check.hpp"

namespace d5 {
namespace {

struct SyntheticOptions : DatasetOptions {
  std::string fields = "image float32 3x224x224 normal, label int64 below 10";
  std::int64_t size = 1024, test_size = 256;
  bool cached = false;
  std::uint64_t seed = 0;

  void declare(OptionList& options) {
    options.add("fields", fields,
                "NAME TYPE [SHAPE] LAW, ...; laws are normal [MEAN DEVIATION], uniform [LOW HIGH], "
                "below N, constant VALUE");
    options.add("size", size, "number of training samples", {.least = 1});
    options.add("test_size", test_size, "number of test samples", {.least = 0});
    options.add(
        "cached", cached,
        "generate samples once and keep them in memory, instead of each time they are read");
    options.add("seed", seed, "seed of all values");
    DatasetOptions::declare(options);
  }
};

/// Distribution of a field's elements.
struct Law {
  enum class Kind { normal, uniform, below, constant } kind;
  double a = 0, b = 0;  ///< mean and deviation; low and high; bound; value

  [[nodiscard]] double draw(RandomStream& random) const {
    switch (kind) {
      case Kind::normal:
        return a + b * random.normal_double();
      case Kind::uniform:
        return a + (b - a) * random.uniform_double();
      case Kind::below:
        return double(random.below(std::uint64_t(a)));
      case Kind::constant:
        break;
    }
    return a;
  }
};

struct LawName {
  Law::Kind kind;
  std::size_t least, most;  ///< numbers behind it
  double a, b;              ///< defaults
};

const std::map<std::string, LawName>& law_names() {
  static const std::map<std::string, LawName> names{
      {"normal", {Law::Kind::normal, 0, 2, 0, 1}},
      {"uniform", {Law::Kind::uniform, 0, 2, 0, 1}},
      {"below", {Law::Kind::below, 1, 1, 0, 0}},
      {"constant", {Law::Kind::constant, 1, 1, 0, 0}}};
  return names;
}

/// Reads one field's words.
class FieldWords {
 public:
  explicit FieldWords(const std::string& text) : text_(text) {
    std::istringstream stream(text);
    for (std::string word; stream >> word;) words_.push_back(word);
  }

  [[nodiscard]] Dataset::Field field() {
    if (words_.size() < 3) fail("expected NAME TYPE [SHAPE] LAW");
    Dataset::Field field{words_[0], {dtype_from_name(words_[1]), {}}};
    next_ = 2;
    if (is_digit(words_[2].front())) field.desc.shape = shape(words_[next_++]);
    return field;
  }

  [[nodiscard]] Law law() {
    if (next_ == words_.size()) fail("expected a law behind the shape");
    const std::string& name = words_[next_++];
    const auto place = law_names().find(name);
    if (place == law_names().end()) {
      throw_unknown_name(fmt::format("dataset synthetic: '{}': law", printable(text_)), name,
                         {"normal", "uniform", "below", "constant"});
    }
    const LawName& known = place->second;
    const std::size_t given = words_.size() - next_;
    if (given != known.most && given != known.least) {
      fail(fmt::format("'{}' has {} numbers behind it, expected {}", name, given, known.most));
    }
    Law law{known.kind, known.a, known.b};
    if (given > 0) law.a = number(words_[next_]);
    if (given > 1) law.b = number(words_[next_ + 1]);
    constexpr double kMostBound = 9007199254740992;  // 2^53: doubles have all integers below
    if (law.kind == Law::Kind::below && !(law.a >= 1 && law.a <= kMostBound)) {
      fail("'below' expects a number from 1 to 2^53");
    }
    return law;
  }

 private:
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  [[noreturn]] void fail(const std::string& what) const {
    throw ValueError(fmt::format("dataset synthetic: field '{}': {}", printable(text_), what));
  }

  [[nodiscard]] double number(std::string_view word) const {
    double value = 0;
    const auto [rest, error] = std::from_chars(word.begin(), word.end(), value);
    if (error != std::errc() || rest != word.end()) {
      fail(fmt::format("'{}' is not a number", printable(word)));
    }
    return value;
  }

  [[nodiscard]] Shape shape(std::string_view word) const {
    const auto shape = detail::shape_in(word);
    if (!shape)
      fail(fmt::format("'{}' is not a shape, expected sizes as 3x32x32", printable(word)));
    if (std::ranges::any_of(*shape, [](std::int64_t dim) { return dim < 1; })) {
      fail("a dimension is at least 1");
    }
    return *shape;
  }

  std::string text_;
  std::vector<std::string> words_;
  std::size_t next_ = 0;
};

/// Random samples. Each sample has its own random stream per field: element by element, row by row.
class SyntheticDataset final : public Dataset {
 public:
  SyntheticDataset(std::string name, std::int64_t size, const SyntheticOptions& options)
      : name_(std::move(name)), size_(size), seed_(options.seed), words_(options.fields) {
    std::istringstream list(options.fields);
    for (std::string text; std::getline(list, text, ',');) {
      FieldWords words(text);
      fields_.push_back(words.field());
      laws_.push_back(words.law());
      streams_.push_back(name_ + "/" + fields_.back().name);
      const TensorDesc& desc = fields_.back().desc;
      if (is_floating_point(desc.dtype) || laws_.back().kind == Law::Kind::below ||
          laws_.back().kind == Law::Kind::constant) {
        continue;
      }
      throw ValueError(
          fmt::format("dataset synthetic: field '{}' is {}, whose law may be 'below' or 'constant'",
                      printable(fields_.back().name), name_of(desc.dtype)));
    }
    if (fields_.empty()) throw ValueError("dataset synthetic: it has no fields");
    for (const auto& [field, desc] : fields_) {
      dispatch(NumberTypes{}, desc.dtype, "dataset synthetic: " + field, []<class T>() {});
    }
    (void)empty_batch(*this, 1);  // refuses what no memory can hold
  }

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string description() const override {
    return fmt::format("{} samples of {} by seed {}", size_, printable(words_), seed_);
  }
  [[nodiscard]] std::int64_t size() const override { return size_; }
  [[nodiscard]] const std::vector<Field>& fields() const override { return fields_; }

  /// Gives the same values in every epoch: `draw` is for augmentation, not for the sample.
  void read(std::span<const std::int64_t> indices, const Draw&,
            std::span<Tensor> batch) const override {
    detail::check_batch(*this, indices, batch);
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      const Law& law = laws_[f];
      const std::int64_t each = fields_[f].desc.elements();
      dispatch(NumberTypes{}, fields_[f].desc.dtype, name_, [&]<class T>() {
        T* to = batch[f].data<T>();
        for (const std::int64_t index : indices) {
          RandomStream random = Draw{.seed = seed_}.stream(streams_[f], index);
          for (std::int64_t i = 0; i < each; ++i) {
            *to++ = T(static_cast<Arithmetic<T>>(law.draw(random)));
          }
        }
      });
    }
  }

 private:
  std::string name_;
  std::int64_t size_;
  std::uint64_t seed_;
  std::string words_;
  std::vector<Field> fields_;
  std::vector<Law> laws_;
  std::vector<std::string> streams_;  ///< one per field; the two parts differ
};

/// Copies all samples of `dataset` into memory.
std::shared_ptr<const Dataset> kept(const Dataset& dataset, const Interrupt& interrupt) {
  std::vector<Tensor> all = empty_batch(dataset, dataset.size());
  for (std::int64_t index = 0; index < dataset.size(); ++index) {
    interrupt.check("making samples");
    std::vector<Tensor> sample;
    for (auto& tensor : all) sample.push_back(tensor.slice(index, index + 1));
    dataset.read(std::span(&index, 1), {}, sample);
  }
  std::vector<std::pair<std::string, Tensor>> fields;
  for (std::size_t f = 0; f < all.size(); ++f)
    fields.emplace_back(dataset.fields()[f].name, all[f]);
  return std::make_shared<TensorDataset>(dataset.name(), std::move(fields));
}

DatasetPair open_synthetic(const Interrupt& interrupt, const SyntheticOptions& options) {
  const auto part = [&](const char* name, std::int64_t size) -> std::shared_ptr<const Dataset> {
    if (size == 0) return nullptr;
    const auto made = std::make_shared<SyntheticDataset>(name, size, options);
    return options.cached ? kept(*made, interrupt) : made;
  };
  return options.parts_of(
      {part("synthetic-train", options.size), part("synthetic-test", options.test_size)});
}

}  // namespace

namespace dataset {

void register_synthetic(Registry<DatasetEntry>& registry) {
  registry.add("synthetic",
               DatasetEntry::with<SyntheticOptions>(
                   "random numbers: any fields, with any type and distribution", open_synthetic));
}

}  // namespace dataset
}  // namespace d5
