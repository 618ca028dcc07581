// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include "base/rounding.hpp"
#include "c_api/pool/guard.hpp"
#include "core/tx/canary.hpp"
#include "core/tx/verify.hpp"

using namespace scute::core;

namespace {

// The control block before a buffer of scute_obj_open(): which object it is, and its old contents.
struct object_buffer {
  uint64_t magic;
  instance* in;  // invalid once `life` says so
  const pool_life* life;
  uint64_t serial;  // of the pool
  uint64_t oid;
  uint64_t size;
  uint64_t version;     // tag of the first header, when opened
  std::byte* original;  // the bytes when opened, to find what the user has changed
};
constexpr uint64_t buffer_magic = 0x5343555445424646u;
// Control block and front canary; the payload keeps 64-byte alignment.
constexpr size_t lead = 128;
static_assert(sizeof(object_buffer) + tx::canary_size <= lead);

object_buffer* control(void* bytes) {
  if (bytes == nullptr) throw failure(SCUTE_E_INVALID, "the buffer is null");
  auto* c = reinterpret_cast<object_buffer*>(static_cast<std::byte*>(bytes) - lead);
  if (c->magic != buffer_magic)
    throw failure(SCUTE_E_INVALID, "the pointer is no buffer of scute_obj_open(), or was released");
  return c;
}

void release(object_buffer* c) noexcept {
  auto* at = reinterpret_cast<std::byte*>(c);
  tx::unpoison(at, lead + 2 * c->size + tx::canary_size);
  c->magic = 0;
  std::free(c);
}

struct releaser {
  void operator()(object_buffer* c) const noexcept { release(c); }
};

// Does what is needed, besides computing an address, before [offset, offset + length) of an object
// is handed out. length: at most to_end, which stands for the whole object.
constexpr uint64_t to_end = UINT64_MAX;
void check_on_read(instance& in, uint64_t payload, uint64_t offset, uint64_t length) {
  pool::state& s = in.s;
  heap::object o;
  const auto hand_out = [&](uint64_t size, tx::first_fragment is) {
    const uint64_t room = size - std::min(offset, size);
    tx::hand_out(s, nullptr, o, size, offset, offset + std::min(length, room), is);
  };
  if (s.policy == SCUTE_POLICY_CONSERVATIVE) {
    o = in.heap->zones().locate(payload);
    // The object must be live, even if its first fragment is not in the range.
    tx::with_size(s, nullptr, o, tx::first_of_read(s, offset), [&](uint64_t size) {
      if (length != to_end && (offset > size || length > size - offset))
        throw failure(SCUTE_E_RANGE, "the range [" + std::to_string(offset) + ", " +
                                         std::to_string(offset) + " + " + std::to_string(length) +
                                         ") reaches beyond the object's " + std::to_string(size) +
                                         " bytes");
      hand_out(size, tx::first_fragment::known);
    });
    return;
  }
  try {
    o = in.heap->zones().locate(payload);
  } catch (const failure&) {
    return;  // the account does not restrict what a program may read
  }
  format::fragment_header h;
  std::memcpy(&h, s.at(o.header), sizeof h);
  if (pool::covered(s, o.fragment(0), h) == pool::not_covered) return;
  hand_out(format::meta_size(h.meta), tx::first_fragment::unknown);
}

// The rare part of scute_get(), kept out of its fast path.
[[gnu::noinline]] const void* get_checked(scute_pool* pool, uint64_t payload) noexcept {
  instance& in = *pool->in;
  const int e = c_api::guarded(pool, [&] { check_on_read(in, payload, 0, to_end); });
  return e == SCUTE_OK ? in.s.at(payload) : nullptr;
}
[[gnu::cold, gnu::noinline]] void refuse_oid(const instance& in, uint64_t oid) noexcept {
  c_api::guarded([&] {
    tx::payload_of(in.s, oid);
    throw failure(SCUTE_E_OID, "the oid points outside the pool " + in.s.path);
  });
}

void describe_committed(instance& in, uint64_t oid, uint64_t* size, uint64_t* usable,
                        uint32_t* type) {
  const heap::object o = in.heap->zones().locate(tx::payload_of(in.s, oid));
  const auto h = tx::live_header(in.s, nullptr, o);
  if (size != nullptr) *size = format::meta_size(h.meta);
  if (usable != nullptr) *usable = o.room;
  if (type != nullptr) *type = h.type;
}

}  // namespace

extern "C" {

const void* scute_get(scute_pool* pool, scute_oid oid) {
  if (pool == nullptr) {
    c_api::fail(SCUTE_E_INVALID, "the pool handle is null");
    return nullptr;
  }
  instance& in = *pool->in;
  if (in.inherited()) [[unlikely]] {
    c_api::refuse_inherited();
    return nullptr;
  }
  const uint64_t offset = oid & 0x0000'ffff'ffff'ffffu;
  if ((oid ^ in.s.oid_tag) >> 48 != 0 || offset < in.s.geo.zones_offset ||
      offset >= in.s.geo.zones_end()) {
    refuse_oid(in, oid);
    return nullptr;
  }
  const thread_state& me = this_thread();
  if (me.current != nullptr && me.pool == &in)
    if (const void* own = me.current->peek(oid)) return own;
  if (in.s.verify_on_read) [[unlikely]]
    return get_checked(pool, offset);
  return in.s.at(offset);
}

int scute_get_committed(scute_pool* pool, scute_oid oid, uint64_t offset, uint64_t length,
                        const void** bytes) {
  return c_api::guarded(pool, [&] {
    instance& in = c_api::need(pool);
    const void*& result = c_api::need_out(bytes, "bytes");
    const uint64_t payload = tx::payload_of(in.s, oid);
    const uint64_t end = in.s.geo.zones_end();
    if (payload < in.s.geo.zones_offset || payload >= end)
      throw failure(SCUTE_E_OID, "the oid points outside the pool " + in.s.path);
    if (length > end - payload || offset > end - payload - length)
      throw failure(SCUTE_E_RANGE, "the range reaches beyond the pool " + in.s.path);
    if (in.s.verify_on_read) check_on_read(in, payload, offset, length);
    result = in.s.at(payload + offset);
  });
}

int scute_get_verified(scute_pool* pool, scute_oid oid, const void** bytes) {
  return c_api::guarded(pool, [&] {
    instance& in = c_api::need(pool);
    const void*& result = c_api::need_out(bytes, "bytes");
    const uint64_t payload = tx::payload_of(in.s, oid);
    const heap::object o = in.heap->zones().locate(payload);
    const auto h = tx::live_header(in.s, nullptr, o);
    tx::verify_object(in.s, nullptr, o, format::meta_size(h.meta));
    result = in.s.at(payload);
  });
}

uintptr_t scute_direct_base(scute_pool* pool) {
  if (pool == nullptr) return 0;
  if (c_api::inherited(pool)) {
    c_api::refuse_inherited();
    return 0;
  }
  return reinterpret_cast<uintptr_t>(pool->in->s.medium->base()) - pool->in->s.oid_tag;
}

int scute_object_info(scute_pool* pool, scute_oid oid, uint64_t* size, uint64_t* usable,
                      uint32_t* type) {
  return c_api::guarded(pool, [&] {
    instance& in = c_api::need(pool);
    thread_state& me = this_thread();
    me.refresh();
    if (me.current != nullptr && me.pool == &in && me.current->describe(oid, size, usable, type))
      return;
    describe_committed(in, oid, size, usable, type);
  });
}

int scute_committed_info(scute_pool* pool, scute_oid oid, uint64_t* size, uint64_t* usable,
                         uint32_t* type) {
  return c_api::guarded(pool,
                        [&] { describe_committed(c_api::need(pool), oid, size, usable, type); });
}

int scute_obj_open(scute_pool* pool, scute_oid oid, void** bytes) {
  return c_api::guarded(pool, [&] {
    instance& in = c_api::need(pool);
    void*& result = c_api::need_out(bytes, "bytes");
    const heap::object o = in.heap->zones().locate(tx::payload_of(in.s, oid));
    constexpr int attempts_max = 1000;
    for (int attempt = 0;; ++attempt) {
      const auto h = tx::live_header(in.s, nullptr, o);
      const uint64_t size = format::meta_size(h.meta);
      auto* at = static_cast<std::byte*>(
          std::aligned_alloc(64, round_up(lead + 2 * size + tx::canary_size, 64)));
      if (at == nullptr) throw std::bad_alloc();
      auto* c =
          new (at) object_buffer{buffer_magic, &in, in.life, in.serial, oid, size, h.tag, nullptr};
      std::unique_ptr<object_buffer, releaser> owner(c);
      std::byte* user = at + lead;
      c->original = user + size + tx::canary_size;
      tx::origins seen;
      tx::copy_verified(in.s, nullptr, o, size, 0, size, c->original, &seen);
      if (in.s.has_checksums && seen.of(0) != h.tag && attempt != attempts_max) continue;
      std::memcpy(user, c->original, size);
      tx::plant_canary(user - tx::canary_size, tx::canary_size);
      tx::plant_canary(user + size, tx::canary_size);
      static_cast<void>(owner.release());  // the program owns it now
      result = user;
      return;
    }
  });
}

int scute_obj_commit(void* bytes) {
  instance* where = nullptr;
  const int result = c_api::guarded([&] {
    const std::unique_ptr<object_buffer, releaser> c(control(bytes));
    if (!c->life->is_open(c->serial))
      throw failure(SCUTE_E_INVALID,
                    "the pool of the buffer was closed; the changes in the buffer are lost");
    if (c->in->inherited()) throw failure(SCUTE_E_FORKED, c_api::inherited_message);
    instance& in = *(where = c->in);
    c_api::admit_faults(in.s);
    if (!tx::canary_intact(static_cast<std::byte*>(bytes) - tx::canary_size, tx::canary_size) ||
        !tx::canary_intact(static_cast<std::byte*>(bytes) + c->size, tx::canary_size))
      throw failure(SCUTE_E_CANARY,
                    "a write ran past the buffer of scute_obj_open(); nothing was "
                    "written to the pool");
    this_thread().refresh();
    if (this_thread().current != nullptr)
      throw failure(SCUTE_E_INVALID,
                    "scute_obj_commit() inside a transaction; use "
                    "scute_tx_open() there");
    tx::transaction& t = in.acquire();
    t.begin();
    try {
      void* now = t.open(c->oid);  // E_FREED if it was freed
      const uint64_t offset = c->oid & 0x0000'ffff'ffff'ffffu;
      // The transaction has verified these bytes; those in the pool may be damaged by now.
      if (t.version(c->oid) != c->version || std::memcmp(now, c->original, c->size) != 0)
        throw failure(SCUTE_E_CONFLICT, "the object at oid offset " + std::to_string(offset) +
                                            " changed since it was opened; open it again and redo "
                                            "the change");
      // From here on the commit itself ensures that no other thread changes the object.
      t.expect(c->oid, c->original);
      std::memcpy(now, bytes, c->size);
    } catch (...) {
      t.abort();
      in.release(t);
      throw;
    }
    try {
      t.commit();
    } catch (...) {
      in.release(t);
      throw;
    }
    in.release(t);
  });
  if (where != nullptr) c_api::notify_events(where->s);
  return result;
}

void scute_obj_discard(void* bytes) {
  if (bytes == nullptr) return;
  c_api::guarded([&] { release(control(bytes)); });
}

}  // extern "C"
