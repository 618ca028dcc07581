// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/pages_at_hand.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/planted.hpp"
#include "interpose/complaint.hpp"
#include "interpose/critical.hpp"
#include "interpose/descriptors.hpp"
#include "interpose/guarded_file.hpp"
#include "interpose/view_faults.hpp"

namespace scute::core::interpose {
namespace {

opened_file* with_pages(int fd) noexcept {
  opened_file* const o = entry_of(fd) != nullptr ? opened_at(fd) : nullptr;
  return o != nullptr && o->file->is_open() && o->file->pages_come() ? o : nullptr;
}

bool load(guarded_file& file, uint64_t at, uint64_t n) noexcept {
  if (file.view().is_loaded(at, n)) return true;
  int result = 0;
  {
    const critical now;
    result = guarded(file.path(), [&] { file.load(at, n); });
  }
  if (pages_go()) view_faults()->kick();
  if (result != 0) errno = EIO;
  return result == 0;
}

}  // namespace

pages_at_hand::pages_at_hand(int fd, off_t at, size_t n) noexcept {
  opened_file* const o = n != 0 ? with_pages(fd) : nullptr;
  if (o == nullptr || SCUTE_PLANTED(page_by_descriptor)) return;
  const int keep = errno;
  stay_.emplace();
  if (at < 0) at = ::lseek(fd, 0, SEEK_CUR);
  // Who appends writes to the last page, whatever his position is.
  const uint64_t size = o->file->size();
  if ((o->flags & O_APPEND) != 0 && size != 0) done_ = load(*o->file, size - 1, 1);
  if (at >= 0) done_ = load(*o->file, static_cast<uint64_t>(at), n) && done_;
  if (done_) errno = keep;
}

bool all_at_hand(int fd) noexcept {
  opened_file* const o = with_pages(fd);
  if (o == nullptr) return true;
  o->file->keep_pages();
  const pages_stay here;  // what goes has gone
  return load(*o->file, 0, ~uint64_t{0});
}

}  // namespace scute::core::interpose
