// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/memory/page_in.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/failure.hpp"
#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/descriptors/guarded_file.hpp"
#include "shield/interpose/memory/mappings.hpp"
#include "shield/interpose/memory/page_out.hpp"
#include "shield/interpose/memory/userfault.hpp"
#include "shield/interpose/memory/view_faults.hpp"
#include "shield/interpose/process/complaint.hpp"
#include "shield/interpose/process/settings.hpp"
#include "shield/interpose/signals/signals_wait.hpp"

namespace scute::core::interpose {
namespace {

constexpr uint64_t page_size = view::page_size;
constexpr uint64_t pages_ahead = 16;  // for a thread that reads one page after the other

// Loads the page. Returns false if it is lost.
bool loaded(view::file_view& view, uint64_t offset) noexcept {
  const bool goes_on = offset >= page_size && view.is_loaded(offset - page_size, page_size);
  return (goes_on && view.load(offset, pages_ahead * page_size)) || view.load(offset, page_size);
}

std::atomic<uintptr_t> growing_from{0}, growing_to{0};

bool is_growing(uintptr_t page) noexcept {
  return page >= growing_from.load(std::memory_order_acquire) &&
         page < growing_to.load(std::memory_order_acquire);
}

}  // namespace

growing_mapping::growing_mapping(uintptr_t begin, uintptr_t end) noexcept {
  growing_from.store(begin, std::memory_order_release);
  growing_to.store(end, std::memory_order_release);
}
growing_mapping::~growing_mapping() {
  growing_to.store(0, std::memory_order_release);
}

// PAGEIN-1
void load_touched(const userfault& faults, uintptr_t at) noexcept {
  const uintptr_t page = at & ~(page_size - 1);
  const mapped_range r = mappings.first_in(at, at + 1);
  using outcome = userfault::outcome;
  // If it is not mapped any more, the thread that has touched it finds that out.
  outcome is = outcome::gone;
  if (r.file != nullptr) {
    const guarded_file::use now(*r.file, r.file->number());
    const uint64_t offset = r.offset_of(page);
    if (now.is_open() && loaded(r.file->view(), offset)) {
      // A hole that counts as loaded is zeros: in the file, or since the program has made a hole.
      is = r.file->pages()->zero(offset);
      if (is == outcome::failed)
        complain(r.file->path(),
                 std::string("a page of its view cannot be obtained: ") + std::strerror(errno));
    } else if (now.is_open()) {
      is = outcome::failed;
      complain(r.file->path(),
               "byte " + std::to_string(offset) +
                   " cannot be read, and a thread that touches it gets SIGBUS: " + r.file->why());
    }
  } else if (is_growing(page)) {  // PAGEIN-7
    is = faults.zero(page);
  }
  if (is == outcome::failed) is = faults.poison(page);
  if (is == outcome::failed) std::abort();
  faults.wake(page, page_size);
}

bool pages_come() noexcept {
  if (!asked().page_in) return false;
  allow_pages_to_go();
  const userfault* const faults = begin_faults(true);
  if (faults != nullptr && faults->waits_for_pages()) return true;
  static bool reported = false;
  if (!std::exchange(reported, true))
    complain("the shield",
             std::string("pages cannot be loaded on demand (userfaultfd: ") +
                 std::strerror(faults == nullptr      ? errno
                               : faults->lacks() != 0 ? faults->lacks()
                                                      : EOPNOTSUPP) +
                 "; see --page-in in scute(1)), so whole files are read when they are opened");
  return false;
}

// PAGEIN-4, for unreadable bytes: a child that reads them would turn them into a page of zeros, for
// its parent too.
void keep_from_children(const guarded_file& file, uint64_t offset) noexcept {
  for (uintptr_t from = 0;;) {
    const mapped_range r = mappings.first_in(from, UINTPTR_MAX);
    if (r.file == nullptr) return;
    from = r.end;
    if (r.file == &file && offset >= r.offset && offset - r.offset < r.end - r.begin)
      next::madvise(reinterpret_cast<void*>(r.begin + (offset - r.offset)), page_size,
                    MADV_DONTFORK);
  }
}

void load_all_views() noexcept {
  if (view_faults() == nullptr) return;
  const int keep = errno;
  const signals_wait quiet;
  const pages_stay here;
  for (guarded_file* f = guarded_file::first(); f != nullptr; f = f->next()) {
    const guarded_file::use now(*f, f->number());
    if (!now.is_open() || !f->pages_come()) continue;
    f->keep_pages();
    uint64_t lost = 0;
    constexpr uint64_t some = pages_ahead * page_size;
    for (uint64_t at = 0; at < f->size(); at += some) {
      if (f->view().load(at, some)) continue;
      for (uint64_t page = at; page < at + some && page < f->size(); page += page_size) {
        if (f->view().load(page, page_size)) continue;
        ++lost;
        keep_from_children(*f, page);
      }
    }
    if (lost != 0)
      complain(f->path(), std::to_string(lost) + " pages cannot be read: " + f->why() +
                              "; a child that touches them gets SIGSEGV");
  }
  errno = keep;
}

touched_pages::touched_pages(const supervisor::view_memory& memory)
    : at_(reinterpret_cast<uintptr_t>(memory.bytes_at())), file_(memory.bytes()) {
  // No thread waits here: the mapping is watched so that the kernel lets us copy to it.
  if (!view_faults()->watch(at_, memory.capacity(), false, true))
    throw_errno("watch the pages of a view", errno);
}

bool touched_pages::place(uint64_t offset, std::span<const std::byte> bytes,
                          size_t& placed) noexcept {
  const size_t pages = bytes.size() / page_size;
  const userfault::outcome is = view_faults()->copy(at_ + offset, bytes.data(), pages, placed);
  if (is == userfault::outcome::done) return true;
  // PAGEIN-6
  if (is == userfault::outcome::there_before) {
    complain("the shield",
             "a page that was never loaded (byte " + std::to_string(offset + placed * page_size) +
                 " of a file) was written by a call that the shield does not intercept, such as by "
                 "io_uring; such programs cannot run with --page-in");
    std::abort();
  }
  return false;
}

userfault::outcome touched_pages::zero(uint64_t offset) noexcept {
  const userfault::outcome is = view_faults()->zero(at_ + offset);
  return is == userfault::outcome::there_before ? userfault::outcome::done : is;
}

bool touched_pages::take(uint64_t offset) noexcept {
  return next::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                         static_cast<off_t>(offset), off_t{page_size}) == 0;
}

}  // namespace scute::core::interpose
