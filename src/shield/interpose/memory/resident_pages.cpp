// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/memory/resident_pages.hpp"

#include <unistd.h>

#include <cerrno>

#include "shield/interpose/descriptors/descriptors.hpp"
#include "shield/interpose/descriptors/guarded_file.hpp"
#include "shield/interpose/memory/view_faults.hpp"
#include "shield/interpose/process/complaint.hpp"
#include "shield/interpose/signals/signals_wait.hpp"

namespace scute::core::interpose {
namespace {

// Loads the bytes under a use of the file, which keeps its view. Takes no `critical`, which other
// threads hold while they wait for a commit set (PAGEIN-2).
bool load(guarded_file& file, uint64_t at, uint64_t n) noexcept {
  if (file.view().is_loaded(at, n)) return true;
  bool done = false;
  {
    const signals_wait now;
    done = file.view().load(at, n);
  }
  if (pages_go()) view_faults()->kick();
  if (done) return true;
  complain(file.path(), "cannot read it: " + file.why());
  errno = EIO;
  return false;
}

guarded_file* with_pages(int fd) noexcept {
  opened_file* const o = entry_of(fd) != nullptr ? opened_at(fd) : nullptr;
  return o != nullptr && o->file->pages_come() ? o->file : nullptr;
}

}  // namespace

resident_pages::resident_pages(int fd, off_t at, size_t n, use how) noexcept {
  guarded_file* const file = n != 0 ? with_pages(fd) : nullptr;
  if (file == nullptr) return;
  const int keep = errno;
  stay_.emplace();
  const guarded_file::use now(*file, file->number());
  if (at < 0) at = ::lseek(fd, 0, SEEK_CUR);
  if (at >= 0 && now.is_open()) {
    auto first = static_cast<uint64_t>(at);
    const uint64_t size = file->size();
    const bool behind = how == use::appends && size != 0 && first >= size;
    if (behind) {
      first = size - 1;
      n = 1;
    }
    done_ = load(*file, first, n);
  }
  if (done_) errno = keep;
}

bool make_resident(int fd) noexcept {
  guarded_file* const file = with_pages(fd);
  if (file == nullptr) return true;
  file->keep_pages();
  const pages_stay here;  // pages that were being evicted are gone now
  const guarded_file::use now(*file, file->number());
  return !now.is_open() || load(*file, 0, ~uint64_t{0});
}

}  // namespace scute::core::interpose
