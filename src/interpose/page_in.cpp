// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/page_in.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/failure.hpp"
#include "base/planted.hpp"
#include "interpose/complaint.hpp"
#include "interpose/guarded_file.hpp"
#include "interpose/mappings.hpp"
#include "interpose/next_calls.hpp"
#include "interpose/page_out.hpp"
#include "interpose/settings.hpp"
#include "interpose/userfault.hpp"
#include "interpose/view_faults.hpp"

namespace scute::core::interpose {
namespace {

constexpr uint64_t page_size = view::page_size;
constexpr uint64_t pages_ahead = 16;  // of who reads one page after the other

struct place {
  guarded_file* file = nullptr;
  uint64_t offset = 0;
};

place place_of(uintptr_t at) noexcept {
  const mapped_range range = mappings.first_in(at, at + 1);
  if (range.file != nullptr) return {range.file, range.offset_of(at)};
  for (guarded_file* f = guarded_file::first(); f != nullptr; f = f->next()) {
    const guarded_file::use now(*f, f->number());
    uint64_t offset = 0;
    if (now.is_open() && f->has_bytes_at(at, offset)) return {f, offset};
  }
  return {};
}

// False: it is lost.
bool loaded(view::file_view& view, uint64_t offset) noexcept {
  const bool goes_on = offset >= page_size && view.is_loaded(offset - page_size, page_size);
  return (goes_on && view.load(offset, pages_ahead * page_size)) || view.load(offset, page_size);
}

}  // namespace

// PAGEIN-1
void load_touched(const userfault& faults, uintptr_t at) noexcept {
  const uintptr_t page = at & ~(page_size - 1);
  const place p = place_of(at);
  // It is mapped no more: who has touched it finds that out.
  if (p.file == nullptr) return faults.wake(page, page_size);
  {
    const guarded_file::use now(*p.file, p.file->number());
    if (now.is_open() && loaded(p.file->view(), p.offset & ~(page_size - 1))) {
      // A hole that counts as loaded is zeros: of the file, or since the program has made it one.
      if (faults.zero(page) != userfault::outcome::failed) return faults.wake(page, page_size);
      complain(p.file->path(),
               std::string("a page of its view cannot be had: ") + std::strerror(errno));
    } else if (now.is_open()) {
      complain(p.file->path(),
               "byte " + std::to_string(p.offset) +
                   " cannot be read, and who touches it gets SIGBUS: " + p.file->why());
    }
  }
  if (!faults.poison(page)) std::abort();
}

bool pages_come() noexcept {
  if (!asked().page_in) return false;
  allow_pages_to_go();
  const userfault* const faults = begin_faults();
  if (faults != nullptr && faults->waits_for_pages() && (!pages_go() || faults->waits_for_stores()))
    return true;
  static bool told = false;
  if (!std::exchange(told, true))
    complain("the shield",
             std::string("pages cannot come when they are touched (userfaultfd: ") +
                 std::strerror(faults == nullptr      ? errno
                               : faults->lacks() != 0 ? faults->lacks()
                                                      : EOPNOTSUPP) +
                 "; see --page-in in scute(1)), so files are read when they are opened");
  return false;
}

// PAGEIN-4. Under the lock that fork() takes, so no file is opened or closed meanwhile.
void load_before_fork() noexcept {
  const pages_stay here;
  for (guarded_file* f = guarded_file::first(); f != nullptr; f = f->next()) {
    if (!f->is_open() || !f->pages_come() || SCUTE_PLANTED(page_fork)) continue;
    f->keep_pages();
    static_cast<void>(guarded(f->path(), [&] { f->load(0, ~uint64_t{0}); }));
  }
}

touched_pages::touched_pages(const holder::view_memory& memory)
    : at_(reinterpret_cast<uintptr_t>(memory.bytes_at())), file_(memory.bytes()) {
  if (!view_faults()->watch(at_, memory.capacity(), true, false))
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
                 " of a file) was written to by a call that the shield does not hear, as by "
                 "io_uring; such programs cannot run with --page-in");
    std::abort();
  }
  return false;
}

bool touched_pages::take(uint64_t offset) noexcept {
  return next::fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                         static_cast<off_t>(offset), off_t{page_size}) == 0;
}

}  // namespace scute::core::interpose
