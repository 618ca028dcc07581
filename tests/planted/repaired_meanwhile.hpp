// SPDX-License-Identifier: BSD-3-Clause
// Two threads and damage: one repairs what another one has just found damaged, or finds something
// half written, and takes it for damage. On the planted core, whose threads can be switched where
// they look without a lock (switch_point()).
#pragma once

#include <gtest/gtest.h>

#include <optional>

#include "base/locks/waiting.hpp"
#include "core/repair/repair.hpp"
#include "core/scrub/suspect_repair.hpp"
#include "core/shared/pool/library_call.hpp"
#include "support/damage.hpp"
#include "support/wait.hpp"

namespace scute::test {
using namespace core;

inline constexpr size_t small = 500, several = 9000;

struct engine_and_size {
  scute_engine engine;
  size_t size;
};

class repaired_meanwhile : public ::testing::TestWithParam<engine_and_size> {
 protected:
  void SetUp() override {
    scute_options o = options(4 * mib);
    o.engine = GetParam().engine;
    o.protection = SCUTE_PROTECT_MLPC;
    o.rows = 4;
    f.create(o);
    s = &f.in().s;
    f.in().idle.stop();
    hold(GetParam().size);
  }
  void hold(size_t n) {
    size = n;
    oid = f.alloc(pattern(1, n));
    f.in().drain();
    object = f.in().heap->zones().locate(f.offset_of(oid));
  }
  void TearDown() override {
    this_thread_waits = {};
    repairer.reset();
  }

  void flip(uint64_t at, int bits = 0x5a) { f.raw(at)[0] ^= static_cast<std::byte>(bits); }
  // At the nth look from now on another thread repairs the object. It may have to wait for this
  // one.
  void repair_at(unsigned nth) {
    looks_left = nth;
    this_thread_waits.arg = this;
    this_thread_waits.pass = [](void* arg) {
      auto& t = *static_cast<repaired_meanwhile*>(arg);
      if (--t.looks_left != 0) return;
      this_thread_waits = {};
      t.repairer.emplace([&t] { t.repair(); });
      t.repairer->ends_or_waits();
    };
  }
  // A commit may have written over damage, which is in the parity then.
  void expect_repairable() {
    EXPECT_EQ(f.check(true).lost, 0u);
    f.expect_sound();
  }
  void repair() {
    const pool::library_call within;
    for (uint64_t i = 0; i * format::fragment_payload < size; ++i)
      repair::repair_fragment(*s, nullptr, object.fragment(i), "object");
  }
  // Tries each of these places of the object as the damaged one, and each look as the moment when
  // the other thread repairs. change(tx, nth, content, strike) opens and edits, and calls strike at
  // the right moment.
  template <typename Change>
  void commit_beside_a_repairer(std::initializer_list<uint64_t> places, Change&& change) {
    bytes content = pattern(1, GetParam().size);
    unsigned interleavings = 0;
    for (const uint64_t place : places)
      for (unsigned nth = 1;; ++nth) {
        ASSERT_LT(nth, 100u);
        transaction tx(f);
        change(tx, nth, content, [&] {
          flip(place);
          repair_at(nth);
        });
        if (::testing::Test::HasFatalFailure()) return;
        ASSERT_EQ(SCUTE_OK, tx.commit()) << place << ", " << nth << ": " << scute_errormsg();
        const bool over = this_thread_waits.pass != nullptr;
        this_thread_waits = {};
        repairer.reset();
        ASSERT_TRUE(f.read(oid) == content) << place << ", " << nth << ": " << scute_errormsg();
        expect_repairable();
        if (over) break;
        ++interleavings;
      }
    EXPECT_GT(interleavings, 0u);
    f.reopen();
    EXPECT_TRUE(f.read(oid) == content);
    f.expect_sound();
  }
  // Each field of the header, by `damage` before the free; `freed` comes after it, and then
  // another thread repairs. Alone, and with another object.
  template <typename Damage, typename Freed>
  void free_of_damage(Damage&& damage, Freed&& freed) {
    for (const uint64_t field :
         {offsetof(format::fragment_header, tag), offsetof(format::fragment_header, type),
          offsetof(format::fragment_header, checksum)})
      for (const bool alone : {false, true}) {
        oid = f.alloc(pattern(3, GetParam().size));
        object = f.in().heap->zones().locate(f.offset_of(oid));
        const scute_oid other = f.alloc(pattern(4, 100));
        f.in().drain();
        transaction tx(f);
        if (!alone) {
          void* p = nullptr;
          SCUTE_OKAY(scute_tx_open(tx, other, &p));
          std::memset(p, 7, 100);
        }
        damage(object.header + field);
        SCUTE_OKAY(scute_tx_free(tx, oid));
        freed(object.header + field);
        repair();
        SCUTE_OKAY(tx.commit());
        const void* at = nullptr;
        SCUTE_FAILS(SCUTE_E_FREED, scute_get_verified(f.pool, oid, &at));
      }
    expect_repairable();
  }
  // An object of two fragments in a slot for three: the last one.
  scrub::fragment_ref beyond_the_object() {
    hold(8150);
    const pool::fragment third = object.fragment(2);
    scrub::fragment_ref g;
    scrub::for_each_fragment_ref(*s, f.in().heap->zones().get(zone()), zone(),
                                 third.payload / 4096 * 4096 - s->geo.zone_offset(zone()),
                                 scrub::that::touches, [&](const scrub::fragment_ref& x) {
                                   if (x.f.header == third.header) g = x;
                                 });
    EXPECT_EQ(g.f.index, 2u) << "all of the slot is used";
    return g;
  }
  uint64_t zone() const { return pool::cell_of(s->geo, object.payload).zone; }
  uint64_t tag() const { return object.header + offsetof(format::fragment_header, tag); }
  uint64_t checksum() const { return object.header + offsetof(format::fragment_header, checksum); }
  uint64_t payload(uint64_t at) const { return object.payload + at; }

  known_pool f;
  pool::state* s = nullptr;
  scute_oid oid = 0;
  size_t size = 0;
  heap::object object;
  unsigned looks_left = 0;
  std::optional<waiting_thread> repairer;
};

}  // namespace scute::test
