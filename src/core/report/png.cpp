// SPDX-License-Identifier: Apache-2.0
// Draws with librsvg and cairo, which are loaded at run time, so that d5 does not depend on them.
#include <dlfcn.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>

#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/image/image.hpp"
#include "d5/core/report/plot.hpp"

namespace d5 {
namespace {

// The required part of both libraries' C interfaces.
struct Rectangle {
  double x, y, width, height;
};
constexpr int kArgb32 = 0;

class Library {
 public:
  explicit Library(const char* name) : name_(name), handle_(dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
    if (!handle_) {
      throw Unsupported(fmt::format(
          "format png: {} cannot be loaded (Debian: librsvg2-2); format svg needs no library",
          name));
    }
  }
  template <class Function>
  Function* function(const char* symbol) const {
    auto* const found = reinterpret_cast<Function*>(dlsym(handle_, symbol));
    if (!found) throw Unsupported(fmt::format("format png: {} has no {}", name_, symbol));
    return found;
  }

 private:
  const char* name_;
  void* handle_;  // never closed: its GObject types stay registered
};

/// Pixels of an opaque cairo surface: words with the colours in their lower bytes.
Tensor rgb_of(const unsigned char* pixels, int stride, std::int64_t height, std::int64_t width) {
  Tensor image = Tensor::empty(DType::uint8, {height, width, 3});
  std::uint8_t* to = image.data<std::uint8_t>();
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      std::uint32_t word = 0;
      std::memcpy(&word, pixels + y * stride + x * 4, sizeof word);
      for (const int shift : {16, 8, 0}) *to++ = std::uint8_t(word >> shift);
    }
  }
  return image;
}

}  // namespace

std::string to_png(const Plot& plot, int width, double scale) {
  const Library cairo("libcairo.so.2"), rsvg("librsvg-2.so.2");
  const std::string svg = to_svg(plot, width);
  const std::unique_ptr<void, void (*)(void*)> handle(
      rsvg.function<void*(const unsigned char*, std::size_t, void**)>("rsvg_handle_new_from_data")(
          reinterpret_cast<const unsigned char*>(svg.data()), svg.size(), nullptr),
      rsvg.function<void(void*)>("g_object_unref"));
  double wide = 0, high = 0;
  if (!handle || !rsvg.function<int(void*, double*, double*)>(
                     "rsvg_handle_get_intrinsic_size_in_pixels")(handle.get(), &wide, &high)) {
    throw Error("format png: librsvg does not read what d5 wrote");
  }
  wide = std::ceil(wide * scale);
  high = std::ceil(high * scale);
  const std::unique_ptr<void, void (*)(void*)> surface(
      cairo.function<void*(int, int, int)>("cairo_image_surface_create")(kArgb32, int(wide),
                                                                         int(high)),
      cairo.function<void(void*)>("cairo_surface_destroy"));
  const std::unique_ptr<void, void (*)(void*)> context(
      cairo.function<void*(void*)>("cairo_create")(surface.get()),
      cairo.function<void(void*)>("cairo_destroy"));
  cairo.function<void(void*, double, double, double)>("cairo_set_source_rgb")(context.get(), 1, 1,
                                                                              1);
  cairo.function<void(void*)>("cairo_paint")(context.get());
  const Rectangle all{0, 0, wide, high};
  if (!rsvg.function<int(void*, void*, const Rectangle*, void**)>("rsvg_handle_render_document")(
          handle.get(), context.get(), &all, nullptr)) {
    throw Error("format png: librsvg does not draw what d5 wrote");
  }
  cairo.function<void(void*)>("cairo_surface_flush")(surface.get());
  const auto* pixels =
      cairo.function<unsigned char*(void*)>("cairo_image_surface_get_data")(surface.get());
  const int stride = cairo.function<int(void*)>("cairo_image_surface_get_stride")(surface.get());
  if (!pixels) throw MemoryError("format png: the picture has no memory");
  return encode_png(rgb_of(pixels, stride, std::int64_t(high), std::int64_t(wide)));
}

}  // namespace d5
