// SPDX-License-Identifier: BSD-3-Clause
#include "shield/sidecar/foreign_file.hpp"

#include <cstring>

#include "base/failure.hpp"
#include "base/locks/lock.hpp"
#include "core/layout/foreign.hpp"
#include "core/tx/object_lock_guard.hpp"
#include "core/tx/replacer.hpp"
#include "core/tx/verify.hpp"

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

void foreign_file::require_no_transaction() const {
  if (this_thread().current != nullptr)
    throw failure(SCUTE_E_INVALID,
                  "a change of " + path() + " inside a transaction; end that one first");
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

// fn(t) commits t, or throws before it does.
template <typename Fn>
void foreign_file::transact(Fn&& fn) {
  tx::transaction& t = in_.acquire();
  t.depth = 1;
  try {
    t.begin();
    fn(t);
  } catch (...) {
    if (t.depth != 0) t.abort();
    in_.release(t);
    throw;
  }
  in_.release(t);
}

void foreign_file::write(tx::transaction& t, uint64_t offset, const std::byte* from,
                         uint64_t n) const {
  while (n != 0) {
    const place p = locate(offset);
    const uint64_t some = std::min(n, p.length);
    std::memcpy(t.add_range(p.oid, p.offset, some), from, some);
    offset += some;
    from += some;
    n -= some;
  }
}

template <typename Range>
void foreign_file::commit_ranges(tx::transaction& t, std::span<const Range> changes) const {
  for (const Range& c : changes) {
    write(t, c.offset, static_cast<const std::byte*>(c.bytes), c.length);
  }
  t.commit();
}

void foreign_file::commit(std::span<const change> changes) {
  require_no_transaction();
  const locked hold(in_.user_file_mutex);
  for (const change& c : changes) require_range(c.offset, c.length);
  transact([&](tx::transaction& t) { commit_ranges(t, changes); });
}

void foreign_file::replace(std::span<const scute_shield_replacement> changes) {
  require_no_transaction();
  const locked hold(in_.user_file_mutex);
  uint64_t end = 0;
  for (const scute_shield_replacement& c : changes) {
    require_range(c.offset, c.length);
    if (c.offset < end)
      throw failure(SCUTE_E_INVALID,
                    "replacements out of order, or one over the other, in " + path());
    end = c.offset + c.length;
  }
  transact([&](tx::transaction& t) {
    in_.user_file_mutex.assume_held();
    if (try_replace(t, changes)) return;
    commit_ranges(t, changes);
  });
}

// SLICE-3. Returns false, with nothing done, if the changes have to be made like any others.
bool foreign_file::try_replace(tx::transaction& t,
                               std::span<const scute_shield_replacement> changes) {
  const pool::foreign_layout& f = *in_.s.foreign;
  if (in_.replacing == nullptr) try {
      in_.replacing = std::make_unique<tx::replacer>(
          in_.s, (capacity() + format::fragment_payload - 1) / format::fragment_payload);
    } catch (const std::bad_alloc&) {
      return false;
    }
  tx::replacer& r = *in_.replacing;
  tx::object_lock_guard mine(in_.s, t.lane());
  r.begin();
  heap::object o;
  uint64_t zone = UINT64_MAX;
  for (const scute_shield_replacement& c : changes)
    for (uint64_t done = 0; done < c.length;) {
      const uint64_t at = c.offset + done, z = at / f.share;
      if (z != zone) {
        zone = z;
        o = in_.heap->zones().locate(f.payload_offset(in_.s.geo, z));
        mine.add(o.payload);
      }
      const uint64_t n = std::min(c.length - done, (z + 1) * f.share - at);
      r.put(o, z * f.share / format::fragment_payload, at % f.share,
            static_cast<const std::byte*>(c.bytes) + done,
            static_cast<const std::byte*>(c.old) + done, n);
      done += n;
    }
  mine.take();
  if (!r.prepare(t.lane())) return false;
  t.commit(r.result());
  r.committed();
  return true;
}

void foreign_file::grow(uint64_t size) {
  if (this_thread().current != nullptr)
    throw failure(SCUTE_E_INVALID, path() + " grows inside a transaction; end that one first");
  const locked hold(in_.user_file_mutex);
  in_.grow_user_file(size);
}

void foreign_file::reserve(uint64_t size) {
  const locked hold(in_.user_file_mutex);
  in_.reserve_user_file(size);
}

}  // namespace scute::core::shield
