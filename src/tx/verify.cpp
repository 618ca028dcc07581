// SPDX-License-Identifier: BSD-3-Clause
#include "tx/verify.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "medium/planted.hpp"
#include "pool/library_call.hpp"
#include "pool/resolver.hpp"

namespace scute::tx {
namespace {

void repair(pool::state& s, pool::lane* l, const pool::fragment& f) {
  if (s.healer == nullptr)
    throw failure(SCUTE_E_CORRUPT, "an object is damaged and nothing can repair it");
  s.healer->repair(l, f, "object");
}

// After a crash of a log-free pool: what is valid may be of a transaction that was not decided.
void settle(const pool::state& s, const pool::fragment& f) {
  if (s.resolving != nullptr && s.resolving->pending()) [[unlikely]]
    s.resolving->before_read(f);
}

void count_verified(pool::state& s, pool::lane* l, uint64_t n) {
  if (l != nullptr)
    l->w.count.verified_bytes.add(n);
  else
    s.verified_outside.fetch_add(n, std::memory_order_relaxed);
}

}  // namespace

uint64_t payload_of(const pool::state& s, uint64_t oid) {
  if (oid == 0) throw failure(SCUTE_E_OID, "the oid is null");
  if ((oid & 0xffff'0000'0000'0000u) != s.oid_tag)
    throw failure(SCUTE_E_OID,
                  "the oid belongs to another pool than " + s.path + " (or is no oid at all)");
  return oid & 0x0000'ffff'ffff'ffffu;
}

format::fragment_header live_header(pool::state& s, pool::lane* l, const heap::object& o) {
  const pool::fragment f = o.fragment(0);
  settle(s, f);
  if (!pool::valid(s, f)) repair(s, l, f);
  format::fragment_header h;
  std::memcpy(&h, s.at(f.header), sizeof h);
  if (format::meta_state(h.meta) != format::state::live)
    throw failure(SCUTE_E_FREED,
                  "the object at oid offset " + std::to_string(o.payload) + " has been freed");
  count_verified(s, l, pool::covered(s, f, h));
  return h;
}

format::fragment_header live_header_unverified(pool::state& s, pool::lane* l,
                                               const heap::object& o) {
  const pool::fragment f = o.fragment(0);
  settle(s, f);
  format::fragment_header h;
  std::memcpy(&h, s.at(f.header), sizeof h);
  const uint32_t n = pool::covered(s, f, h);
  if (n == pool::not_covered || n == 0 || format::meta_state(h.meta) != format::state::live)
    return live_header(s, l, o);
  return h;
}

void copy_verified(pool::state& s, pool::lane* l, const heap::object& o, uint64_t size,
                   uint64_t from, uint64_t to, std::byte* out) {
  for (uint64_t i = from / format::fragment_payload; i * format::fragment_payload < to; ++i)
    settle(s, o.fragment(i));
  for (int attempt = 0;; ++attempt) {
    const uint64_t losses = pool::losses_of_this_thread;
    std::memcpy(out, s.at(o.payload + from), to - from);
    if (pool::losses_of_this_thread != losses)
      throw failure(SCUTE_E_CORRUPT, s.path + ": a page of the object at oid offset " +
                                         std::to_string(o.payload) +
                                         " is lost, with another one of its column");
    bool sound = true;
    for (uint64_t i = from / format::fragment_payload;
         s.has_checksums && i * format::fragment_payload < to; ++i) {
      const pool::fragment f = o.fragment(i);
      if (!(i == 0 ? SCUTE_PLANTED(verify_open) : SCUTE_PLANTED(verify_parts)) &&
          !pool::valid(s, f)) {
        repair(s, l, f);
        sound = false;
      }
      count_verified(s, l, std::min(format::fragment_payload, size - i * format::fragment_payload));
    }
    if (sound) return;
    if (attempt == 1000)
      throw failure(SCUTE_E_CORRUPT,
                    s.path + ": the object at oid offset " + std::to_string(o.payload) +
                        " changes while it is read; another thread must not write it meanwhile");
  }
}

void verify_object(pool::state& s, pool::lane* l, const heap::object& o, uint64_t size) {
  if (!s.has_checksums) return;
  for (uint64_t i = 1; i * format::fragment_payload < size; ++i) {
    const pool::fragment f = o.fragment(i);
    settle(s, f);
    if (!pool::valid(s, f)) repair(s, l, f);
    count_verified(s, l, std::min(format::fragment_payload, size - i * format::fragment_payload));
  }
}

void hand_out(pool::state& s, pool::lane* l, const heap::object& o, uint64_t size, uint64_t from,
              uint64_t to, bool first_known) {
  if (from >= to) return;
  if (s.resolving != nullptr && s.resolving->pending()) [[unlikely]] {
    // Torn fragments as well: under no policy does a program get half of a transaction.
    for (uint64_t i = from / format::fragment_payload; i * format::fragment_payload < to; ++i) {
      const pool::fragment f = o.fragment(i);
      s.resolving->before_read(f);
      if (!pool::valid(s, f)) repair(s, l, f);
    }
  }
  if (s.policy != SCUTE_POLICY_CONSERVATIVE) {
    // A fragment is known or unknown as a whole, but what was not asked for is not built upon.
    const uint64_t known = first_known && s.has_checksums ? format::fragment_payload : 0;
    if (to > known) s.account.add(to - std::max(from, known));
    return;
  }
  if (!s.has_checksums) return;
  if (!first_known && from < format::fragment_payload) live_header(s, l, o);
  for (uint64_t i = std::max<uint64_t>(1, from / format::fragment_payload);
       i * format::fragment_payload < to; ++i) {
    const pool::fragment f = o.fragment(i);
    if (!pool::valid(s, f)) repair(s, l, f);
    count_verified(s, l, std::min(format::fragment_payload, size - i * format::fragment_payload));
  }
}

}  // namespace scute::tx
