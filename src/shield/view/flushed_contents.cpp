// SPDX-License-Identifier: BSD-3-Clause
#include "shield/view/flushed_contents.hpp"

namespace scute::core::view {
namespace {

constexpr uint64_t page = 4096;

constexpr uint64_t bits_size(uint64_t lines) noexcept {
  return (lines + 8 * page - 1) / (8 * page) * page;
}

}  // namespace

uint64_t flushed_contents::size(uint64_t lines) noexcept {
  return bits_size(lines) + lines * sizeof(uint64_t);
}

flushed_contents::flushed_contents(std::span<std::byte> at, uint64_t lines) noexcept
    : lines_(lines),
      known_(reinterpret_cast<std::atomic<uint64_t>*>(at.data())),
      words_(reinterpret_cast<std::atomic<uint64_t>*>(at.data() + bits_size(lines))) {}

}  // namespace scute::core::view
