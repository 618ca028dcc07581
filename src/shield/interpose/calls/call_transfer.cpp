// SPDX-License-Identifier: BSD-3-Clause
// Reads of descriptors, and copies between them: the pages of a view are loaded before (PAGEIN-3),
// and copies that the kernel cannot make from a view are made here.
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "shield/interpose/calls/call_arguments.hpp"
#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/descriptors/descriptors.hpp"
#include "shield/interpose/descriptors/guarded_file.hpp"
#include "shield/interpose/memory/page_out.hpp"
#include "shield/interpose/memory/resident_pages.hpp"
#include "shield/interpose/stores/reported_stores.hpp"
#include "shield/interpose/stores/store_guard.hpp"

using namespace scute::core::interpose;

namespace {

bool is_shielded(int fd) noexcept {
  return entry_of(fd) != nullptr && opened_at(fd) != nullptr;
}

// The number of bytes, if the descriptor may need pages.
size_t wanted(int fd, const struct iovec* to, int count) noexcept {
  return entry_of(fd) != nullptr ? length_of(to, count) : 0;
}
off_t position(int fd, const off_t* at) noexcept {
  return entry_of(fd) != nullptr ? offset_at(at) : -1;
}

// Repeats the call if the page that it stores to was held meanwhile. The call has reported the
// bytes that it had read by then, so none is read twice. (A thread may be cancelled in it, which
// unwinds.)
template <class F>
ssize_t read_into(const void* to, size_t n, F&& call) {
  constexpr unsigned tries = 100;
  const pages_stay here(to, n);
  ssize_t result = call();
  for (unsigned i = 0; i < tries && result < 0 && may_have_been_held(to, n); ++i) result = call();
  return result;
}

// Does the work of copy_file_range() if the kernel says that the files are in different file
// systems, which the view is.
ssize_t copied_by_hand(int from, off_t* from_at, int to, off_t* to_at, size_t n) {
  constexpr size_t piece = size_t{1} << 20;
  std::vector<char> room;
  try {
    room.resize(std::min(n, piece));
  } catch (const std::exception&) {
    errno = ENOMEM;
    return -1;
  }
  const ssize_t got = from_at != nullptr ? next::pread(from, room.data(), room.size(), *from_at)
                                         : next::read(from, room.data(), room.size());
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

SCUTE_INTERPOSED(ssize_t, read, (int fd, void* to, size_t n)) {
  const resident_pages here(fd, -1, n);
  return here ? read_into(to, n, [&] { return next::read(fd, to, n); }) : -1;
}
SCUTE_INTERPOSED(ssize_t, pread, (int fd, void* to, size_t n, off_t at)) {
  const resident_pages here(fd, std::max<off_t>(at, 0), n);
  return here ? read_into(to, n, [&] { return next::pread(fd, to, n, at); }) : -1;
}
SCUTE_INTERPOSED_ALIAS(ssize_t, pread64, pread, (int fd, void* to, size_t n, off_t at));
SCUTE_INTERPOSED_ALIAS(ssize_t, __pread64, pread, (int fd, void* to, size_t n, off_t at));
SCUTE_INTERPOSED_ALIAS(ssize_t, __read, read, (int fd, void* to, size_t n));
SCUTE_INTERPOSED(ssize_t, readv, (int fd, const struct iovec* to, int count)) {
  const resident_pages here(fd, -1, wanted(fd, to, count));
  const memory_range parts = pages_go() ? range_of(to, count) : memory_range{};
  const pages_stay into(parts.begin, parts.size);
  return here ? next::readv(fd, to, count) : -1;
}
SCUTE_INTERPOSED(ssize_t, preadv, (int fd, const struct iovec* to, int count, off_t at)) {
  const resident_pages here(fd, std::max<off_t>(at, 0), wanted(fd, to, count));
  const memory_range parts = pages_go() ? range_of(to, count) : memory_range{};
  const pages_stay into(parts.begin, parts.size);
  return here ? next::preadv(fd, to, count, at) : -1;
}
SCUTE_INTERPOSED_ALIAS(ssize_t, preadv64, preadv,
                       (int fd, const struct iovec* to, int count, off_t at));
SCUTE_INTERPOSED(ssize_t, preadv2,
                 (int fd, const struct iovec* to, int count, off_t at, int flags)) {
  const resident_pages here(fd, at, wanted(fd, to, count));
  const memory_range parts = pages_go() ? range_of(to, count) : memory_range{};
  const pages_stay into(parts.begin, parts.size);
  return here ? next::preadv2(fd, to, count, at, flags) : -1;
}
SCUTE_INTERPOSED_ALIAS(ssize_t, preadv64v2, preadv2,
                       (int fd, const struct iovec* to, int count, off_t at, int flags));

// The calls that _FORTIFY_SOURCE makes of them, whether or not the buffer is known to be large
// enough.
SCUTE_INTERPOSED(ssize_t, __read_chk, (int fd, void* to, size_t n, size_t room)) {
  const resident_pages here(fd, -1, n);
  return here ? read_into(to, n, [&] { return next::read_chk(fd, to, n, room); }) : -1;
}
SCUTE_INTERPOSED(ssize_t, __pread_chk, (int fd, void* to, size_t n, off_t at, size_t room)) {
  const resident_pages here(fd, std::max<off_t>(at, 0), n);
  return here ? read_into(to, n, [&] { return next::pread_chk(fd, to, n, at, room); }) : -1;
}
SCUTE_INTERPOSED_ALIAS(ssize_t, __pread64_chk, __pread_chk,
                       (int fd, void* to, size_t n, off_t at, size_t room));

SCUTE_INTERPOSED(ssize_t, sendfile, (int to, int from, off_t* at, size_t n)) {
  const resident_pages source(from, position(from, at), n);
  const resident_pages target(to, -1, n, resident_pages::use::appends);
  return source && target ? next::sendfile(to, from, at, n) : -1;
}
SCUTE_INTERPOSED_ALIAS(ssize_t, sendfile64, sendfile, (int to, int from, off_t* at, size_t n));
SCUTE_INTERPOSED(ssize_t, splice,
                 (int from, off_t* from_at, int to, off_t* to_at, size_t n, unsigned flags)) {
  const resident_pages source(from, position(from, from_at), n);
  const resident_pages target(to, position(to, to_at), n, resident_pages::use::appends);
  return source && target ? next::splice(from, from_at, to, to_at, n, flags) : -1;
}

SCUTE_INTERPOSED(ssize_t, copy_file_range,
                 (int from, off_t* from_at, int to, off_t* to_at, size_t n, unsigned flags)) {
  const resident_pages source(from, position(from, from_at), n);
  const resident_pages target(to, position(to, to_at), n, resident_pages::use::appends);
  if (!source || !target) return -1;
  ssize_t result = 0;
  {
    const known_store now(to, position(to, to_at), n);
    result = next::copy_file_range(from, from_at, to, to_at, n, flags);
  }
  if (result >= 0 || errno != EXDEV || (!is_shielded(from) && !is_shielded(to))) return result;
  if (n == 0) return 0;
  return copied_by_hand(from, from_at, to, to_at, n);
}
