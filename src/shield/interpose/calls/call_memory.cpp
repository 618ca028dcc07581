// SPDX-License-Identifier: BSD-3-Clause
// mmap(2) and its relatives.
//
// MEM-1 Before bytes leave the address space, by munmap(), by MAP_FIXED over them or by mremap(),
//    they are written as by munmap() (SHIELD-4). They leave the table before the addresses are free
//    (MAPS-3).
// MEM-3 A mapping of a view whose pages are loaded on first access is watched before any thread can
//    touch it (PAGEIN-1): it begins without access. If it cannot be watched it is loaded first.
// MEM-2 A mapping that a program could flush by its own instructions is given only if the runtime
//    learns of them: MAP_SYNC to completely instrumented programs and to libpmem2; any shared
//    writable mapping only if no other code flushes (flush_scan.hpp).
#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <optional>

#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/calls/program_calls.hpp"
#include "shield/interpose/descriptors/descriptors.hpp"
#include "shield/interpose/descriptors/fd_passing.hpp"
#include "shield/interpose/descriptors/guarded_file.hpp"
#include "shield/interpose/descriptors/views_of_others.hpp"
#include "shield/interpose/memory/map_sync.hpp"
#include "shield/interpose/memory/mappings.hpp"
#include "shield/interpose/memory/page_in.hpp"
#include "shield/interpose/memory/page_out.hpp"
#include "shield/interpose/process/complaint.hpp"
#include "shield/interpose/process/critical.hpp"
#include "shield/interpose/process/settings.hpp"
#include "shield/interpose/stores/flush_scan.hpp"
#include "shield/interpose/stores/hook_gates.hpp"
#include "shield/interpose/stores/store_guard.hpp"

using namespace scute::core::interpose;

namespace {

constexpr uintptr_t page = 4096;
// The place for views that may lie anywhere: below everything else (scute/shield_hooks.h).
constexpr uintptr_t views_begin = 0x0f0000000000, huge_page = uintptr_t{2} << 20;
uintptr_t next_place = views_begin;

[[gnu::tls_model("initial-exec")]] thread_local constinit unsigned sync_granted = 0;

uintptr_t rounded(uintptr_t n) noexcept {
  return (n + page - 1) & ~(page - 1);
}

void* refuse(int why) noexcept {
  errno = why;
  return MAP_FAILED;
}

// MEM-1. In a critical section. Returns false with errno if some bytes could not be written; then
// nothing was unmapped.
bool write_leaving(uintptr_t at, size_t n) noexcept {
  if (mappings.first_in(at, at + rounded(n)).file == nullptr) return true;
  if (!mappings.has_room()) {  // one mapping may become two
    errno = ENOMEM;
    return false;
  }
  bool written = true;
  mappings.for_each([&](const mapped_range& r) {
    if (!written || r.end <= at || r.begin >= at + rounded(n)) return;
    const uintptr_t begin = std::max(r.begin, at), end = std::min(r.end, at + rounded(n));
    written = guarded(r.file->path(), [&] {
                r.file->write_back(r.offset_of(begin), end - begin,
                                   scute::core::view::write_reason::unmap);
              }) == 0;
  });
  return written;
}

// Files whose last mapping has gone are closed at the end of the scope: a close writes, and so
// holds pages (STORE-3).
class departures {
 public:
  departures() = default;
  ~departures() { guarded_file::leave_all(); }
  departures(const departures&) = delete;
  departures& operator=(const departures&) = delete;
};

// Only where a `departures` lives.
void forget(uintptr_t at, size_t n) noexcept {
  mappings.cut_out(at, at + rounded(n), [](guarded_file& file, int change) {
    if (change > 0) file.enter();
    if (change < 0) file.leave_later();
  });
}

bool may_flush_unintercepted(const std::string& path) {
  const found_flush found = find_inline_flush(asked().allowed);
  if (!found) return false;
  char place[32];
  std::snprintf(place, sizeof place, "0x%llx", static_cast<unsigned long long>(found.offset));
  complain(path, found.object + " flushes cache lines by instructions of its own (at " + place +
                     "), which the shield cannot intercept; compile it with scute-cc, or, if it "
                     "does not flush this file, allow it with --allow-inline-flush " +
                     found.object);
  return true;
}

// Loads the file's existing bytes that such a mapping shows. False with errno.
bool load_mapped(guarded_file& file, off_t offset, size_t n) noexcept {
  if (!file.is_open() || !file.pages_come() || offset < 0) return true;
  if (guarded(file.path(), [&] { file.load(static_cast<uint64_t>(offset), n); }) == 0) return true;
  errno = EIO;
  return false;
}

// MEM-3: whether pages may be loaded on access. If a call replaces another view, or asks for all
// pages at once, all are loaded.
bool pages_can_come(const opened_file& o, void* at, size_t n, int flags) noexcept {
  const auto begin = reinterpret_cast<uintptr_t>(at);
  return o.file->pages_come() && (flags & MAP_POPULATE) == 0 &&
         ((flags & MAP_FIXED) == 0 || mappings.first_in(begin, begin + rounded(n)).file == nullptr);
}

void* map_view(opened_file& o, void* at, size_t n, int access, int flags, int fd,
               off_t offset) noexcept {
  try {
    if ((flags & MAP_SYNC) != 0 && (flags & MAP_TYPE) == MAP_SHARED_VALIDATE && sync_granted == 0 &&
        !all_instrumented())
      return refuse(EOPNOTSUPP);
    if (may_flush_unintercepted(o.file->path())) return refuse(EPERM);
  } catch (const std::exception&) {
    return refuse(ENOMEM);
  }
  if (!mappings.has_room()) return refuse(ENOMEM);
  // Bytes that write(2) has appended belong to the file before any can be flushed there.
  if (guarded(o.file->path(), [&] { o.file->catch_up(); }) != 0) return refuse(EIO);
  const bool fixed = (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) != 0;
  void* wanted = at;
  if (!fixed && at == nullptr) {
    wanted = reinterpret_cast<void*>(next_place);
    next_place += (rounded(n) + 2 * huge_page - 1) & ~(huge_page - 1);
  }
  const bool can_store = (o.flags & O_ACCMODE) == O_RDWR;
  const bool comes = can_store && pages_can_come(o, at, n, flags);
  if (!can_store) o.file->keep_pages();
  const pages_stay here;  // until it is watched
  if (!comes && !load_mapped(*o.file, offset, n)) return MAP_FAILED;
  std::optional<no_page_held> quiet;  // STORE-2
  if (o.file->stores_wait() && can_store) quiet.emplace();
  void* const got =
      next::mmap(wanted, n, comes ? PROT_NONE : access, flags & ~MAP_SYNC, fd, offset);
  if (got == MAP_FAILED) return got;
  const auto begin = reinterpret_cast<uintptr_t>(got);
  if ((flags & MAP_FIXED) != 0) forget(begin, n);
  mappings.add({begin, begin + rounded(n), o.file, static_cast<uint64_t>(offset), can_store});
  o.file->enter();
  open_gates();
  const bool watched = !can_store || o.file->watch(begin, rounded(n));
  if (watched && (!comes || ::mprotect(got, n, access) == 0)) return got;
  const int why = errno;
  next::munmap(got, n);
  forget(begin, n);
  return refuse(why);
}

}  // namespace

map_sync_granted::map_sync_granted() noexcept {
  ++sync_granted;
}
map_sync_granted::~map_sync_granted() {
  --sync_granted;
}

void* program_mmap(void* at, size_t n, int access, int flags, int fd, off_t offset) {
  const bool anonymous = (flags & MAP_ANONYMOUS) != 0;
  const bool replaces = (flags & MAP_FIXED) != 0 && !mappings.empty();
  const bool of_view = !anonymous && met_file(fd) != nullptr;
  if (!replaces && !of_view) {
    void* const got = next::mmap(at, n, access, flags, fd, offset);
    if (got == MAP_FAILED) return got;
    const auto begin = reinterpret_cast<uintptr_t>(got);
    const bool stores = (access & PROT_WRITE) != 0 && (flags & MAP_TYPE) != MAP_PRIVATE;
    if (stores && !anonymous && is_of_some_view(fd))
      remember_view_of_other(begin, rounded(n), fd);
    else if (!anonymous)
      forget_views_of_others(begin, rounded(n));
    return got;
  }
  if (of_view && entry_of(fd) == nullptr) return refuse(EMFILE);  // no entry could say what it maps
  const critical now;
  const departures after;
  opened_file* const o = anonymous ? nullptr : opened_at(fd);
  const auto begin = reinterpret_cast<uintptr_t>(at);
  // If the call fails, the old mapping stays, and stays in the table.
  if (replaces && !write_leaving(begin, n)) return MAP_FAILED;
  if (o != nullptr && (flags & MAP_TYPE) != MAP_PRIVATE)
    return map_view(*o, at, n, access, flags, fd, offset);
  if (o != nullptr) o->file->keep_pages();
  const pages_stay here;
  if (o != nullptr && !load_mapped(*o->file, offset, n)) return MAP_FAILED;
  void* const got = next::mmap(at, n, access, flags, fd, offset);
  if (replaces && got != MAP_FAILED) forget(begin, n);
  return got;
}
SCUTE_INTERPOSED_ALIAS(void*, mmap, scute_program_mmap,
                       (void* at, size_t n, int access, int flags, int fd, off_t offset));
SCUTE_INTERPOSED_ALIAS(void*, mmap64, scute_program_mmap,
                       (void* at, size_t n, int access, int flags, int fd, off_t offset));

int program_munmap(void* at, size_t n) {
  const auto begin = reinterpret_cast<uintptr_t>(at);
  if (mappings.empty() || mappings.first_in(begin, begin + rounded(n)).file == nullptr) {
    forget_views_of_others(begin, rounded(n));
    return next::munmap(at, n);
  }
  const critical now;
  const departures after;
  if (begin % page != 0 || n == 0) return next::munmap(at, n);  // EINVAL
  if (!write_leaving(begin, n)) return -1;
  // The table still has the mapping while it is removed. No other thread gets the place before the
  // table forgets it: all calls that could take the place wait for this one.
  const int result = next::munmap(at, n);
  if (result == 0) forget(begin, n);
  return result;
}

SCUTE_INTERPOSED_ALIAS(int, munmap, scute_program_munmap, (void* at, size_t n));

void* program_mremap(void* at, size_t n, size_t to, int flags, ...) {
  va_list more;
  va_start(more, flags);
  void* const place = (flags & MREMAP_FIXED) != 0 ? va_arg(more, void*) : nullptr;
  va_end(more);
  const auto begin = reinterpret_cast<uintptr_t>(at), target = reinterpret_cast<uintptr_t>(place);
  if (mappings.empty() ||
      (mappings.first_in(begin, begin + rounded(std::max<size_t>(n, 1))).file == nullptr &&
       (place == nullptr || mappings.first_in(target, target + rounded(to)).file == nullptr)))
    return next::mremap(at, n, to, flags, place);
  const critical now;
  const departures after;
  if (!mappings.has_room()) return refuse(ENOMEM);
  const mapped_range old = mappings.find(begin);
  if (old.file != nullptr && begin + rounded(n) > old.end)
    return refuse(EFAULT);  // as for two mappings
  if (place != nullptr && !write_leaving(target, to)) return MAP_FAILED;
  if (to < n && !write_leaving(begin + rounded(to), n - rounded(to))) return MAP_FAILED;
  const pages_stay here;
  if (old.file != nullptr &&
      !load_mapped(*old.file, static_cast<off_t>(old.offset_of(begin)), std::max(n, to)))
    return MAP_FAILED;
  std::optional<no_page_held> quiet;  // STORE-2
  if (old.file != nullptr && old.file->stores_wait()) quiet.emplace();
  void* const got = [&] {
    const growing_mapping longer(begin + rounded(n), begin + std::max(rounded(n), rounded(to)));
    return next::mremap(at, n, to, flags, place);
  }();
  if (got == MAP_FAILED) return got;
  const auto moved = reinterpret_cast<uintptr_t>(got);
  if (place != nullptr) forget(target, to);
  if (old.file == nullptr) return got;
  // The old mapping cannot be restored, and stores to the new one would not wait.
  if (old.stores && !old.file->watch(moved, rounded(to))) old.file->cannot_watch();
  old.file->enter();
  if (moved == begin) forget(begin, std::max(n, to));
  mappings.add({moved, moved + rounded(to), old.file, old.offset_of(begin), old.stores});
  open_gates();
  constexpr int stays = 4;  // MREMAP_DONTUNMAP
  if (n != 0 && (flags & stays) == 0 && moved != begin) forget(begin, n);
  return got;
}
SCUTE_INTERPOSED_ALIAS(void*, mremap, scute_program_mremap,
                       (void* at, size_t n, size_t to, int flags, ...));

int program_msync(void* at, size_t n, int flags) {
  const auto begin = reinterpret_cast<uintptr_t>(at);
  const int result = next::msync(at, n, flags);
  if (result == 0 && is_of_ended_view(begin, rounded(n))) {
    errno = EIO;
    return -1;
  }
  if (result != 0 || mappings.empty() || (flags & MS_ASYNC) != 0) return result;
  const critical now;
  for (uintptr_t from = begin; from < begin + rounded(n);) {
    const mapped_range r = mappings.first_in(from, begin + rounded(n));
    if (r.file == nullptr) break;
    const uintptr_t first = std::max(r.begin, from), last = std::min(r.end, begin + rounded(n));
    if (guarded(r.file->path(), [&] {
          r.file->write_back(r.offset_of(first), last - first,
                             scute::core::view::write_reason::sync);
        }) != 0) {
      errno = EIO;
      return -1;
    }
    from = last;
  }
  return 0;
}
SCUTE_INTERPOSED_ALIAS(int, msync, scute_program_msync, (void* at, size_t n, int flags));

// Reorders the parts of a mapping. Programs do not use this any more, and the table could not
// describe it.
SCUTE_INTERPOSED(int, remap_file_pages, (void* at, size_t n, int access, size_t to, int flags)) {
  const auto begin = reinterpret_cast<uintptr_t>(at);
  if (mappings.empty() || mappings.first_in(begin, begin + rounded(n)).file == nullptr)
    return next::remap_file_pages(at, n, access, to, flags);
  errno = EINVAL;
  return -1;
}
