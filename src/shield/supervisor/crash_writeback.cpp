// SPDX-License-Identifier: BSD-3-Clause
#include "shield/supervisor/crash_writeback.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/failure.hpp"
#include "shield/audit/store_audit.hpp"
#include "shield/supervisor/growth.hpp"
#include "shield/supervisor/pool_backing.hpp"
#include "shield/supervisor/unflushed_file.hpp"
#include "shield/supervisor/view_memory.hpp"
#include "shield/view/file_view.hpp"
#include "shield/view/line.hpp"

namespace scute::core::supervisor {
namespace {

// Notes the lines of an audited view that its program did not make durable, with the places that
// stored and flushed them. In a pool of libpmemobj, lines that its run-time keeps unflushed on
// purpose cannot be distinguished here.
class noted_lines final : public view::audit_sink {
 public:
  explicit noted_lines(std::span<std::byte> at) {
    if (!at.empty()) audit_.emplace(at);
  }
  // The watch that the program would have used itself (AUDIT-3); null if it used none.
  view::line_watch* watch() noexcept { return audit_ ? &*audit_ : nullptr; }
  bool left(uint64_t offset, uint32_t, view::left_as how) noexcept override {
    if (audit_) audit_->left(view::line_of(offset), how);
    if (how != view::left_as::never_fenced) ++unflushed_;
    return false;
  }
  uint64_t unflushed() const noexcept { return unflushed_; }

 private:
  std::optional<audit::store_audit> audit_;
  uint64_t unflushed_ = 0;
};

bool is_libpmemobj_pool(const view_memory& memory) noexcept {
  constexpr char mark[] = "PMEMOBJ";
  return memory.length() >= sizeof mark && std::memcmp(memory.bytes_at(), mark, sizeof mark) == 0;
}

// The program is dead, so no thread stores.
class nobody_stores final : public view::page_guard {
 public:
  bool hold(uint64_t, size_t) noexcept override { return true; }
  void release(uint64_t, size_t) noexcept override {}
  bool hold_all() noexcept override { return true; }
};

// SUPER-4: gives the view its last length. A program that died while it grew the view has left it
// shorter than its file. If there is no room, made_longer() says so.
void end_growth(const held_view& held, const view_memory& memory, uint64_t size) {
  try {
    memory.lengthen(size);
  } catch (const failure&) {
    return;
  }
  view_memory::end_growth(held.bytes);
}

// GROW-4. Grows the file to the length that its program has left. Returns an empty string, or why
// that failed.
std::string made_longer(view::file_view& view, const view_memory& memory,
                        const pool_backing& pool) {
  const uint64_t size = std::max(memory.length(), pool.size());
  const std::string what = "cannot extend the file to the size that its program has left (" +
                           std::to_string(size) + " bytes; all bytes up to its end are in it): ";
  try {
    if (size > pool.capacity())
      return what + "its protection has room for " + std::to_string(pool.capacity());
    if (!grow_view(view, memory, size)) return what + pool.why();
  } catch (const failure& e) {
    return what + e.what();
  }
  return {};
}

}  // namespace

view_memory attached(const held_view& held) {
  const int head = ::fcntl(held.head, F_DUPFD_CLOEXEC, 3);
  const int bytes = ::fcntl(held.bytes, F_DUPFD_CLOEXEC, 3);
  if (head < 0 || bytes < 0) throw_errno("look at the view of " + held.path, errno);
  return view_memory::attach(head, bytes);
}

void copy_counters(const view::audit_counters& c, scute_shield_counts& to) noexcept {
  to.flushes = c.flushed;
  to.fences = c.fences;
  to.commits = c.commit_sets;
  to.committed_lines = c.lines;
  to.unflushed_lines = c.never_flushed - std::min(c.never_flushed, c.masked);
  to.masked_lines = c.masked;
  to.repeated_flushes = c.flushed_twice;
  to.unchanged_flushes = c.unchanged;
  to.empty_fences = c.fences_idle;
  to.damaged_lines = c.damaged;
  to.unfenced_lines = c.never_fenced;
  to.early_flushes = c.flushed_early;
}

void crash_writeback(const held_view& held, bool keep_unflushed, scute_shield_counts& audit) {
  const view_memory memory = attached(held);
  // First, so that bytes which a child believes to have written are examined (SUPER-4).
  view_memory::end_writes(held.bytes);
  pool_backing pool(held.path, pool_backing::if_busy::wait,
                    pool_backing::if_read_only::read,  // no changes are left then, or it fails
                    pool_backing::opened_for::supervisor);
  end_growth(held, memory, pool.size());
  view::view_parts parts;
  parts.control = memory.control();
  parts.bytes = memory.bytes_at();
  parts.bytes_file = memory.bytes();
  parts.reports_holes = memory.is_in_memory();  // not all file systems report holes
  parts.medium = &pool;
  nobody_stores quiet;
  parts.guard = &quiet;
  noted_lines noted(memory.more());
  parts.watch = noted.watch();
  parts.sink = &noted;
  view::file_view view(parts);
  if (memory.length() < view.size())
    throw failure(SCUTE_E_IO, "its view was truncated, by a call that was not intercepted");
  // Appended bytes of write(2), and, if the program died growing the view, those that are protected
  // already.
  const std::string no_room = made_longer(view, memory, pool);
  unflushed_file rest(held.path);
  view::file_view::writeback_result result;
  using what = view::file_view::unflushed_lines;
  if (!view.crash_writeback(keep_unflushed ? what::commit : what::drop, result,
                            [&](uint64_t offset, std::span<const std::byte> bytes) {
                              rest.add(offset, bytes);
                              noted.left(offset, static_cast<uint32_t>(bytes.size()),
                                         view::left_as::never_flushed);
                            }))
    throw failure(SCUTE_E_IO,
                  "cannot write back what the program has left in the view: " + pool.why());
  rest.finish();
  if (result.unintercepted != view::file_view::none)
    throw failure(SCUTE_E_IO, "its page at " + std::to_string(result.unintercepted) +
                                  " was written by a call that the shield does not intercept "
                                  "(--page-in), and is not in the file; all other pages are");
  copy_counters(view.counters(), audit);
  audit.dropped_lines = result.dropped ? result.unflushed : 0;
  audit.unflushed_lines += audit.dropped_lines;
  if (is_libpmemobj_pool(memory)) audit.unsure_lines = noted.unflushed();
  audit.repairs = pool.repairs();
  pool.close();
  if (!no_room.empty()) throw failure(SCUTE_E_NOSPC, no_room);
}

}  // namespace scute::core::supervisor
