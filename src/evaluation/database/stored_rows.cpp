// SPDX-License-Identifier: Apache-2.0
#include "evaluation/database/stored_rows.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/files/deflate.hpp"
#include "core/files/gzip.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/results/results.hpp"

namespace d5::detail {
namespace {

using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little, "numbers are stored as they lie here");

/// The part of an environment that describes the machine, without the run, its time and the build.
constexpr std::array kFacts = {"hostname",
                               "os",
                               "architecture",
                               "cpu",
                               "instruction_sets",
                               "sockets",
                               "cores",
                               "hardware_threads",
                               "numa_nodes",
                               "processor_limit",
                               "l1_bytes",
                               "l2_bytes",
                               "l3_bytes",
                               "memory_bytes",
                               "memory_limit_bytes",
                               "devices",
                               "virtualisation",
                               "governor"};

Results results_of(Json environment, Json measurements) {
  const Json file = {{"format", "d5 results"},
                     {"schema", Results::kSchema},
                     {"environment", std::move(environment)},
                     {"measurements", std::move(measurements)}};
  return results_from_json(file.dump(), "database");
}

}  // namespace

std::string stored_text(const std::string& text) {
  const bool plain = std::ranges::all_of(text, [](char c) { return c > 0; });
  if (plain) return text;
  std::string valid = Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace))
                          .get<std::string>();
  std::erase(valid, '\0');
  return valid;
}

std::string environment_json(const Environment& environment) {
  return Json::parse(to_json(Results{environment, {}})).at("environment").dump();
}

Environment environment_from(const std::string& json) {
  Json parsed = Json::parse(json, nullptr, false);
  if (parsed.is_discarded()) throw FormatError("database: an environment is damaged");
  return results_of(std::move(parsed), Json::array()).environment;
}

std::string machine_facts(const std::string& environment_json) {
  const Json environment = Json::parse(environment_json);
  Json facts;
  for (const char* name : kFacts) facts[name] = environment.at(name);
  return facts.dump();
}

SqlBytes pack_numbers(std::span<const double> numbers) {
  SqlBytes packed;
  packed.bytes.resize(numbers.size_bytes());
  if (!numbers.empty()) std::memcpy(packed.bytes.data(), numbers.data(), numbers.size_bytes());
  return packed;
}

std::vector<double> unpack_numbers(const SqlBytes& bytes) {
  const std::size_t size = bytes.bytes.size();
  if (size % sizeof(double) != 0)
    throw FormatError("database: the samples of a record are damaged");
  std::vector<double> numbers(size / sizeof(double));
  if (size > 0) std::memcpy(numbers.data(), bytes.bytes.data(), size);
  return numbers;
}

SqlBytes pack_text(std::string_view text) {
  Deflater deflater(Deflater::Wrapper::zlib);
  SqlBytes packed{deflater.add(text)};
  packed.bytes += deflater.finish();
  return packed;
}

std::string unpack_text(const SqlBytes& bytes, std::size_t most_bytes) {
  GzipReader reader(bytes.bytes, "a trace of a database", Packing::zlib);
  std::string text, piece(std::size_t{1} << 16, '\0');
  while (const std::size_t count = reader.read(piece.data(), piece.size())) {
    if (count > most_bytes - text.size()) {
      throw FormatError("database: a trace is larger than any that d5 writes");
    }
    text.append(piece, 0, count);
  }
  return text;
}

SqlRow record_texts(const Measurement& record) {
  Measurement without_samples = record;
  without_samples.samples.clear();
  const Json json =
      Json::parse(to_json(Results{{}, {std::move(without_samples)}})).at("measurements").at(0);
  SqlRow row;
  for (const char* name : kTextColumns) {
    row.emplace_back(stored_text(json.at(name).get<std::string>()));
  }
  row.emplace_back(stored_text(json.at("conditions").dump()));
  row.emplace_back(stored_text(json.at("artefacts").dump()));
  return row;
}

std::vector<Measurement> records_from(std::span<const SqlRow> rows) {
  Json list = Json::array();
  for (const SqlRow& row : rows) {
    Json json;
    for (std::size_t i = 0; i < kTextColumns.size(); ++i) {
      json[kTextColumns[i]] = as_written<std::string>(row.at(i));
    }
    for (std::size_t i = 0; const char* name : {"conditions", "artefacts"}) {
      json[name] =
          Json::parse(as_written<std::string>(row.at(kTextColumns.size() + i++)), nullptr, false);
      if (json[name].is_discarded()) {
        throw FormatError(std::string("database: the ") + name + " of a record are damaged");
      }
    }
    json["samples"] = Json::array();
    list.push_back(std::move(json));
  }
  return results_of(Json::object(), std::move(list)).measurements;
}

}  // namespace d5::detail
