// SPDX-License-Identifier: BSD-3-Clause
// What makes whole files durable, and copies between files that the kernel cannot make of a view.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "interpose/descriptors.hpp"
#include "interpose/durability.hpp"
#include "interpose/guarded_file.hpp"
#include "interpose/next_calls.hpp"
#include "interpose/told_stores.hpp"

using namespace scute::core::interpose;

namespace {

opened_file* shielded(int fd) noexcept {
  return entry_of(fd) != nullptr ? opened_at(fd) : nullptr;
}

// copy_file_range() where the kernel says that the files are in different file systems, as the view is.
ssize_t copied_by_hand(int from, off_t* from_at, int to, off_t* to_at, size_t n) noexcept {
  constexpr size_t piece = size_t{1} << 20;
  std::vector<char> room;
  try {
    room.resize(std::min(n, piece));
  } catch (const std::exception&) {
    errno = ENOMEM;
    return -1;
  }
  const ssize_t got = from_at != nullptr ? ::pread(from, room.data(), room.size(), *from_at)
                                         : ::read(from, room.data(), room.size());
  if (got <= 0) return got;
  const auto have = static_cast<size_t>(got);
  const known_store now(to, to_at != nullptr ? *to_at : -1, have);
  const ssize_t put = to_at != nullptr ? next::pwrite(to, room.data(), have, *to_at)
                                       : next::write(to, room.data(), have);
  const ssize_t done = put < 0 ? 0 : put;
  if (from_at != nullptr)
    *from_at += done;
  else if (done < got)
    ::lseek(from, done - got, SEEK_CUR);
  if (to_at != nullptr) *to_at += done;
  return put;
}

}  // namespace

SCUTE_INTERPOSED(int, fsync, (int fd)) {
  opened_file* const o = shielded(fd);
  return o != nullptr ? sync_file(*o->file) : next::fsync(fd);
}
SCUTE_INTERPOSED(int, fdatasync, (int fd)) {
  opened_file* const o = shielded(fd);
  return o != nullptr ? sync_file(*o->file) : next::fdatasync(fd);
}
SCUTE_INTERPOSED(int, sync_file_range, (int fd, off_t offset, off_t n, unsigned flags)) {
  opened_file* const o = shielded(fd);
  return o != nullptr ? sync_file(*o->file) : next::sync_file_range(fd, offset, n, flags);
}
SCUTE_INTERPOSED_ALIAS(int, sync_file_range64, sync_file_range,
                       (int fd, off_t offset, off_t n, unsigned flags));
SCUTE_INTERPOSED(int, syncfs, (int fd)) {
  opened_file* const o = shielded(fd);
  if (o != nullptr && sync_file(*o->file) != 0) return -1;
  return next::syncfs(o != nullptr ? o->real : fd);
}
SCUTE_INTERPOSED(void, sync, ()) {
  for (guarded_file* f = guarded_file::first(); f != nullptr; f = f->next()) {
    if (f->is_open()) sync_file(*f);
  }
  next::sync();
}

SCUTE_INTERPOSED(ssize_t, copy_file_range,
                 (int from, off_t* from_at, int to, off_t* to_at, size_t n, unsigned flags)) {
  ssize_t result = 0;
  {
    const known_store now(to, to_at != nullptr ? *to_at : -1, n);
    result = next::copy_file_range(from, from_at, to, to_at, n, flags);
  }
  if (result >= 0 || errno != EXDEV || n == 0 ||
      (shielded(from) == nullptr && shielded(to) == nullptr))
    return result;
  return copied_by_hand(from, from_at, to, to_at, n);
}
