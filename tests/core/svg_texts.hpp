// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>
#include <vector>

#include "core/report/plot_drawing.hpp"
#include "core/report/text_width.hpp"

namespace d5::testing {

/// A text of an SVG picture, with the box that its characters fill.
struct SvgText {
  std::string words;
  double left, top, right, bottom;
};

/// The value of an attribute of a tag; `otherwise` if it has none.
inline std::string svg_attribute(const std::string& tag, const std::string& name,
                                 const std::string& otherwise) {
  const std::size_t at = tag.find(" " + name + "=\"");
  if (at == std::string::npos) return otherwise;
  const std::size_t begin = at + name.size() + 3;
  return tag.substr(begin, tag.find('"', begin) - begin);
}

inline std::string without_entities(std::string words) {
  for (const auto& [entity, character] :
       {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}}) {
    for (std::size_t at = 0; (at = words.find(entity, at)) != std::string::npos;) {
      words.replace(at++, std::string(entity).size(), character);
    }
  }
  return words;
}

/// The box, turned by degrees around a point.
inline SvgText turned(const SvgText& text, double degrees, double cx, double cy) {
  const double cosine = std::cos(degrees * std::numbers::pi / 180);
  const double sine = std::sin(degrees * std::numbers::pi / 180);
  SvgText box{text.words, 1e9, 1e9, -1e9, -1e9};
  for (const double x : {text.left - cx, text.right - cx}) {
    for (const double y : {text.top - cy, text.bottom - cy}) {
      const double tx = cx + x * cosine - y * sine, ty = cy + x * sine + y * cosine;
      box.left = std::min(box.left, tx), box.right = std::max(box.right, tx);
      box.top = std::min(box.top, ty), box.bottom = std::max(box.bottom, ty);
    }
  }
  return box;
}

/// The first <svg> tag.
inline std::string svg_root(const std::string& svg) {
  const std::size_t begin = svg.find("<svg");
  return svg.substr(begin, svg.find('>', begin) - begin);
}

/// The texts of an SVG, turned as their `transform` says.
inline std::vector<SvgText> svg_texts(const std::string& svg) {
  const std::string root = svg_root(svg);
  std::vector<SvgText> texts;
  for (std::size_t at = 0; (at = svg.find("<text ", at)) != std::string::npos;) {
    const std::size_t begin = svg.find('>', at), end = svg.find("</text>", begin);
    const std::string tag = svg.substr(at, begin - at);
    const std::string words = without_entities(svg.substr(begin + 1, end - begin - 1));
    at = end;
    const auto of = [&](const std::string& name, const std::string& otherwise) {
      return svg_attribute(tag, name, svg_attribute(root, name, otherwise));
    };
    const double size = std::stod(of("font-size", "12"));
    const double x = std::stod(of("x", "0")), y = std::stod(of("y", "0"));
    const bool bold = !of("font-weight", "").empty();
    const double width = detail::text_width(words, size * (bold ? detail::kBold : 1));
    const std::string anchor = of("text-anchor", "start");
    const double left = anchor == "middle" ? x - width / 2 : anchor == "end" ? x - width : x;
    // Source: height of capitals and descent of DejaVu Sans.
    SvgText text{words, left, y - 0.74 * size, left + width, y + 0.24 * size};
    double angle = 0, cx = 0, cy = 0;
    if (std::sscanf(of("transform", "").c_str(), "rotate(%lf %lf %lf", &angle, &cx, &cy) > 0) {
      text = turned(text, angle, cx, cy);
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

/// Faults of an SVG's texts: two that overlap, and one that leaves the picture. Empty if none.
inline std::vector<std::string> faults_of_texts(const std::string& svg) {
  constexpr double kTolerance = 0.2;  // coordinates have one decimal
  const std::string root = svg_root(svg);
  const double width = std::stod(svg_attribute(root, "width", "0"));
  const double height = std::stod(svg_attribute(root, "height", "0"));
  const auto texts = svg_texts(svg);
  std::vector<std::string> faults;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const SvgText& a = texts[i];
    if (a.left < -kTolerance || a.top < -kTolerance || a.right > width + kTolerance ||
        a.bottom > height + kTolerance) {
      faults.push_back(
          fmt::format("'{}' leaves the picture of {} x {}: {:.1f} to {:.1f}, {:.1f} to {:.1f}",
                      a.words, width, height, a.left, a.right, a.top, a.bottom));
    }
    for (std::size_t j = i + 1; j < texts.size(); ++j) {
      const SvgText& b = texts[j];
      if (a.left + kTolerance < b.right && b.left + kTolerance < a.right &&
          a.top + kTolerance < b.bottom && b.top + kTolerance < a.bottom) {
        faults.push_back(fmt::format("'{}' overlaps '{}' at {:.0f}, {:.0f}", a.words, b.words,
                                     std::max(a.left, b.left), std::max(a.top, b.top)));
      }
    }
  }
  return faults;
}

/// The faults of a plot at every usual width: a telephone's, a page's columns, a paper's; empty if
/// there are none.
inline std::string faults_of_texts(const Plot& plot) {
  std::string faults;
  for (const int width : {240, 350, 560, 640, 1140}) {
    for (const auto& fault : faults_of_texts(detail::drawn(plot, width))) {
      faults += fmt::format("{} at {}: {}\n", plot.name, width, fault);
    }
  }
  return faults;
}

}  // namespace d5::testing
