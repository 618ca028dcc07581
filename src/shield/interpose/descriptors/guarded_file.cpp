// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/descriptors/guarded_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "base/failure.hpp"
#include "base/locks/waiting.hpp"
#include "base/process/thread_signals.hpp"
#include "shield/audit/report_clock.hpp"
#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/descriptors/claimed_file.hpp"
#include "shield/interpose/descriptors/descriptors.hpp"
#include "shield/interpose/descriptors/own_descriptors.hpp"
#include "shield/interpose/memory/mappings.hpp"
#include "shield/interpose/memory/memory_limit.hpp"
#include "shield/interpose/memory/memory_parts.hpp"
#include "shield/interpose/memory/page_out.hpp"
#include "shield/interpose/memory/view_faults.hpp"
#include "shield/interpose/process/complaint.hpp"
#include "shield/interpose/process/forking.hpp"
#include "shield/interpose/process/program_threads.hpp"
#include "shield/interpose/process/settings.hpp"
#include "shield/interpose/process/supervisor_link.hpp"
#include "shield/interpose/stores/durability.hpp"
#include "shield/supervisor/crash_writeback.hpp"
#include "shield/supervisor/unflushed_file.hpp"

namespace scute::core::interpose {
namespace {

std::atomic<guarded_file*> all{nullptr};

uint32_t numbers_taken = 0;
// The uses by this thread, of any file.
[[gnu::tls_model("initial-exec")]] thread_local constinit unsigned uses_here = 0;

// The memory taken by a view. Bytes in a folder take memory only as long as nothing else needs it.
uint64_t memory_taken(const supervisor::view_memory& memory) {
  struct stat s{};
  return memory.takes_memory() && next::fstat(memory.bytes().get(), &s) == 0
             ? static_cast<uint64_t>(s.st_blocks) * 512
             : 0;
}

// Registers the descriptors of a view's memory as ours; no longer if its opening fails.
class own_until_kept {
 public:
  explicit own_until_kept(const supervisor::view_memory& memory)
      : head_(memory.head().number()), bytes_(memory.bytes().number()) {
    remember_own(head_);
    remember_own(bytes_);
  }
  ~own_until_kept() {
    if (kept_) return;
    forget_own(head_);
    forget_own(bytes_);
  }
  own_until_kept(const own_until_kept&) = delete;
  own_until_kept& operator=(const own_until_kept&) = delete;
  void keep() noexcept { kept_ = true; }

 private:
  int head_, bytes_;
  bool kept_ = false;
};

// Loads all, in pieces, so that a file that is too large is noticed before the machine runs out of
// memory.
void load_all(view::file_view& view, const supervisor::pool_backing& pool,
              const supervisor::view_memory& memory) {
  constexpr uint64_t piece = uint64_t{64} << 20;
  uint64_t others = 0;
  for (guarded_file* f = guarded_file::first(); f != nullptr; f = f->next())
    if (f->is_open()) others += f->memory();
  const memory_limit limit(others);
  for (uint64_t at = 0; at < view.size(); at += piece) {
    const uint64_t n = std::min(piece, view.size() - at);
    if (asked().huge) memory.use_huge_pages(at, n);
    if (!view.load(at, n)) throw failure(SCUTE_E_CORRUPT, "cannot read it: " + pool.why());
    limit.require(memory_taken(memory), at + n, view.size());
  }
}

void require_guard(const std::string& folder) {
  const char* const why =
      "this processor cannot load a line of 64 bytes at once (AVX-512), so a view needs ";
  if (!folder.empty())
    throw failure(SCUTE_E_UNSUPPORTED, std::string(why) + "to lie in memory (no --view-dir)");
  watch_threads();
  const userfault* const faults = begin_faults(false);
  if (faults == nullptr || !faults->waits_for_stores())
    throw failure(SCUTE_E_UNSUPPORTED, std::string(why) + "userfaultfd(2) of Linux 5.19: " +
                                           std::strerror(faults == nullptr ? errno : EOPNOTSUPP));
}

// Loads the first page, so that an unreadable file is noticed.
void load_one(view::file_view& view, const supervisor::pool_backing& pool) {
  if (!view.load(0, 1)) throw failure(SCUTE_E_CORRUPT, "cannot read it: " + pool.why());
}

}  // namespace

guarded_file* guarded_file::first() noexcept {
  return all.load(std::memory_order_acquire);
}

guarded_file* guarded_file::find(const file_identity& id) noexcept {
  for (guarded_file* f = first(); f != nullptr; f = f->next())
    if (f->is_open() && f->id_ == id) return f;
  return nullptr;
}

guarded_file* guarded_file::find_bytes(const struct stat& s) noexcept {
  for (guarded_file* f = first(); f != nullptr; f = f->next())
    if (f->is_open() && f->is_bytes(s)) return f;
  return nullptr;
}

guarded_file& guarded_file::unused() {
  for (guarded_file* f = first(); f != nullptr; f = f->next())
    if (!f->is_open() && f->references_ == 0) return *f;
  auto* const f = new guarded_file;
  f->next_ = first();
  all.store(f, std::memory_order_release);
  return *f;
}

guarded_file& guarded_file::open(const std::string& path, const file_identity& id, bool reads) {
  handle_forks();                    // FORK-1
  const length_signal_held quietly;  // a view may be longer than the program's file size limit
  const bool guards = stores_are_guarded();
  if (guards) require_guard(asked().views);
  claimed_file mine(path, id);
  auto pool = std::make_unique<supervisor::pool_backing>(
      path, supervisor::pool_backing::if_busy::refuse,
      reads ? supervisor::pool_backing::if_read_only::read
            : supervisor::pool_backing::if_read_only::refuse,
      has_supervisor() ? supervisor::pool_backing::opened_for::supervisor
                       : supervisor::pool_backing::opened_for::itself);
  const view::region_shape shape = view::file_view::shape_for(*pool, pool->capacity());
  const audit_plan plan = plan_audit();
  supervisor::view_memory memory = supervisor::view_memory::make(
      shape, pool->size(), plan.wanted ? audit::store_audit::size(pool->capacity()) : 0,
      asked().views);
  own_until_kept own(memory);
  guarded_file& f = unused();
  std::unique_ptr<live_audit> audit;
  if (plan.wanted) {
    audit::store_audit::format(memory.more(), pool->capacity(), plan.strays, plan.unreported,
                               plan.remembers);
    audit = std::make_unique<live_audit>(memory.more(), path);
  }
  f.dropped_ = f.dropped_masked_ = 0;
  view::view_parts parts;
  parts.control = memory.control();
  parts.bytes = memory.bytes_at();
  parts.bytes_file = memory.bytes();
  parts.reports_holes = memory.is_in_memory();  // not all file systems do
  parts.medium = pool.get();
  parts.sink = &f.unflushed_;
  parts.watch = audit.get();
  f.pages_.reset();
  if (memory.is_in_memory() && interpose::pages_come()) parts.placer = &f.pages_.emplace(memory);
  f.guard_.reset();
  f.keeps_pages_.store(false);
  if (guards || (f.pages_ && pages_go())) parts.guard = &f.guard_.emplace(f);
  auto view = std::make_unique<view::file_view>(parts);
  if (f.pages_)
    load_one(*view, *pool);
  else
    load_all(*view, *pool, memory);
  struct stat s{};
  if (next::fstat(memory.bytes().get(), &s) != 0) throw_errno("look at the view", errno);
  f.unflushed_.begin(view.get(), memory.bytes_at());
  const uint32_t number = ++numbers_taken;
  f.held_ = false;
  f.held_ = hand_over_view(number, path, id.device, id.inode, memory.head().get(),
                           memory.bytes().get());  // GUARD-3
  f.path_ = path;
  f.id_ = id;
  f.bytes_id_ = identity_of(s);
  f.pool_ = std::move(pool);
  own.keep();
  mine.keep();
  f.memory_.emplace(std::move(memory));
  f.unflushed_.pass_on(audit.get());
  f.view_ = std::move(view);
  f.audit_ = std::move(audit);
  f.references_ = 1;
  f.number_.store(number, std::memory_order_release);
  f.reserved_.store(0);
  f.open_.store(true, std::memory_order_release);
  return f;
}

void guarded_file::leave() noexcept {
  if (--references_ == 0 && is_open()) close();
}

void guarded_file::leave_all() noexcept {
  for (guarded_file* f = first(); f != nullptr; f = f->next())
    for (; f->leaving_ != 0; --f->leaving_) f->leave();
}

void guarded_file::close() noexcept {
  scute_shield_counts audit{};
  // GUARD-6. If a handler has interrupted a use by its own thread, the used parts stay where they
  // are, with the pool open: the supervisor closes it when the process has ended.
  const bool in_use_here = uses_here != 0;
  // First, so that bytes of a child's successful write are examined.
  // SUPER-4
  supervisor::view_memory::end_writes(memory_->bytes().get());
  supervisor::view_memory::end_growth(memory_->bytes().get());
  const bool done =
      guarded(path_, [&] {
        asked().keep_unflushed ? write_back(0, UINT64_MAX, view::write_reason::end) : drop_rest();
        open_.store(false);
        if (in_use_here) return;
        wait_for_users();
        count(audit);
        pool_->close();
      }) == 0;
  open_.store(false);
  if (in_use_here) {
    static_cast<void>(view_.release());
    static_cast<void>(audit_.release());
    static_cast<void>(pool_.release());
    memory_->abandon();
    memory_.reset();
    return;
  }
  wait_for_users();
  unflushed_.end();
  view_.reset();
  audit_.reset();
  pool_.reset();
  forget_own(memory_->head().number());
  forget_own(memory_->bytes().number());
  memory_.reset();
  // The supervisor tries again to write bytes that could not be written.
  if (done) release_view(number(), audit);
}

// CRASHWB-2, at a proper close.
void guarded_file::drop_rest() {
  supervisor::unflushed_file rest(path_);
  unflushed_.prepare();
  view::file_view::writeback_result result;
  uint64_t masked = 0;
  const bool done = view_->crash_writeback(
      view::file_view::unflushed_lines::drop, result,
      [&](uint64_t offset, std::span<const std::byte> bytes) {
        rest.add(offset, bytes);
        masked += unflushed_.left(offset, static_cast<uint32_t>(bytes.size()),
                                  view::left_as::never_flushed)
                      ? 1
                      : 0;
      });
  if (!done) throw failure(SCUTE_E_IO, "cannot write what was flushed: " + pool_->why());
  rest.finish();
  if (view_->is_halted()) give_up();
  dropped_ = result.unflushed;
  dropped_masked_ = masked;
}

void guarded_file::count(scute_shield_counts& to) const noexcept {
  supervisor::copy_counters(view_->counters(), to);
  to.dropped_lines = dropped_;
  to.unflushed_lines += dropped_ - dropped_masked_;
  to.masked_lines += dropped_masked_;
  to.repairs = pool_->repairs();
  if (audit_ != nullptr) to.stray_lines = audit_->strays();
}

void guarded_file::wait_for_users() const noexcept {
  for (unsigned spins = 0; users_.load() != 0;) spin_pause(spins);
}

guarded_file::use::use(guarded_file& file, uint32_t number) noexcept : file_(file) {
  ++uses_here;
  file.users_.fetch_add(1);
  is_open_ = file.open_.load() && file.number() == number;
}

guarded_file::use::~use() {
  file_.users_.fetch_sub(1);
  --uses_here;
}

uint64_t guarded_file::memory() const noexcept {
  return memory_taken(*memory_);
}

int guarded_file::open_bytes(int flags) const noexcept {
  const int bytes = memory_->bytes().get();
  if (bytes < 0) {
    errno = EBADF;
    return -1;
  }
  char link[40];
  std::snprintf(link, sizeof link, "/proc/thread-self/fd/%d", bytes);
  return next::open(link, flags | O_CLOEXEC);
}

bool guarded_file::watch(uintptr_t at, size_t n) const noexcept {
  const userfault* const faults = view_faults();
  return faults == nullptr || faults->watch(at, n, pages_come(), stores_wait());
}

void guarded_file::cannot_watch() const noexcept {
  complain(
      path_,
      std::string(
          "a mapping of it was moved and cannot be watched, so the program cannot continue: ") +
          std::strerror(errno));
  std::abort();
}

bool guarded_file::let_go(uint64_t page) noexcept {
  const uint64_t offset = page * view::page_size;
  if (!view_->seems_clean(page) || !guard_->try_hold(offset, view::page_size)) return false;
  const bool gone = view_->let_go(page);
  guard_->release(offset, view::page_size);
  return gone;
}

void guarded_file::load(uint64_t offset, uint64_t n) {
  if (!view_->load(offset, n)) throw failure(SCUTE_E_CORRUPT, "cannot read it: " + pool_->why());
}

void guarded_file::drain() {
  if (!pool_->drain()) throw failure(SCUTE_E_IO, "cannot end its log: " + pool_->why());
}

// PAGEIN-6
void guarded_file::refuse_unintercepted(uint64_t offset, uint64_t n) {
  if (memory_->bytes().get() < 0) throw_errno("look for stores that were not intercepted", EBADF);
  const pages_stay here;  // a page evicted meanwhile would look like one
  const uint64_t at = view_->first_unintercepted(offset, n);
  if (at != view::file_view::none)
    throw failure(SCUTE_E_IO, "its page at " + std::to_string(at) +
                                  " was written by a call that the shield does not intercept, "
                                  "before it was loaded; such programs cannot run with --page-in");
}

void guarded_file::require_writable() const {
  if (pool_->is_read_only())
    throw failure(SCUTE_E_READONLY,
                  "this process has it open already, by a user who may only read it");
}

void guarded_file::write_back(uint64_t offset, uint64_t n, view::write_reason why) {
  if (!is_open()) return;        // in a child: the view's bytes are left to its parent (GUARD-4)
  end_window_elsewhere(*this);   // DUR-2
  audit::report_clock::fence();  // a call: stores that were reported before have happened (HOOK-3)
  // GROW-4
  std::exception_ptr no_room;
  try {
    catch_up();
  } catch (const failure&) {
    no_room = std::current_exception();
  }
  write_there(offset, n, why);
  if (no_room) std::rethrow_exception(no_room);
}

void guarded_file::write_there(uint64_t offset, uint64_t n, view::write_reason why) {
  const uint64_t size = view_->size();
  if (offset >= size) return;
  if (why != view::write_reason::sync && !asked().keep_unflushed) return;
  if (pages_) refuse_unintercepted(offset, n);
  if (why != view::write_reason::sync) unflushed_.prepare();
  const bool done = view_->write_back(nullptr, offset, std::min(n, size - offset), why);
  if (view_->is_halted()) give_up();
  if (pages_may_go() && pages_go()) view_faults()->kick();  // written pages may go
  if (!done) throw failure(SCUTE_E_IO, "cannot write what has changed: " + pool_->why());
  pool_->set_time();
}

// After a halt, the program's SIGABRT handler must not run: it could store, sync and exit, and so
// come here a second time.
void guarded_file::give_up() noexcept {
  if (view_->is_halted()) {
    struct sigaction none{};
    none.sa_handler = SIG_DFL;
    ::sigaction(SIGABRT, &none, nullptr);
  }
  if (view_->is_halted())
    complain(path_,
             "the program is stopped before the stray store reaches the file, which keeps the last "
             "commit; all later stores go to its .scute-unflushed");
  else
    complain(path_, "a commit has failed, so the program cannot continue: " + pool_->why());
  std::abort();
}

namespace {

// Makes writable parts of views read-only. Access that the program has removed stays removed, and
// so do pages that were withheld from children (PAGEIN-4).
void only_to_read() noexcept {
  const bool complete = each_part_of_memory([](uintptr_t begin, uintptr_t end, int access) {
    if ((access & PROT_WRITE) == 0) return;
    mappings.for_each([&](const mapped_range& r) {
      const uintptr_t first = std::max(begin, r.begin), last = std::min(end, r.end);
      if (first < last)
        ::mprotect(reinterpret_cast<void*>(first), last - first, access & ~PROT_WRITE);
    });
  });
  if (complete) return;
  mappings.for_each([](const mapped_range& r) {
    for (uintptr_t at = r.begin; at < r.end; at += view::page_size)
      ::mprotect(reinterpret_cast<void*>(at), view::page_size, PROT_READ);
  });
}

}  // namespace

void guarded_file::leave_regions() noexcept {
  for (guarded_file* f = first(); f != nullptr; f = f->next())
    if (f->is_open() && !f->memory_->forget_region()) ::_exit(1);
}

// GUARD-4. The child's descriptors stay descriptors of the view. The parent's objects stay where
// they are, unused.
void guarded_file::become_child() noexcept {
  audit::report_clock::become_child();
  for (guarded_file* f = first(); f != nullptr; f = f->next()) {
    if (!f->is_open()) continue;
    f->open_.store(false, std::memory_order_release);
    f->references_ = ~0u / 2;  // never used again
    static_cast<void>(f->view_.release());
    static_cast<void>(f->audit_.release());
    static_cast<void>(f->pool_.release());
  }
  leave_descriptors_to_parent();
  if (!mappings.empty()) only_to_read();
}

}  // namespace scute::core::interpose
