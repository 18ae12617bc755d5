// SPDX-License-Identifier: Apache-2.0
#include "level1_network/picture/layered_layout.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"

namespace {

using d5::LayeredLayout;
using Size = LayeredLayout::Size;

bool overlap(const LayeredLayout& layout, const std::vector<Size>& boxes, std::size_t a,
             std::size_t b) {
  const auto p = layout.centre(a), q = layout.centre(b);
  return std::fabs(p.x - q.x) < (boxes[a].width + boxes[b].width) / 2 &&
         std::fabs(p.y - q.y) < (boxes[a].height + boxes[b].height) / 2;
}

}  // namespace

TEST_CASE("a chain is drawn as a straight column") {
  const std::vector<Size> boxes(4, {50, 20});
  const LayeredLayout layout(boxes, {{0, 1}, {1, 2}, {2, 3}});
  for (std::size_t i = 1; i < boxes.size(); ++i) {
    CHECK(layout.centre(i).x == Approx(layout.centre(0).x));
    CHECK(layout.centre(i).y > layout.centre(i - 1).y + 20);
  }
}

TEST_CASE("the sides of a branch stand beside each other, around what they come from") {
  const std::vector<Size> boxes(4, {50, 20});
  const LayeredLayout layout(boxes, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  CHECK(layout.centre(1).y == layout.centre(2).y);
  CHECK(layout.centre(0).x == Approx((layout.centre(1).x + layout.centre(2).x) / 2));
  CHECK(layout.centre(3).x == Approx(layout.centre(0).x));
}

TEST_CASE("what is read late stands near its reader") {
  const std::vector<Size> boxes(4, {50, 20});
  const LayeredLayout layout(boxes, {{0, 2}, {2, 3}, {1, 3}});
  CHECK(layout.centre(1).y == layout.centre(2).y);
}

TEST_CASE("nothing to draw takes no place") {
  const LayeredLayout layout({}, {});
  CHECK(layout.size().width > 0);
}

TEST_CASE("edges that pass more layers than anybody could look at are refused") {
  const std::vector<Size> boxes(1000, {50, 20});
  LayeredLayout::Edges edges;
  for (std::size_t i = 1; i < boxes.size(); ++i) {
    edges.emplace_back(i - 1, i);
    edges.emplace_back(0, i);
  }
  CHECK_THROWS_AS(LayeredLayout(boxes, edges), d5::Unsupported);
}

TEST_CASE("boxes of any graph lie apart, within the picture, and every edge leads down") {
  const auto seed = GENERATE(range(0, 30));
  INFO("seed " << seed);
  d5::RandomStream random(std::uint64_t(seed), 0);
  std::vector<Size> boxes;
  LayeredLayout::Edges edges;
  for (std::size_t i = 0; i < 40; ++i) {
    boxes.push_back({20 + double(random.below(100)), 10 + double(random.below(40))});
    for (auto reads = random.below(4); i > 0 && reads > 0; --reads) {
      edges.emplace_back(i - 1 - random.below(std::min<std::uint64_t>(i, 12)), i);
    }
  }
  const LayeredLayout layout(boxes, edges);
  double left = layout.size().width;
  for (std::size_t box = 0; box < boxes.size(); ++box) {
    left = std::min(left, layout.centre(box).x - boxes[box].width / 2);
  }
  CHECK(left < 100);  // a margin, and points of edges that may lie outside of all boxes
  for (std::size_t a = 0; a < boxes.size(); ++a) {
    const auto centre = layout.centre(a);
    CHECK(centre.x - boxes[a].width / 2 >= 0);
    CHECK(centre.x + boxes[a].width / 2 <= layout.size().width);
    CHECK(centre.y + boxes[a].height / 2 <= layout.size().height);
    for (std::size_t b = 0; b < a; ++b) CHECK_FALSE(overlap(layout, boxes, a, b));
  }
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const auto& way = layout.way(e);
    CHECK(way.size() % 2 == 0);
    for (std::size_t i = 1; i < way.size(); ++i) CHECK(way[i].y >= way[i - 1].y);
    for (const auto& point : way) {
      for (std::size_t box = 0; box < boxes.size(); ++box) {  // it goes through no other box
        const auto centre = layout.centre(box);
        CHECK_FALSE((std::fabs(point.x - centre.x) < boxes[box].width / 2 - 1 &&
                     std::fabs(point.y - centre.y) < boxes[box].height / 2 - 1));
      }
    }
  }
}
