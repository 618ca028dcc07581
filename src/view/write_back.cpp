// SPDX-License-Identifier: BSD-3-Clause
// What brings whole ranges from the medium to the view, and from the view to the medium.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "base/failure.hpp"
#include "base/lock.hpp"
#include "base/planted.hpp"
#include "base/waiting.hpp"
#include "view/different.hpp"
#include "view/view_call.hpp"

namespace scute::core::view {
namespace {

// Each byte is compared with the one behind it: the C library does that by whole registers.
bool all_zero(std::span<const std::byte> bytes) noexcept {
  return bytes.empty() || (bytes[0] == std::byte{0} &&
                           std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

// To the file itself, where there is one: so no page has to be cleared, and none to be mapped.
void put(const view_parts& view, uint64_t offset, std::span<const std::byte> from) noexcept {
  if (view.bytes_file >= 0 && ::pwrite(view.bytes_file, from.data(), from.size(),
                                       static_cast<off_t>(offset)) == std::ssize(from))
    return;
  std::memcpy(view.bytes + offset, from.data(), from.size());
}

}  // namespace

// VIEW-8. Pages of zeros are not stored, so that holes stay holes.
bool file_view::load_pages(uint64_t first, uint64_t count) {
  auto* const bytes = reinterpret_cast<std::byte*>(room_.get());
  const uint64_t offset = first * page_size;
  const uint64_t n = std::min(count * page_size, size() - offset);
  const auto of_page = [&](uint64_t i) {
    return std::span(bytes + i * page_size, std::min(page_size, n - i * page_size));
  };
  const auto state_of = [&](uint64_t i) -> auto& { return region_.page(first + i); };
  if (SCUTE_PLANTED(view_loaded_early))
    for (uint64_t i = 0; i < count; ++i) state_of(i).store(page_state::loaded);
  std::memset(bytes + n, 0, count * page_size - n);
  if (!parts_.medium->read(offset, {bytes, n})) return false;
  switch_point();
  bool zeros[pages_at_once];
  uint64_t begin = 0;  // of pages that are to be stored together
  for (uint64_t i = 0; i <= count; ++i) {
    if (i < count) zeros[i] = all_zero(of_page(i));
    if (i < count && !zeros[i]) continue;
    if (begin != i)
      put(parts_, offset + begin * page_size,
          {bytes + begin * page_size, std::min(i * page_size, n) - begin * page_size});
    begin = i + 1;
  }
  switch_point();
  for (uint64_t i = 0; i < count; ++i) {
    // Digests of an absent page are zeros, and stay absent themselves if they are to be zeros.
    for (uint64_t k = 0; k < page_lines && !zeros[i]; ++k) {
      const uint64_t digest = region_.digest_of(room_[i * page_lines + k]);
      region_.digest((first + i) * page_lines + k).store(digest, std::memory_order_relaxed);
    }
    // Until somebody stores to it, it is a hole of the view, and nobody has to read it.
    state_of(i).store(zeros[i] ? page_state::zeros : page_state::loaded, std::memory_order_release);
  }
  return true;
}

bool file_view::load(uint64_t offset, uint64_t n) {
  const uint64_t size = this->size();
  if (n == 0 || offset >= size) return true;
  const locked hold(loading_);
  const uint64_t end = (offset + std::min(n, size - offset) + page_size - 1) / page_size;
  uint64_t data = 0;  // no other bytes than zeros from the page in question to this offset
  uint64_t first = 0, count = 0;  // pages that are to be loaded together
  const auto load_them = [&] {
    loading_.assume_held();
    return count == 0 || load_pages(first, std::exchange(count, 0));
  };
  for (uint64_t page = offset / page_size; page < end; ++page) {
    auto& state = region_.page(page);
    if (state.load(std::memory_order_acquire) != page_state::absent) continue;
    if (data <= page * page_size) data = parts_.medium->next_data(page * page_size);
    if (data >= (page + 1) * page_size) {
      state.store(page_state::zeros, std::memory_order_release);
      continue;
    }
    if (count != 0 && (first + count != page || count == pages_at_once) && !load_them())
      return false;
    if (count++ == 0) first = page;
  }
  return load_them();
}

// The first place at or after this one that holds more than a hole of the view.
uint64_t file_view::next_stored(uint64_t offset) const noexcept {
  if (parts_.bytes_file < 0 || !parts_.tells_holes) return offset;
  const off_t at = ::lseek(parts_.bytes_file, static_cast<off_t>(offset), SEEK_DATA);
  // Any error but "nothing more": as if there were no holes.
  return at >= 0 ? static_cast<uint64_t>(at) : errno == ENXIO ? UINT64_MAX : offset;
}

bool file_view::write_back(flusher* by, uint64_t offset, uint64_t n, write_reason why) {
  if (by == nullptr) return write_differences(offset, n, why);
  view_call call(*by);
  SCUTE_ASSERT(!call.nested());
  return call.leave(write_differences(offset, n, why), [&] { return noted_fence(*by); });
}

bool file_view::write_differences(uint64_t offset, uint64_t n, write_reason why) {
  const locked hold(cut_->lock);
  // First what was flushed, in one cut; so that what differs then was not.
  if (!cut_->make({})) return false;
  return commit_different(offset, n, [&](uint64_t line) {
    const bool sync = why == write_reason::sync;
    cut_->count(sync ? counted::synced : counted::never_flushed);
    if (!sync && parts_.sink != nullptr)
      parts_.sink->never_flushed(
          line * line_size, static_cast<uint32_t>(std::min(line_size, size() - line * line_size)));
  });
}

bool file_view::grow(uint64_t size) {
  if (size > region_.shape().capacity) return false;
  const locked hold(cut_->lock);
  const uint64_t before = region_.file_size();
  if (size <= before) return size == before;
  if (!parts_.medium->grow(size)) return false;
  // What the program has stored behind the old end, in its last page, was never of the file.
  const uint64_t tail = std::min(size, (before + page_size - 1) / page_size * page_size);
  std::memset(parts_.bytes + before, 0, tail - before);
  region_.head().size.store(size);
  return true;
}

}  // namespace scute::core::view
