// SPDX-License-Identifier: BSD-3-Clause
#include "hostile/fault_operations.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <utility>

namespace scute::test {
namespace {

// A transaction of C calls, aborted if one fails.
template <typename Fn>
int in_transaction(scute_pool* pool, Fn&& body) {
  scute_tx* tx = nullptr;
  if (const int e = scute_tx_begin(pool, &tx); e != SCUTE_OK) return e;
  if (const int e = body(tx); e != SCUTE_OK) {
    const int aborted = scute_tx_abort(tx);
    EXPECT_EQ(SCUTE_OK, aborted) << "an abort has no reason to fail";
    return e;
  }
  return scute_tx_commit(tx);
}

int write_whole(scute_tx* tx, scute_oid oid, int value, size_t n) {
  void* p = nullptr;
  const int e = scute_tx_open(tx, oid, &p);
  if (e == SCUTE_OK) std::memset(p, value, n);
  return e;
}
int write_in_place(scute_tx* tx, scute_oid oid, uint64_t at, uint64_t n) {
  void* p = nullptr;
  const int e = scute_tx_inplace(tx, oid, at, n, &p);
  if (e == SCUTE_OK) std::memset(p, 3, n);
  return e;
}
int make(scute_tx* tx, uint64_t n) {
  void* p = nullptr;
  scute_oid oid = 0;
  const int e = scute_tx_alloc(tx, n, fault_stage::plain, &oid, &p);
  if (e == SCUTE_OK) std::memset(p, 4, n);
  return e;
}

using object = fault_stage::object;
using enum fault_stage::object;

int inspect(attempt& a) {
  scute_info i{};
  i.struct_size = sizeof i;
  if (const int e = scute_pool_info(a.pool, &i); e != SCUTE_OK) return e;
  scute_counters c{};
  c.struct_size = sizeof c;
  if (const int e = scute_stats(a.pool, &c); e != SCUTE_OK) return e;
  scute_location l{};
  l.struct_size = sizeof l;
  for (uint64_t at = 0; at < fault_stage::pool_size; at += 10000)
    if (const int e = scute_locate(a.pool, at, &l); e != SCUTE_OK) return e;
  if (const int e = scute_visit_chunks(
          a.pool, [](void*, const scute_chunk_info*) { return 0; }, nullptr);
      e != SCUTE_OK)
    return e;
  scute_oid oid = 0;
  int e = scute_first(a.pool, SCUTE_TYPE_ANY, &oid);
  while (e == SCUTE_OK && oid != 0) {
    const void* q = nullptr;
    e = scute_get_verified(a.pool, oid, &q);
    if (e == SCUTE_OK) e = scute_next(a.pool, oid, SCUTE_TYPE_ANY, &oid);
  }
  return e;
}

int check(attempt& a, bool repair) {
  scute_report r{};
  r.struct_size = sizeof r;
  return scute_check(a.pool, repair ? 1 : 0, &r, nullptr, nullptr, nullptr);
}

int one_object(attempt& a, bool commit) {
  void* p = nullptr;
  if (const int e = scute_obj_open(a.pool, a.oid(two_pages), &p); e != SCUTE_OK) return e;
  static_cast<char*>(p)[4999] ^= 1;
  if (commit) return scute_obj_commit(p);
  scute_obj_discard(p);
  return SCUTE_OK;
}

int close(attempt& a) {
  return scute_close(std::exchange(a.pool, nullptr));
}

}  // namespace

const std::vector<operation>& operations() {
  static const std::vector<operation> all{
      {"create", image::none, false, [](attempt& a) { return a.create(0); }},
      {"create_preallocated", image::none, false,
       [](attempt& a) { return a.create(SCUTE_PREALLOCATE); }},
      {"create_over_a_pool", image::clean, false,
       [](attempt& a) { return a.create(SCUTE_OVERWRITE); }},
      {"open", image::clean, false, [](attempt& a) { return a.open(); }},
      {"open_after_crash", image::crashed, false, [](attempt& a) { return a.open(); }},
      {"open_damaged", image::damaged, false, [](attempt& a) { return a.open(); }},
      {"open_read_only", image::clean, false, [](attempt& a) { return a.open(SCUTE_READONLY); }},
      {"open_read_only_after_crash", image::crashed, false,
       [](attempt& a) { return a.open(SCUTE_READONLY); }},
      {"close", image::clean, true, close},
      {"close_with_open_transaction", image::clean, true,
       [](attempt& a) {
         scute_tx* tx = nullptr;
         if (const int e = scute_tx_begin(a.pool, &tx); e != SCUTE_OK) return e;
         if (const int e = write_in_place(tx, a.oid(large), 5000, 30000); e != SCUTE_OK) {
           scute_tx_abort(tx);
           return e;
         }
         return close(a);
       }},
      {"root", image::fresh, true,
       [](attempt& a) {
         scute_oid oid = 0;
         return scute_root(a.pool, containers_size, 1, &oid);
       }},
      {"alloc_small", image::clean, true,
       [](attempt& a) {
         return in_transaction(a.pool, [](scute_tx* tx) { return make(tx, 60); });
       }},
      {"first_call_of_a_thread", image::clean, true,
       [](attempt& a) {
         int e = SCUTE_OK;
         int left = 0;
         char reported[200] = "";
         const auto planned = faults::hand_over();
         std::thread([&] {
           const faults::taken_over here(planned);
           e = in_transaction(a.pool, [](scute_tx* tx) { return make(tx, 60); });
           left = errno;
           if (e != SCUTE_OK) std::strncpy(reported, scute_errormsg(), sizeof reported - 1);
         }).join();
         a.message = reported;
         errno = left;
         return e;
       }},
      {"alloc_large", image::clean, true,
       [](attempt& a) {
         return in_transaction(a.pool, [](scute_tx* tx) { return make(tx, 50000); });
       }},
      {"alloc_many", image::clean, true,
       [](attempt& a) {
         return in_transaction(a.pool, [](scute_tx* tx) {
           for (uint64_t n = 1; n < 900; n += 90)
             if (const int e = make(tx, n); e != SCUTE_OK) return e;
           return int{SCUTE_OK};
         });
       }},
      {"alloc_and_free", image::clean, true,
       [](attempt& a) {
         return in_transaction(a.pool, [&](scute_tx* tx) {
           scute_oid oid = 0;
           if (const int e = scute_tx_alloc(tx, 20000, 1, &oid, nullptr); e != SCUTE_OK) return e;
           return scute_tx_free(tx, oid);
         });
       }},
      {"overwrite", image::clean, true,
       [](attempt& a) {
         return in_transaction(a.pool,
                               [&](scute_tx* tx) { return write_whole(tx, a.oid(small), 5, 100); });
       }},
      {"overwrite_beyond_the_lane", image::clean, true,
       [](attempt& a) {
         return in_transaction(
             a.pool, [&](scute_tx* tx) { return write_whole(tx, a.oid(large), 5, 40000); });
       }},
      {"add_range", image::clean, true,
       [](attempt& a) {
         return in_transaction(a.pool, [&](scute_tx* tx) {
           void* p = nullptr;
           const int e = scute_tx_add_range(tx, a.oid(large), 20000, 100, &p);
           if (e == SCUTE_OK) std::memset(p, 6, 100);
           return e;
         });
       }},
      {"in_place", image::clean, true,
       [](attempt& a) {
         return in_transaction(
             a.pool, [&](scute_tx* tx) { return write_in_place(tx, a.oid(two_pages), 90, 300); });
       }},
      {"in_place_large", image::clean, true,
       [](attempt& a) {
         return in_transaction(
             a.pool, [&](scute_tx* tx) { return write_in_place(tx, a.oid(large), 5000, 30000); });
       }},
      {"in_place_many", image::clean, true,
       [](attempt& a) {
         return in_transaction(a.pool, [&](scute_tx* tx) {
           for (uint64_t at = 0; at < 20000; at += 1000)
             if (const int e = write_in_place(tx, a.oid(large), at, 300); e != SCUTE_OK) return e;
           return write_whole(tx, a.oid(small), 1, 100);
         });
       }},
      {"in_place_aborted", image::clean, true,
       [](attempt& a) {
         scute_tx* tx = nullptr;
         if (const int e = scute_tx_begin(a.pool, &tx); e != SCUTE_OK) return e;
         int e = write_in_place(tx, a.oid(two_pages), 90, 300);
         if (e == SCUTE_OK) e = write_in_place(tx, a.oid(large), 5000, 30000);
         const int aborted = scute_tx_abort(tx);
         return e != SCUTE_OK ? e : aborted;
       }},
      {"inner_abort", image::clean, true,
       [](attempt& a) {
         const int e = in_transaction(a.pool, [&](scute_tx* tx) {
           if (const int w = write_whole(tx, a.oid(small), 5, 100); w != SCUTE_OK) return w;
           if (const int m = make(tx, 3000); m != SCUTE_OK) return m;
           scute_tx* inner = nullptr;
           if (const int b = scute_tx_begin(a.pool, &inner); b != SCUTE_OK) return b;
           return scute_tx_abort(inner);
         });
         return e == SCUTE_E_ABORTED ? SCUTE_OK : e;
       }},
      {"free_small", image::clean, true,
       [](attempt& a) {
         return in_transaction(a.pool,
                               [&](scute_tx* tx) { return scute_tx_free(tx, a.oid(spare_small)); });
       }},
      {"free_large", image::clean, true,
       [](attempt& a) {
         return in_transaction(a.pool,
                               [&](scute_tx* tx) { return scute_tx_free(tx, a.oid(spare_large)); });
       }},
      {"many_objects_at_once", image::clean, true,
       [](attempt& a) {
         return in_transaction(a.pool, [&](scute_tx* tx) {
           for (const auto& [o, n] : {std::pair{tiny, 10u}, {small, 100u}, {two_pages, 5000u}})
             if (const int e = write_whole(tx, a.oid(o), 8, n); e != SCUTE_OK) return e;
           if (const int e = make(tx, 18000); e != SCUTE_OK) return e;
           if (const int e = write_in_place(tx, a.oid(large), 1, 5000); e != SCUTE_OK) return e;
           return scute_tx_free(tx, a.oid(spare_small));
         });
       }},
      {"hash_map", image::clean, true, [](attempt& a) { return change_hash_map(a.pool); }},
      {"ordered_map", image::clean, true, [](attempt& a) { return change_ordered_map(a.pool); }},
      {"vector", image::clean, true, [](attempt& a) { return change_vector(a.pool); }},
      {"queue", image::clean, true, [](attempt& a) { return change_queue(a.pool); }},
      {"string", image::clean, true, [](attempt& a) { return change_string(a.pool); }},
      {"containers_cleared", image::clean, true,
       [](attempt& a) { return clear_containers(a.pool); }},
      {"check", image::clean, true, [](attempt& a) { return check(a, false); }},
      {"check_and_repair_a_sound_pool", image::clean, true,
       [](attempt& a) { return check(a, true); }},
      {"check_and_repair", image::damaged, true, [](attempt& a) { return check(a, true); }},
      {"repair_by_reading", image::damaged, true,
       [](attempt& a) {
         const void* q = nullptr;
         return scute_get_verified(a.pool, a.oid(large), &q);
       }},
      {"repair_by_opening", image::damaged, true,
       [](attempt& a) {
         return in_transaction(a.pool,
                               [&](scute_tx* tx) { return write_whole(tx, a.oid(small), 5, 100); });
       }},
      {"obj_commit", image::clean, true, [](attempt& a) { return one_object(a, true); }},
      {"obj_discard", image::clean, true, [](attempt& a) { return one_object(a, false); }},
      {"inspect", image::clean, true, inspect},
      {"inspect_damaged", image::damaged, true, inspect},
  };
  return all;
}

}  // namespace scute::test
