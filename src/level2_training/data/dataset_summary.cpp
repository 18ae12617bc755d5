// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/dataset_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/image/image.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;

std::vector<Tensor> read_sample(const Dataset& dataset, std::int64_t index) {
  std::vector<Tensor> sample = empty_batch(dataset, 1);
  dataset.read(std::span(&index, 1), {}, sample);
  return sample;
}

std::string short_text(const Tensor& value) {
  constexpr std::int64_t kShown = 4;
  if (value.dtype() != DType::string) return to_string(value, kShown);
  const auto texts = value.span<std::string>();
  return texts.size() == 1 ? fmt::format("{} bytes", texts.front().size())
                           : fmt::format("{} texts", texts.size());
}

/// Converts {channels, height, width} of numbers to {height, width, 3}, scaled from black to white.
template <class T>
Tensor spread(const Tensor& planes) {
  const auto from = planes.span<T>();
  const auto [least, most] =
      std::ranges::minmax_element(from, {}, [](const T& v) { return double(Arithmetic<T>(v)); });
  const double low = double(Arithmetic<T>(*least)), range = double(Arithmetic<T>(*most)) - low;
  const std::int64_t channels = planes.shape()[0], pixels = planes.elements() / channels;
  Tensor image = Tensor::empty(DType::uint8, {planes.shape()[1], planes.shape()[2], 3});
  auto to = image.span<std::uint8_t>();
  for (std::int64_t p = 0; p < pixels; ++p) {
    for (std::int64_t c = 0; c < 3; ++c) {
      const T value = from[std::size_t(std::min(c, channels - 1) * pixels + p)];
      const double share = range > 0 ? (double(Arithmetic<T>(value)) - low) / range : 0;
      to[std::size_t(3 * p + c)] = share > 0 ? std::uint8_t(share * 255 + 0.5) : 0;  // NaN: black
    }
  }
  return image;
}

/// The value of one sample as an image, if it is one.
std::optional<Tensor> picture(const Tensor& value) {
  const Shape& shape = value.shape();
  if (value.dtype() == DType::string) {
    if (value.elements() != 1) return std::nullopt;
    const std::string text = value.item<std::string>();
    return decode_image(std::as_bytes(std::span(text)));
  }
  if (shape.rank() != 3 || value.elements() == 0) return std::nullopt;
  if (value.dtype() == DType::uint8 && shape[2] == 3) return value;
  if (shape[0] != 1 && shape[0] != 3) return std::nullopt;
  std::optional<Tensor> image;
  dispatch(NumberTypes{}, value.dtype(), "picture", [&]<class T>() { image = spread<T>(value); });
  return image;
}

}  // namespace

TextTable field_table(const Dataset& dataset) {
  TextTable table({"field", "type", "shape"});
  for (const auto& [name, desc] : dataset.fields()) {
    table.add({name, std::string(name_of(desc.dtype)),
               desc.shape.rank() == 0 ? "scalar" : to_string(desc.shape)});
  }
  return table;
}

TextTable class_table(const Dataset& dataset, std::string_view field) {
  std::map<std::int64_t, std::int64_t> counts;
  for (const std::int64_t label : dataset.labels(field)) ++counts[label];
  TextTable table(
      {{std::string(field), TextTable::Align::right}, {"samples", TextTable::Align::right}});
  for (const auto& [label, count] : counts) {
    table.add({std::to_string(label), std::to_string(count)});
  }
  return table;
}

TextTable sample_table(const Dataset& dataset, std::int64_t count) {
  std::vector<TextTable::Column> columns{"sample"};
  for (const auto& field : dataset.fields()) columns.emplace_back(field.name);
  TextTable table(std::move(columns));
  for (std::int64_t index = 0; index < std::min(count, dataset.size()); ++index) {
    std::vector<std::string> row{dataset.sample_name(index)};
    for (const auto& value : read_sample(dataset, index)) {
      row.push_back(short_text(value.reshaped(Shape(value.shape().dims().subspan(1)))));
    }
    table.add(std::move(row));
  }
  return table;
}

std::int64_t write_pictures(const Dataset& dataset, std::int64_t count, const std::string& folder,
                            const Interrupt& interrupt) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw IoError(fmt::format("cannot make folder '{}': {}", printable(folder), error.message()));
  }
  std::int64_t written = 0;
  for (std::int64_t index = 0; index < std::min(count, dataset.size()); ++index) {
    interrupt.check("writing pictures");
    const std::vector<Tensor> sample = read_sample(dataset, index);
    for (std::size_t f = 0; f < sample.size(); ++f) {
      const auto image = picture(sample[f].reshaped(Shape(sample[f].shape().dims().subspan(1))));
      if (!image) continue;
      // A field's name may look like a path; its number does not.
      write_file((fs::path(folder) / fmt::format("{}-{}.png", index, f)).string(),
                 encode_png(*image));
      ++written;
    }
  }
  return written;
}

std::int64_t read_all(const Dataset& dataset, const Interrupt& interrupt) {
  std::vector<Tensor> sample = empty_batch(dataset, 1);
  std::int64_t bytes = 0;
  for (std::int64_t index = 0; index < dataset.size(); ++index) {
    interrupt.check("reading " + dataset.name());
    dataset.read(std::span(&index, 1), {}, sample);
    bytes += bytes_of(sample);
  }
  return bytes;
}

std::int64_t bytes_of(std::span<const Tensor> tensors) {
  std::int64_t bytes = 0;
  for (const auto& tensor : tensors) {
    if (tensor.dtype() == DType::string) {
      for (const auto& text : tensor.span<std::string>()) bytes += std::int64_t(text.size());
    } else {
      bytes += std::int64_t(tensor.bytes());
    }
  }
  return bytes;
}

}  // namespace d5
