// SPDX-License-Identifier: BSD-3-Clause
// Loads pages from the medium into the view (VIEW-8, VIEW-11).
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "base/locks/lock.hpp"
#include "base/locks/waiting.hpp"
#include "shield/view/commit_set.hpp"
#include "shield/view/file_view.hpp"

namespace scute::core::view {
namespace {

// Compares each byte with the next one: the C library does that by whole registers.
bool all_zero(std::span<const std::byte> bytes) noexcept {
  return bytes.empty() || (bytes[0] == std::byte{0} &&
                           std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

// Writes to the file of the view, if there is one that the program has not closed. So the kernel
// need not clear or map a page.
void put(const view_parts& view, uint64_t offset, std::span<const std::byte> from) noexcept {
  // NUMBER-1
  if (const int file = view.bytes_file.get();
      file >= 0 &&
      ::pwrite(file, from.data(), from.size(), static_cast<off_t>(offset)) == std::ssize(from))
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
  std::memset(bytes + n, 0, count * page_size - n);
  if (!parts_.medium->read(offset, {bytes, n})) return false;
  switch_point();
  if (parts_.placer != nullptr) return place_pages(first, count);
  bool zeros[pages_at_once];
  uint64_t begin = 0;  // first page of the run that is stored together
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
    // The digests of an absent page are zeros, so those of a page of zeros need not be written.
    if (!zeros[i]) keep_digests(first + i, room_.get() + i * page_lines);
    // Until the program stores to it, the page is a hole of the view, and no walk has to read it.
    state_of(i).store(zeros[i] ? page_state::zeros : page_state::loaded, std::memory_order_release);
  }
  return true;
}

void file_view::keep_digests(uint64_t page, const line* lines) noexcept {
  for (uint64_t k = 0; k < page_lines; ++k)
    region_.digest(page * page_lines + k)
        .store(lines != nullptr ? region_.digest_of(lines[k]) : 0, std::memory_order_relaxed);
}

// VIEW-11. room_ holds the bytes that were read, in whole pages.
bool file_view::place_pages(uint64_t first, uint64_t count) {
  const auto bytes_of = [&](uint64_t begin, uint64_t end) {
    loading_.assume_held();
    return std::as_bytes(std::span(room_.get() + begin * page_lines, (end - begin) * page_lines));
  };
  const auto all_are = [&](uint64_t begin, uint64_t end, page_state is) {
    for (uint64_t i = begin; i < end; ++i)
      region_.page(first + i).store(is, std::memory_order_release);
  };
  const auto digests = [&](uint64_t begin, uint64_t end) {
    loading_.assume_held();
    for (uint64_t i = begin; i < end; ++i) keep_digests(first + i, room_.get() + i * page_lines);
  };
  for (uint64_t begin = 0; begin < count;) {
    if (all_zero(bytes_of(begin, begin + 1))) {
      all_are(begin, begin + 1, page_state::zeros);
      ++begin;
      continue;
    }
    uint64_t end = begin + 1;
    while (end < count && !all_zero(bytes_of(end, end + 1))) ++end;
    digests(begin, end);
    all_are(begin, end, page_state::coming);
    switch_point();
    size_t placed = 0;
    const bool done =
        parts_.placer->place((first + begin) * page_size, bytes_of(begin, end), placed);
    switch_point();
    all_are(begin, begin + placed, page_state::loaded);
    if (!done) {
      for (uint64_t i = begin + placed; i < end; ++i) keep_digests(first + i, nullptr);
      all_are(begin + placed, end, page_state::absent);
      return false;
    }
    begin = end;
  }
  return true;
}

bool file_view::is_clean(uint64_t page) noexcept {
  commit_set_->lock.assume_held();
  // A write(2) may have put bytes after the end of the file into the last page. No digest covers
  // them.
  if ((page + 1) * page_size > region_.file_size()) return false;
  for (uint64_t i = page * page_lines; i < (page + 1) * page_lines; ++i) {
    line now;
    if (!commit_set_->view_line(i, now) ||
        region_.digest_of(now) != region_.digest(i).load(std::memory_order_relaxed))
      return false;
  }
  return true;
}

// VIEW-12
bool file_view::take_page(uint64_t page) noexcept {
  commit_set_->lock.assume_held();
  auto& state = region_.page(page);
  // Lines of a failed commit may be on the medium or not.
  if (commit_set_->is_doubtful() || is_halted() || state.load() != page_state::loaded) return false;
  if (!is_clean(page)) return false;
  switch_point();
  state.store(page_state::coming, std::memory_order_release);
  switch_point();
  const bool gone = parts_.placer->take(page * page_size);
  switch_point();
  if (gone) keep_digests(page, nullptr);
  state.store(gone ? page_state::absent : page_state::loaded, std::memory_order_release);
  return gone;
}

bool file_view::let_go(uint64_t page) noexcept {
  const page_state is = region_.page(page).load(std::memory_order_acquire);
  if (is != page_state::loaded || !loading_.try_lock()) return false;
  bool gone = false;
  if (commit_set_->lock.try_lock()) {
    gone = take_page(page);
    commit_set_->lock.unlock();
  }
  loading_.unlock();
  return gone;
}

// VIEW-11, after a death.
void file_view::decide_coming() {
  const uint64_t pages = (size() + page_size - 1) / page_size;
  for (uint64_t page = 0; page < pages; ++page) {
    auto& state = region_.page(page);
    if (state.load(std::memory_order_acquire) != page_state::coming) continue;
    const bool is_hole = next_stored(page * page_size) >= (page + 1) * page_size;
    if (is_hole) {
      // The program may have flushed lines of this page, but has not stored to them.
      for (uint64_t line = page * page_lines; line < (page + 1) * page_lines; ++line) {
        region_.pending_clear(line);
        region_.in_set_clear(line);
      }
      keep_digests(page, nullptr);
    }
    state.store(is_hole ? page_state::absent : page_state::loaded, std::memory_order_release);
  }
}

uint64_t file_view::first_unintercepted(uint64_t offset, uint64_t n) const noexcept {
  if (parts_.bytes_file.number() < 0 || !parts_.reports_holes) return none;
  const uint64_t size = this->size();
  if (offset >= size) return none;
  const int file = parts_.bytes_file.get();
  // The program has closed it (NUMBER-1): which pages it has stored to is not known any more.
  if (file < 0) return offset;
  const auto seek = [&](uint64_t from, int what) {
    const off_t at = ::lseek(file, static_cast<off_t>(from), what);
    return at >= 0 ? static_cast<uint64_t>(at) : none;
  };
  const uint64_t last = offset + std::min(n, size - offset);
  for (uint64_t at = seek(offset / page_size * page_size, SEEK_DATA); at < last;) {
    const uint64_t end = std::min(seek(at, SEEK_HOLE), last);
    for (; at < end; at += page_size)
      if (region_.page(at / page_size).load(std::memory_order_acquire) == page_state::absent)
        return at;
    at = seek(at, SEEK_DATA);
  }
  return none;
}

bool file_view::is_loaded(uint64_t offset, uint64_t n) const noexcept {
  const uint64_t size = this->size();
  if (n == 0 || offset >= size) return true;
  const uint64_t end = (offset + std::min(n, size - offset) + page_size - 1) / page_size;
  for (uint64_t page = offset / page_size; page < end; ++page) {
    const page_state is = region_.page(page).load(std::memory_order_acquire);
    if (is != page_state::loaded && is != page_state::zeros) return false;
  }
  return true;
}

bool file_view::load(uint64_t offset, uint64_t n) {
  const uint64_t size = this->size();
  if (n == 0 || offset >= size) return true;
  const locked hold(loading_);
  const uint64_t end = (offset + std::min(n, size - offset) + page_size - 1) / page_size;
  uint64_t data = 0;              // from the current page to this offset there are only zeros
  uint64_t first = 0, count = 0;  // pages to load together
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

// The first offset at or after this one that is not in a hole of the view.
uint64_t file_view::next_stored(uint64_t offset) const noexcept {
  const int file = parts_.reports_holes ? parts_.bytes_file.get() : -1;
  if (file < 0) return offset;
  const off_t at = ::lseek(file, static_cast<off_t>(offset), SEEK_DATA);
  // On any error but "no more data", as if there were no holes.
  return at >= 0 ? static_cast<uint64_t>(at) : errno == ENXIO ? UINT64_MAX : offset;
}

}  // namespace scute::core::view
