// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/durability.hpp"

#include <cerrno>

#include "audit/tell_clock.hpp"
#include "interpose/complaint.hpp"
#include "interpose/critical.hpp"
#include "interpose/guarded_file.hpp"
#include "interpose/mappings.hpp"
#include "interpose/thread_flushers.hpp"
#include "interpose/view_parts.hpp"

namespace scute::core::interpose {
namespace {

struct window_state {
  guarded_file* file = nullptr;  // null in a window that was ended early
  uint32_t number = 0;
  unsigned depth = 0;
};
[[gnu::tls_model("initial-exec")]] thread_local constinit window_state window{};

void commit_window() noexcept {
  guarded_file* const file = window.file;
  window.file = nullptr;
  if (file == nullptr) return;
  const guarded_file::use now(*file, window.number);
  if (!now.is_open()) return;
  if (!file->view().window_end(flusher_of(*file).by)) file->give_up();
}

}  // namespace

bool in_view(const void* at, size_t n) noexcept {
  if (mappings.empty()) return false;
  auto from = reinterpret_cast<uintptr_t>(at);
  const uintptr_t end = from + (n == 0 ? 1 : n);
  if (end < from) return false;
  while (from < end) {
    const mapped_range range = mappings.find(from);
    if (range.file == nullptr) return false;
    from = range.end;
  }
  return true;
}

bool flush_lines(const void* at, size_t n) noexcept {
  return each_part(at, n, [](guarded_file& file, uint64_t offset, uint64_t length) {
    if (window.file != nullptr && window.file != &file) commit_window();  // DUR-2
    thread_flusher& mine = flusher_of(file);
    if (!file.view().flush(mine.by, offset, length)) file.give_up();
  });
}

void fence_views() noexcept {
  audit::tell_clock::fence();
  commit_flushed();
}

void commit_flushed() noexcept {
  for_each_flusher([](thread_flusher& mine) {
    const guarded_file::use now(*mine.file, mine.number);
    if (now.is_open() && !mine.file->view().fence(mine.by)) mine.file->give_up();
  });
}

bool flush_and_fence(const void* at, size_t n) noexcept {
  if (!flush_lines(at, n)) return false;
  fence_views();
  return true;
}

int sync_file(guarded_file& file) noexcept {
  const critical now;  // so that it is not closed meanwhile
  const int result =
      guarded(file.path(), [&] { file.write_back(0, ~uint64_t{0}, view::write_reason::sync); });
  if (result != 0) errno = EIO;
  return result;
}

void begin_window(const void* at) noexcept {
  if (window.depth++ != 0) return;
  const mapped_range range = mappings.find(reinterpret_cast<uintptr_t>(at));
  if (range.file == nullptr || !range.file->is_open()) return;
  window.file = range.file;
  window.number = range.file->number();
  range.file->view().window_begin(flusher_of(*range.file).by);
}

void end_window() noexcept {
  if (window.depth == 0) return;
  --window.depth;
  if (window.depth == 0) commit_window();
}

unsigned window_depth() noexcept {
  return window.depth;
}

void abandon_windows() noexcept {
  window.depth = 0;
  commit_window();
}

void mask_lines(const void* at, size_t n) noexcept {
  each_part(at, n, [](guarded_file& file, uint64_t offset, uint64_t length) {
    file.unflushed().mask(offset, length);
  });
}

}  // namespace scute::core::interpose
