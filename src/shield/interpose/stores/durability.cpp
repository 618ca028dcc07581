// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/stores/durability.hpp"

#include <atomic>
#include <cerrno>
#include <optional>

#include "shield/audit/report_clock.hpp"
#include "shield/interpose/descriptors/guarded_file.hpp"
#include "shield/interpose/memory/mappings.hpp"
#include "shield/interpose/memory/view_parts.hpp"
#include "shield/interpose/process/complaint.hpp"
#include "shield/interpose/process/critical.hpp"
#include "shield/interpose/signals/deferred_signals.hpp"
#include "shield/interpose/signals/handler_leaves.hpp"
#include "shield/interpose/stores/thread_flushers.hpp"
#include "shield/view/view_call.hpp"

namespace scute::core::interpose {
namespace {

struct window_state {
  guarded_file* file = nullptr;  // null in a window that was ended early
  uint32_t number = 0;
  unsigned depth = 0;
  bool interrupted = false;  // by a handler (DUR-5)
};
[[gnu::tls_model("initial-exec")]] thread_local constinit window_state window{};
[[gnu::tls_model("initial-exec")]] thread_local constinit uint64_t fences = 0;
using question = void (*)();
[[gnu::tls_model("initial-exec")]] thread_local constinit question asked_at_fences = nullptr;

void fence_all() noexcept {
  for_each_flusher([](thread_flusher& mine) {
    const guarded_file::use now(*mine.file, mine.number);
    if (now.is_open() && !mine.file->view().fence(mine.by)) mine.file->give_up();
  });
}

// DUR-3: this thread's nested calls here, and whether an inner one has asked for a fence. Handlers
// restore the depth.
[[gnu::tls_model("initial-exec")]] thread_local constinit unsigned depth = 0;
[[gnu::tls_model("initial-exec")]] thread_local constinit bool fence_wanted = false;
// The frame of the innermost; 0 if there is none.
[[gnu::tls_model("initial-exec")]] thread_local constinit uintptr_t frame = 0;

// Lives in the function that is the call.
class thread_call {
 public:
  [[gnu::always_inline]] thread_call() noexcept : interrupts_(depth != 0), outer_(frame) {
    frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    in_order();
    ++depth;
    in_order();
  }
  // A fence after the last look finds the thread outside, and is made at once.
  ~thread_call() {
    in_order();
    end();
    in_order();
    frame = outer_;
    in_order();
    do_what_waits();
    if (outer_ == 0) let_deferred_signals_come();
  }
  thread_call(const thread_call&) = delete;
  thread_call& operator=(const thread_call&) = delete;
  bool interrupts() const noexcept { return interrupts_; }

 private:
  static void in_order() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
  void end() noexcept {
    if (interrupts_) {
      --depth;
      return;
    }
    for (;;) {
      while (fence_wanted) {
        fence_wanted = false;
        in_order();
        fence_all();
        in_order();
      }
      depth = 0;
      in_order();
      if (!fence_wanted) return;
      depth = 1;
      in_order();
    }
  }

  const bool interrupts_;
  const uintptr_t outer_;
};

void open_window(guarded_file& file) noexcept {
  window.file = &file;
  window.number = file.number();
  window.interrupted = false;
  file.view().window_begin(flusher_of(file).by);
}

// Called within the caller's thread_call, which says `interrupts`.
void commit_window(bool interrupts) noexcept {
  guarded_file* const file = window.file;
  window.file = nullptr;
  window.interrupted = false;
  if (file == nullptr) return;
  const guarded_file::use now(*file, window.number);
  if (!now.is_open()) return;
  view::flusher& by = flusher_of(*file).by;
  std::optional<view::interruption> inner;
  if (interrupts) {
    fence_wanted = true;
    inner.emplace(by);
  }
  if (!file->view().window_end(by)) file->give_up();
}

void commit_window() noexcept {
  const thread_call call;
  commit_window(call.interrupts());
}

}  // namespace

uintptr_t call_under_way() noexcept {
  return frame;
}

void forget_calls() noexcept {
  frame = 0;
  depth = 0;
  fence_wanted = false;
}

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
  const thread_call call;
  return each_part(at, n, [&](guarded_file& file, uint64_t offset, uint64_t length) {
    // DUR-2. The window's commit is made at once: the flush may reach its file as soon as it is
    // listed.
    if (window.file != nullptr && window.file != &file && !call.interrupts()) commit_window(false);
    thread_flusher& mine = flusher_of(file);
    std::optional<view::interruption> inner;
    if (call.interrupts()) inner.emplace(mine.by);
    if (!file.view().flush(mine.by, offset, length)) file.give_up();
  });
}

void fence_views() noexcept {
  audit::report_clock::fence();
  ++fences;
  ask_for_end();
  commit_flushed();
}

void commit_flushed() noexcept {
  if (window.interrupted && depth == 0) commit_window();
  const thread_call call;
  if (call.interrupts())
    fence_wanted = true;
  else
    fence_all();
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
  if (result != 0 && errno != ENOSPC) errno = EIO;
  return result;
}

void begin_window(const void* at) noexcept {
  const thread_call call;
  if (window.depth++ != 0) return;
  const mapped_range range = mappings.find(reinterpret_cast<uintptr_t>(at));
  if (range.file == nullptr || !range.file->is_open()) return;
  open_window(*range.file);
}

void end_window() noexcept {
  if (window.depth == 0) return;
  const thread_call call;
  --window.depth;
  if (window.depth == 0) commit_window(call.interrupts());
}

uint64_t fences_made() noexcept {
  return fences;
}

void ask_at_fences(void (*is_over)()) noexcept {
  asked_at_fences = is_over;
}

void ask_for_end() noexcept {
  if (asked_at_fences != nullptr && depth == 0) asked_at_fences();
}

unsigned window_depth() noexcept {
  return window.depth;
}

void end_window_elsewhere(const guarded_file& file) noexcept {
  if (window.file != nullptr && window.file != &file) commit_window();
}

void window_is_interrupted() noexcept {
  if (window.file != nullptr) window.interrupted = true;
}

void mask_lines(const void* at, size_t n) noexcept {
  each_part(at, n, [](guarded_file& file, uint64_t offset, uint64_t length) {
    file.unflushed().mask(offset, length);
  });
}

}  // namespace scute::core::interpose
