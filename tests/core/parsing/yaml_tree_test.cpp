// SPDX-License-Identifier: Apache-2.0
#include "core/parsing/yaml_tree.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"

using namespace d5;

TEST_CASE("maps and values keep the file's order and lines") {
  const auto root = detail::parse_yaml("b: 1\na:\n  inner: two words\n  empty:\n", "f.yaml");
  REQUIRE(root.is_map());
  REQUIRE(root.entries.size() == 2);
  CHECK(root.entries[0].key == "b");
  CHECK(root.entries[0].node.text == "1");
  const auto* a = root.find("a");
  REQUIRE(a);
  CHECK(a->is_map());
  CHECK(a->find("inner")->text == "two words");
  CHECK(a->find("inner")->line == 3);
  CHECK(a->find("empty")->text.empty());
  CHECK(root.find("c") == nullptr);
}

TEST_CASE("a list's values and maps are called by their places") {
  const auto root = detail::parse_yaml(
      "steps:\n  - decode\n  - {name: crop, size: 8}\nmean: [1, 2]\nnone: []\n", "f.yaml");
  const auto* steps = root.find("steps");
  REQUIRE(steps);
  CHECK(steps->is_list());
  REQUIRE(steps->entries.size() == 2);
  CHECK(steps->find("0")->text == "decode");
  CHECK(steps->find("1")->is_map());
  CHECK(steps->find("1")->line == 3);
  CHECK(steps->find("1")->find("size")->text == "8");
  CHECK(root.find("mean")->find("1")->text == "2");
  CHECK(root.find("none")->is_list());
  CHECK(root.find("none")->entries.empty());
}

TEST_CASE("unsupported YAML is refused with file and line") {
  const auto complaint = [](const std::string& text) -> std::string {
    try {
      (void)detail::parse_yaml(text, "f.yaml");
    } catch (const FormatError& error) {
      return error.what();
    }
    return "nothing is wrong";
  };
  CHECK_THAT(complaint("a: 1\n[b]: 1\n"),
             Catch::StartsWith("f.yaml:2") && Catch::Contains("cannot be a key"));
  CHECK_THAT(complaint("a: &x 1\n"), Catch::Contains("anchors"));
  CHECK_THAT(complaint("a: !!int 1\n"), Catch::Contains("tags"));
  CHECK_THAT(complaint("a: 1\na: 2\n"), Catch::StartsWith("f.yaml:2") && Catch::Contains("twice"));
  CHECK_THAT(complaint("a: {b: {c: {d: {e: {f: {g: 1}}}}}}\n"), Catch::Contains("deeper"));
  CHECK_THAT(complaint("a: [[[[[[1]]]]]]\n"), Catch::Contains("deeper"));
  CHECK_THAT(complaint("a: 1\nb: x\xc3\n"), Catch::StartsWith("f.yaml:2:5: '\\xc3"));
  CHECK_THAT(complaint(std::string("a: x\0y\n", 8)), Catch::StartsWith("f.yaml:1:5: '\\x00y"));
}
