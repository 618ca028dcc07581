// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/pool/guard.hpp"

using namespace scute::core;

namespace {

scute_tx* handle(tx::transaction* t) noexcept {
  return reinterpret_cast<scute_tx*>(t);
}

// Ends the thread's transaction, whatever its outcome.
void leave(thread_state& me) noexcept {
  const medium::cost_scope as(medium::cost_part::end);
  instance* in = me.pool;
  tx::transaction* t = me.current;
  me.pool = nullptr;
  me.current = nullptr;
  in->release(*t);
}

}  // namespace

extern "C" {

int scute_tx_begin(scute_pool* pool, scute_tx** out) {
  return c_api::guarded(pool, [&] {
    instance& in = c_api::need(pool);
    scute_tx*& result = c_api::need_out(out, "tx");
    thread_state& me = known_thread();
    me.refresh();
    if (me.current != nullptr) {
      if (me.pool != &in)
        throw failure(SCUTE_E_INVALID, "this thread runs a transaction on another pool (" +
                                           me.pool->s.path + "); end that one first");
      ++me.current->depth;
      result = handle(me.current);
      return;
    }
    const medium::cost_scope as(medium::cost_part::begin);
    tx::transaction& t = in.acquire();
    t.begin();
    t.depth = 1;
    me.pool = &in;
    me.life = in.life;
    me.serial = in.serial;
    me.current = &t;
    result = handle(&t);
  });
}

int scute_tx_commit(scute_tx* tx) {
  return c_api::guarded(tx, [&] {
    tx::transaction& t = c_api::need(tx);
    if (t.depth > 1) {
      --t.depth;
      return;
    }
    thread_state& me = known_thread();
    try {
      t.commit();
    } catch (...) {
      leave(me);
      throw;
    }
    leave(me);
  });
}

int scute_tx_abort(scute_tx* tx) {
  return c_api::guarded(tx, [&] {
    tx::transaction& t = c_api::need(tx);
    if (t.depth > 1) {
      --t.depth;
      t.doomed = true;
      return;
    }
    t.abort();
    leave(known_thread());
  });
}

scute_tx* scute_tx_current(scute_pool* pool) {
  thread_state& me = this_thread();
  me.refresh();
  if (c_api::inherited(pool)) return nullptr;
  return pool != nullptr && me.pool == pool->in.get() ? handle(me.current) : nullptr;
}

int scute_tx_alloc(scute_tx* tx, uint64_t size, uint32_t type, scute_oid* oid, void** bytes) {
  return c_api::guarded(tx, [&] {
    tx::transaction& t = c_api::need(tx);
    scute_oid& result = c_api::need_out(oid, "oid");
    if (known_thread().pool->s.read_only)
      throw failure(SCUTE_E_READONLY, known_thread().pool->s.path + " was opened read-only");
    result = t.alloc(size, type, bytes);
  });
}

uint64_t scute_alloc_max(scute_pool* pool) {
  if (c_api::inherited(pool)) {
    c_api::refuse_inherited();
    return 0;
  }
  return pool == nullptr ? 0 : pool->in->heap->size_max();
}

int scute_overwrite_max(scute_pool* pool, uint64_t* bytes) {
  return c_api::guarded(pool, [&] {
    instance& in = c_api::need(pool);
    c_api::need_out(bytes, "bytes") = in.heap->overwrite_max();
  });
}

int scute_tx_free(scute_tx* tx, scute_oid oid) {
  return c_api::guarded(tx, [&] { c_api::need(tx).free(oid); });
}

int scute_tx_open(scute_tx* tx, scute_oid oid, void** bytes) {
  return c_api::guarded(tx, [&] {
    tx::transaction& t = c_api::need(tx);
    c_api::need_out(bytes, "bytes") = t.open(oid);
  });
}

int scute_tx_prefetch(scute_tx* tx, const scute_oid* oids, size_t n) {
  return c_api::guarded(tx, [&] {
    const tx::transaction& t = c_api::need(tx);
    if (n != 0) c_api::need_out(oids, "oids");
    for (size_t i = 0; i < n; ++i) t.prefetch(oids[i]);
  });
}

int scute_tx_add_range(scute_tx* tx, scute_oid oid, uint64_t offset, uint64_t length,
                       void** bytes) {
  return c_api::guarded(tx, [&] {
    tx::transaction& t = c_api::need(tx);
    void* at = t.add_range(oid, offset, length);
    c_api::need_out(bytes, "bytes") = at;
  });
}

int scute_tx_inplace(scute_tx* tx, scute_oid oid, uint64_t offset, uint64_t length, void** bytes) {
  return c_api::guarded(tx, [&] {
    tx::transaction& t = c_api::need(tx);
    c_api::need_out(bytes, "bytes");
    if (known_thread().pool->s.read_only)
      throw failure(SCUTE_E_READONLY, known_thread().pool->s.path + " was opened read-only");
    *bytes = t.in_place(oid, offset, length);
  });
}

const scute_tx_reads* scute_tx_reading(const scute_tx* tx) {
  static constexpr scute_tx_reads none{0, UINT64_MAX};
  return tx == nullptr || c_api::inherited(tx)
             ? &none
             : &reinterpret_cast<const tx::transaction*>(tx)->reads;
}

int scute_tx_get(scute_tx* tx, scute_oid oid, const void** bytes) {
  return c_api::guarded(tx, [&] {
    tx::transaction& t = c_api::need(tx);
    c_api::need_out(bytes, "bytes") = t.get(oid);
  });
}

int scute_tx_get_range(scute_tx* tx, scute_oid oid, uint64_t offset, uint64_t length,
                       const void** bytes) {
  return c_api::guarded(tx, [&] {
    tx::transaction& t = c_api::need(tx);
    c_api::need_out(bytes, "bytes") = t.get_range(oid, offset, length);
  });
}

}  // extern "C"
