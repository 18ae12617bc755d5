// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "core/entries/path_option.hpp"
#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level2_training/data/subset.hpp"
#include "level2_training/data/batch_check.hpp"

namespace d5 {
namespace {

struct TextOptions : DatasetOptions {
  std::string data;
  std::int64_t length = 128, stride = 0;
  double test_share = 0.1;

  void declare(OptionList& options) {
    options.add("data", data, "file whose bytes are the tokens, 0 to 255", detail::path_text());
    options.add("length", length, "tokens per sample", {.least = 1});
    options.add("stride", stride,
                "distance between the first tokens of successive samples; 0: the length",
                {.least = 0});
    options.add("test_share", test_share,
                "share of the bytes, at the end of the file, that are the test part",
                {.least = 0, .below = 1});
    DatasetOptions::declare(options);
  }
};

/// Fields "tokens" int64 {length} and "label", the successor of each token.
class TextDataset final : public Dataset {
 public:
  /// Shares `text`; its tokens are [begin, end).
  TextDataset(std::string name, std::shared_ptr<const std::string> text, std::size_t begin,
              std::size_t end, const TextOptions& options, Artefact file)
      : name_(std::move(name)),
        text_(std::move(text)),
        begin_(begin),
        length_(options.length),
        stride_(options.stride > 0 ? options.stride : options.length),
        file_(std::move(file)),
        fields_{{"tokens", {DType::int64, {length_}}}, {"label", {DType::int64, {length_}}}} {
    // One token more than the length of a sample: the successor of the last one.
    const auto tokens = std::int64_t(end - begin);
    if (tokens <= length_) {
      throw ValueError(fmt::format(
          "dataset text: {} has {} bytes, expected more than the length of {}; choose a shorter "
          "length or another test_share",
          name_, tokens, length_));
    }
    size_ = (tokens - length_ - 1) / stride_ + 1;
  }

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string description() const override {
    return fmt::format("{} sequences of {} bytes of {}", size_, length_, printable(file_.name));
  }
  [[nodiscard]] std::vector<Artefact> artefacts() const override { return {file_}; }
  [[nodiscard]] std::int64_t size() const override { return size_; }
  [[nodiscard]] const std::vector<Field>& fields() const override { return fields_; }
  [[nodiscard]] std::string sample_name(std::int64_t index) const override {
    detail::check_index(*this, index);
    return fmt::format("{}, byte {}", file_.name, begin_ + std::size_t(index * stride_));
  }

  void read(std::span<const std::int64_t> indices, const Draw&,
            std::span<Tensor> batch) const override {
    detail::check_batch(*this, indices, batch);
    std::int64_t* token = batch[0].data<std::int64_t>();
    std::int64_t* label = batch[1].data<std::int64_t>();
    for (const std::int64_t index : indices) {
      const char* byte = text_->data() + begin_ + index * stride_;
      for (std::int64_t t = 0; t < length_; ++t) {
        *token++ = static_cast<std::uint8_t>(byte[t]);
        *label++ = static_cast<std::uint8_t>(byte[t + 1]);
      }
    }
  }

 private:
  std::string name_;
  std::shared_ptr<const std::string> text_;
  std::size_t begin_;
  std::int64_t length_, stride_, size_ = 0;
  Artefact file_;
  std::vector<Field> fields_;
};

DatasetPair open_text(const Interrupt& interrupt, const TextOptions& options) {
  if (options.data.empty()) throw ValueError("dataset text: data=FILE is missing");
  const auto text =
      std::make_shared<const std::string>(read_file(options.data, memory_budget(), interrupt));
  const Artefact file{.name = std::filesystem::path(options.data).filename().string(),
                      .sha256 = detail::sha256(*text)};
  const std::size_t train =
      text->size() - std::size_t(std::floor(double(text->size()) * options.test_share));
  DatasetPair pair{std::make_shared<TextDataset>("text-train", text, 0, train, options, file),
                   nullptr};
  if (train < text->size()) {
    pair.test =
        std::make_shared<TextDataset>("text-test", text, train, text->size(), options, file);
  }
  return options.parts_of(std::move(pair));
}

}  // namespace

namespace dataset {

void register_text(Registry<DatasetEntry>& registry) {
  registry.add("text",
               DatasetEntry::with<TextOptions>(
                   "bytes of a file as token sequences, for next-token prediction", open_text));
}

}  // namespace dataset
}  // namespace d5
