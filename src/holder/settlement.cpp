// SPDX-License-Identifier: BSD-3-Clause
#include "holder/settlement.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "audit/store_audit.hpp"
#include "base/failure.hpp"
#include "base/planted.hpp"
#include "holder/growth.hpp"
#include "holder/pool_backing.hpp"
#include "holder/unflushed_file.hpp"
#include "holder/view_memory.hpp"
#include "view/file_view.hpp"
#include "view/line.hpp"

namespace scute::core::holder {
namespace {

// Unflushed lines of an audited view are noted with the places that they were stored to from.
class noted_lines final : public view::audit_sink {
 public:
  explicit noted_lines(std::span<std::byte> at) {
    if (!at.empty()) audit_.emplace(at);
  }
  // What the program would have looked for itself (AUDIT-3): null if it did not.
  view::line_watch* watch() noexcept { return audit_ ? &*audit_ : nullptr; }
  void never_flushed(uint64_t offset, uint32_t) noexcept override {
    if (audit_) audit_->never_flushed(view::line_of(offset));
  }

 private:
  std::optional<audit::store_audit> audit_;
};

// Its program is dead, so nobody stores.
class nobody_stores final : public view::page_guard {
 public:
  bool hold(uint64_t, size_t) noexcept override { return true; }
  void release(uint64_t, size_t) noexcept override {}
  bool hold_all() noexcept override { return true; }
};

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
  to.commits = c.cuts;
  to.committed_lines = c.lines;
  to.unflushed_lines = c.never_flushed;
  to.repeated_flushes = c.flushed_twice;
  to.unchanged_flushes = c.unchanged;
  to.empty_fences = c.fences_idle;
  to.damaged_lines = c.damaged;
}

void settle(const held_view& held, bool keep_unflushed, scute_shield_counts& audit) {
  const view_memory memory = attached(held);
  // First, so that what a child is told it has written is looked at (KEEPER-4).
  if (!SCUTE_PLANTED(keeper_unsealed)) view_memory::end_writes(held.bytes);
  pool_backing pool(held.path, SCUTE_PLANTED(settle_hurry) ? pool_backing::if_busy::refuse
                                                           : pool_backing::if_busy::wait);
  view::view_parts parts;
  parts.control = memory.control();
  parts.bytes = memory.bytes_at();
  parts.bytes_file = memory.bytes();
  parts.tells_holes = memory.is_in_memory();  // not all file systems do
  parts.medium = &pool;
  nobody_stores quiet;
  parts.guard = &quiet;
  noted_lines noted(memory.more());
  parts.watch = noted.watch();
  view::file_view view(parts);
  if (memory.length() < view.size())
    throw failure(SCUTE_E_IO, "its view was cut short, by a call that nobody saw");
  // What write(2) has appended; and where its program died growing it, what is protected already.
  if (!grow_view(view, memory, std::max(memory.length(), pool.size())))
    throw failure(SCUTE_E_IO,
                  "cannot make the file as long as its program has left it: " + pool.why());
  unflushed_file rest(held.path);
  view::file_view::settled told;
  using what = view::file_view::unflushed_lines;
  if (!view.settle(
          (keep_unflushed && !SCUTE_PLANTED(settle_rest)) || SCUTE_PLANTED(settle_unflushed)
              ? what::commit
              : what::drop,
          told, [&](uint64_t offset, std::span<const std::byte> bytes) {
            if (!SCUTE_PLANTED(settle_unwritten)) rest.add(offset, bytes);
            noted.never_flushed(offset, static_cast<uint32_t>(bytes.size()));
          }))
    throw failure(SCUTE_E_IO, "cannot settle what the program has left in the view: " + pool.why());
  rest.finish();
  if (told.unheard != view::file_view::none)
    throw failure(SCUTE_E_IO, "its page at " + std::to_string(told.unheard) +
                                  " was written to by a call that the shield does not hear "
                                  "(--page-in), and is not in the file; all else is");
  copy_counters(view.counters(), audit);
  audit.dropped_lines = told.dropped ? told.unflushed : 0;
  audit.unflushed_lines += audit.dropped_lines;
  audit.healed = pool.healed();
  pool.close();
}

}  // namespace scute::core::holder
