// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/speculative/log_file/file_pages.hpp"

namespace scute::core::engine {
namespace {

constexpr std::byte zeros[format::page] = {};

}  // namespace

bool is_readable(const medium::medium& file, uint64_t page) noexcept {
  std::byte bytes[format::page];
  return file.read(page, bytes, sizeof bytes);
}

uint64_t renew_lost_pages(medium::writer& w, uint64_t begin, uint64_t end,
                          const std::function<void(uint64_t page)>& each) {
  uint64_t lost = 0;
  for (uint64_t page = begin; page < end; page += format::page) {
    if (is_readable(w.target(), page)) continue;
    w.stream(w.target().base() + page, zeros, sizeof zeros, medium::purpose::log);
    ++lost;
    if (each) each(page);
  }
  return lost;
}

}  // namespace scute::core::engine
