// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "d5/core/trace/timeline.hpp"
#include "d5/prediction/graph/operation_graph.hpp"

namespace d5::chakra {

class AttributeProto;
using Arguments = std::vector<TraceArgument>;

/// Begins the names of arguments that hold a field of a node: "chakra.id".
inline constexpr std::string_view kField = "chakra.";
/// Begins the names of arguments that hold an attribute as protobuf's text: its type is none of an
/// argument's, or its own name begins like a field's.
inline constexpr std::string_view kTyped = "chakra.attr.";

inline constexpr const char* kId = "chakra.id";
inline constexpr const char* kType = "chakra.type";
inline constexpr const char* kControl = "chakra.ctrl_deps";
/// Control dependencies that are data dependencies, too.
inline constexpr const char* kBoth = "chakra.ctrl_and_data_deps";
inline constexpr const char* kMissing = "chakra.missing_data_deps";
inline constexpr const char* kStart = "chakra.start_time_micros";
inline constexpr const char* kVersion = "chakra.version";

/// Kinds of operations in the order of Chakra's types of collectives; the ninth is
/// REDUCE_SCATTER_BLOCK.
inline constexpr const char* kCollectives[] = {
    "all_reduce", "reduce",     "all_gather",     "gather",         "scatter",
    "broadcast",  "all_to_all", "reduce_scatter", "reduce_scatter", "barrier"};
inline constexpr std::int64_t kBarrier = 9;

/// Whether a text is UTF-8.
[[nodiscard]] bool is_text(std::string_view text);

/// Throws: ValueError for a name that is not UTF-8.
[[nodiscard]] TraceArgument argument_of(const AttributeProto& attribute);
/// The inverse. Throws: ValueError for text that is no attribute's.
void fill(AttributeProto& attribute, const TraceArgument& argument);

/// A number as an argument's value: an integer, or text for one that JSON cannot hold.
[[nodiscard]] decltype(TraceArgument::value) exact(std::uint64_t number);
/// The inverse. Throws: ValueError.
[[nodiscard]] std::uint64_t number_of(const TraceArgument& argument);
[[nodiscard]] TraceArgument list_of(const char* name, const std::vector<std::uint64_t>& numbers);

[[nodiscard]] const TraceArgument* find(const Arguments& arguments, std::string_view name);
/// The numbers of a list; none if there is no such argument. Throws: ValueError.
[[nodiscard]] std::vector<std::uint64_t> numbers_of(const Arguments& arguments,
                                                    std::string_view name);
/// The value of an attribute of any integer type.
[[nodiscard]] std::optional<std::int64_t> whole_attribute(const Arguments& arguments,
                                                          std::string_view name);
/// The value of a boolean attribute.
[[nodiscard]] std::optional<bool> truth_attribute(const Arguments& arguments,
                                                  std::string_view name);

}  // namespace d5::chakra
