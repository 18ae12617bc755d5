// SPDX-License-Identifier: Apache-2.0
#include "evaluation/run/library_lines.hpp"

#include <catch2/catch.hpp>
#include <string>

namespace d5 {
namespace {

// Printed by oneDNN 3.2 (PyPI onednn-cpu-gomp 2023.2) and by that of torch 2.13; cut.
const std::string kPrinted =
    "onednn_verbose,info,oneDNN v3.2.0 (commit N/A)\n"
    "onednn_verbose,v1,info,template:timestamp,operation,engine,primitive,implementation,...\n"
    "onednn_verbose,v1,1795695685895.568115,primitive,exec,cpu,convolution,jit:avx512_core,"
    "forward_training,src:f32:a:blocked:abcd::f0 dst:f32:a:blocked:aBcd16b::f0,"
    "attr-scratchpad:user,alg:convolution_direct,mb4_ic3oc64_ih128oh126kh3,64.0869\n"
    "onednn_verbose,1795695685959.840088,exec,cpu,reorder,jit:blk,undef,src_f32::blocked:aBcd16b:"
    "f0 "
    "dst_f32::blocked:abcd:f0,,,4x64x126x126,52.252\n"
    "onednn_verbose,v1,1795695685960.0,primitive,create:cache_miss,cpu,reorder,jit:blk,undef,,,,1,"
    "2\n"
    "something else\nonednn_verbose,v1,not a number,primitive,exec,cpu,sum,x,undef,,,,1x1,abc\n"
    "onednn_verbose,v1,1795695685960.0,primitive,exec";

TEST_CASE("oneDNN's lines of what ran are spans, and no other line is") {
  const auto spans = detail::onednn_spans(kPrinted, -1'795'695'685'000'000'000);
  REQUIRE(spans.size() == 2);
  CHECK(spans[0].name == "oneDNN convolution");
  CHECK(spans[0].level == "library");
  CHECK(std::abs(spans[0].begin_ns - 895'568'115) < 1000);
  CHECK(spans[0].end_ns - spans[0].begin_ns == 64'086'900);
  REQUIRE(spans[0].arguments.size() == 3);
  CHECK(std::get<std::string>(spans[0].arguments[1].value) == "jit:avx512_core");
  CHECK(std::get<std::string>(spans[0].arguments[2].value) == "mb4_ic3oc64_ih128oh126kh3");
  CHECK(spans[1].name == "oneDNN reorder");
  CHECK(std::get<std::string>(spans[1].arguments[2].value) == "4x64x126x126");
}

}  // namespace
}  // namespace d5
