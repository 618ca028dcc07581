// SPDX-License-Identifier: BSD-3-Clause
#include "shield/foreign_file.hpp"

#include <cstring>

#include "base/failure.hpp"
#include "base/lock.hpp"
#include "base/planted.hpp"
#include "pool/foreign.hpp"
#include "tx/verify.hpp"

namespace scute::core::shield {

foreign_file::foreign_file(instance& in) : in_(in) {
  if (!in.s.foreign)
    throw failure(SCUTE_E_INVALID, in.s.path + " is a pool of its own; it protects no other file");
}

uint64_t foreign_file::size() const noexcept {
  return std::atomic_ref(in_.s.sb.foreign.size).load(std::memory_order_acquire);
}

uint64_t foreign_file::capacity() const noexcept {
  return in_.s.foreign->capacity(in_.s.geo);
}

void foreign_file::require_range(uint64_t offset, uint64_t n) const {
  const uint64_t have = size();
  if (offset > have || n > have - offset)
    throw failure(SCUTE_E_RANGE, "the range [" + std::to_string(offset) + ", " +
                                     std::to_string(offset) + " + " + std::to_string(n) +
                                     ") reaches beyond the " + std::to_string(have) + " bytes of " +
                                     path());
}

foreign_file::place foreign_file::locate(uint64_t offset) const {
  require_range(offset, 1);
  const pool::foreign_layout& f = *in_.s.foreign;
  const uint64_t z = offset / f.share;
  return {in_.s.oid_of(f.payload_offset(in_.s.geo, z)), offset % f.share,
          f.covered(z, size()) - offset % f.share};
}

void foreign_file::read(uint64_t offset, void* to, uint64_t n) {
  require_range(offset, n);
  auto* out = static_cast<std::byte*>(to);
  while (n != 0) {
    const place p = locate(offset);
    const heap::object o = in_.heap->zones().locate(p.oid & ~in_.s.oid_tag);
    const uint64_t some = std::min(n, p.length);
    tx::copy_verified(in_.s, nullptr, o, p.offset + p.length, p.offset, p.offset + some, out);
    out += some;
    offset += some;
    n -= some;
  }
}

void foreign_file::commit(std::span<const change> changes) {
  if (this_thread().current != nullptr)
    throw failure(SCUTE_E_INVALID,
                  "a change of " + path() + " inside a transaction; end that one first");
  const locked hold(in_.user_file_mutex);
  for (const change& c : changes) require_range(c.offset, c.length);
  tx::transaction& t = in_.acquire();
  try {
    t.begin();
    for (const change& c : changes) {
      const auto* from = static_cast<const std::byte*>(c.bytes);
      for (uint64_t done = 0; done < c.length;) {
        const place p = locate(c.offset + done);
        const uint64_t some = std::min(c.length - done, p.length);
        std::memcpy(t.add_range(p.oid, p.offset, some), from + done, some);
        done += some;
      }
      if (SCUTE_PLANTED(slice_ranges) && &c != &changes.back()) {
        t.commit();
        t.begin();
      }
    }
    t.commit();
  } catch (...) {
    if (t.depth != 0) t.abort();
    in_.release(t);
    throw;
  }
  in_.release(t);
}

void foreign_file::grow(uint64_t size) {
  if (this_thread().current != nullptr)
    throw failure(SCUTE_E_INVALID, path() + " grows inside a transaction; end that one first");
  const locked hold(in_.user_file_mutex);
  in_.grow_user_file(size);
}

}  // namespace scute::core::shield
